"""Plays decisions in one emulator and notes what was pressed: decisions in, a record out."""

from rlaif.game.decisions.catalog import INTERACT
from rlaif.game.decisions.mask import allowed
from rlaif.game.decisions.playing import DecisionLimits, carry_out
from rlaif.game.machine.actions import Action, decode_actions
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.memory.predicates import is_dying, is_text_choice
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.motion.room_watcher import RoomWatcher, listens, place_of

FRAMES = 4
"""Of a base step: every button of a lineage is held so long."""

_MOST_WAITS = 4
"""Decisions until the player obeys again; one lasts until he does, or for sixteen seconds."""


class Session:
    """One game and what was done in it since the last `mark`.

    Attributes:
        ram: The RAM after the last base step.
        frames: Frames played in all.
        played: Decisions played in all.
        deaths: Times the player died.
    """

    def __init__(self, emulator: Emulator, graph: RoomGraph) -> None:
        self._emulator, self.graph = emulator, graph
        self._limits = DecisionLimits()
        self._watcher, self._crosses = RoomWatcher(), True
        self.frames = self.deaths = self.played = 0
        self._was_dying = False
        self.mark()
        self.ram = read_blocks(emulator)
        self._place = place_of(self.ram)

    @property
    def decisions(self) -> tuple[tuple[int, int], ...]:
        """(index, base steps) since the last mark; the steps add up to the actions."""
        return tuple(self._decisions)

    @property
    def actions(self) -> str:
        """One digit a base step since the last mark."""
        return "".join(self._actions)

    def load(self, state: bytes) -> None:
        """Go to a state."""
        self._emulator.load_state(state)
        self._watcher.forget()
        self.mark()
        self.ram = read_blocks(self._emulator)
        self._place, self._crosses = place_of(self.ram), True

    def press(self, actions: str) -> None:
        """Play recorded buttons, one a base step."""
        for action in decode_actions(actions):
            self._step(action)

    def save(self) -> bytes:
        """The state; about 31 ms, as long as 950 frames take."""
        return self._emulator.save_state()

    def digest(self) -> str:
        """Of the RAM; about 0.1 ms."""
        return self._emulator.ram_digest()

    def mark(self) -> None:
        """Begin a new record here."""
        self._decisions: list[tuple[int, int]] = []
        self._actions: list[str] = []

    def play(self, decision: int) -> bool:
        """Play a decision to its end; False when it may not be made now, as a policy may not."""
        if not allowed(self.ram, "macros")[decision]:
            return False
        option = carry_out(decision, self.ram, graph=self.graph, limits=self._limits)
        steps = 0
        while not (choice := option.next(self.ram)).over:
            self._step(choice.action)
            steps += 1
        self._decisions.append((decision, steps))
        self.played += 1
        return True

    def settle(self) -> bool:
        """Wait until the player obeys or is asked something; False when that takes too long.

        Texts are read and deaths gone on from by the decision that does so, so a policy can do the
        same.
        """
        for _ in range(_MOST_WAITS):
            dying = is_dying(self.ram)
            self.deaths += dying and not self._was_dying
            self._was_dying = dying
            if listens(self.ram) or is_text_choice(self.ram):
                return True
            self.play(INTERACT)
        return False

    def _step(self, action: Action) -> None:
        self._emulator.step(action, FRAMES)
        self._actions.append(str(int(action)))
        self.frames += FRAMES
        before, self.ram = self.ram, read_blocks(self._emulator)
        place = place_of(self.ram)
        if place != self._place:
            if not self._crosses:
                self._watcher.see(before)
            self._place, self._crosses = place, True
        if self._crosses:
            self._watch()

    def _watch(self) -> None:
        """Learn which room leads to which, from the steps between two of them alone."""
        crossing = self._watcher.see(self.ram)
        if crossing is not None:
            self.graph.add_crossing(crossing)
        self._crosses = not listens(self.ram)
