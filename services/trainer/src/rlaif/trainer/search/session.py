"""Plays decisions in one emulator and records the buttons."""

from dataclasses import dataclass, field

from rlaif.game.decisions.catalog import INTERACT
from rlaif.game.decisions.mask import allowed
from rlaif.game.decisions.playing import DecisionLimits, carry_out
from rlaif.game.machine.actions import Action, decode_actions
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.predicates import has_control, is_dying, is_text_choice
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.motion.room_watcher import RoomWatcher, place_of
from rlaif.game.starts.waiting import MAX_RESPAWN_STEPS, wait_for_player

FRAMES = 4
"""Frames per emulator step, for which the buttons are held."""

MAX_WAIT_FRAMES = 240
"""While the game runs on its own after a step, this many frames are waited, as an environment does.
Waits are not recorded, because the same rule reproduces them."""

_MAX_WAITS = 4
"""Decisions until the player is expected to have control; one lasts at most 16 seconds."""


def play_step(emulator: Emulator, action: Action) -> tuple[RamBlocks, int]:
    """Play a step and the wait after it; return the RAM and the number of frames."""
    emulator.step(action, FRAMES)
    ram = read_blocks(emulator)
    waited = wait_for_player(emulator, ram, MAX_WAIT_FRAMES)
    return (read_blocks(emulator) if waited else ram), FRAMES + waited


@dataclass
class _Record:
    """What was played since the last `mark`."""

    decisions: list[tuple[int, int]] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)


class Session:
    """One game, and what was played in it since the last `mark`.

    Attributes:
        ram: The RAM after the last emulator step.
        frames: Total number of frames played.
        played: Total number of decisions played.
        deaths: Number of deaths of the player.
    """

    def __init__(self, emulator: Emulator, graph: RoomGraph) -> None:
        self._emulator, self.graph = emulator, graph
        self._limits = DecisionLimits()
        self._watcher, self._crosses = RoomWatcher(), True
        self.frames = self.deaths = self.played = 0
        self.mark()
        self.ram = read_blocks(emulator)
        self._place = place_of(self.ram)

    @property
    def decisions(self) -> tuple[tuple[int, int], ...]:
        """(index, emulator steps) since the last mark; the steps add up to the actions."""
        return tuple(self._record.decisions)

    @property
    def actions(self) -> str:
        """One digit per emulator step since the last mark."""
        return "".join(self._record.actions)

    def load(self, state: bytes) -> None:
        self._emulator.load_state(state)
        self._watcher.forget()
        self.mark()
        self.ram = read_blocks(self._emulator)
        self._place, self._crosses = place_of(self.ram), True

    def press(self, actions: str) -> None:
        """Play recorded buttons, one per emulator step."""
        for action in decode_actions(actions):
            self._step(action)

    def save(self) -> bytes:
        """Return the state; takes about 0.4 ms, and as much to compress."""
        return self._emulator.save_state()

    def digest(self) -> str:
        """Return the digest of the RAM; takes about 0.1 ms."""
        return self._emulator.ram_digest()

    def mark(self) -> None:
        """Start a new record here."""
        self._record = _Record()

    def play(self, decision: int) -> bool:
        """Play a decision to its end; return False if the action mask forbids it."""
        if not allowed(self.ram, "macros")[decision]:
            return False
        option = carry_out(decision, self.ram, graph=self.graph, limits=self._limits)
        before, was_dying = len(self._record.actions), is_dying(self.ram)
        while not (choice := option.next(self.ram)).over:
            self._step(choice.action)
        if is_dying(self.ram) and not was_dying:
            self.deaths += 1
            for _ in range(MAX_RESPAWN_STEPS):
                if is_dying(self.ram):
                    self._step(Action.NOP)
        self._record.decisions.append((decision, len(self._record.actions) - before))
        self.played += 1
        return True

    def settle(self) -> bool:
        """Wait until the player has control or is asked something; False if that takes too long.

        Texts are read by a decision of the action set, so that a policy can do the same.
        """
        for _ in range(_MAX_WAITS):
            if has_control(self.ram) or is_text_choice(self.ram):
                return True
            self.play(INTERACT)
        return False

    def _step(self, action: Action) -> None:
        before = self.ram
        self.ram, frames = play_step(self._emulator, action)
        self._record.actions.append(str(int(action)))
        self.frames += frames
        place = place_of(self.ram)
        if place != self._place:
            if not self._crosses:
                self._watcher.see(before)
            self._place, self._crosses = place, True
        if self._crosses:
            self._watch()

    def _watch(self) -> None:
        """Record room crossings; only the steps between two rooms need to be watched."""
        crossing = self._watcher.see(self.ram)
        if crossing is not None:
            self.graph.add_crossing(crossing)
        self._crosses = not has_control(self.ram)
