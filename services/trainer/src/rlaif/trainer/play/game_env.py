"""One emulator played in episodes; shared by the Gymnasium environment and the vector."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rlaif.contracts.game.observation import slot_index
from rlaif.game.captures.capture import PackedKeyframe, pack_keyframe, unpack_keyframe
from rlaif.game.encoder.numba_look import Encoder, EncoderCache
from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator, new_emulator
from rlaif.game.memory.blocks import LiveRam, RamBlocks, read_blocks
from rlaif.game.memory.memory_map import address
from rlaif.game.starts.waiting import plays_alone, wait_for_player
from rlaif.trainer.play.facts import read_facts
from rlaif.trainer.play.start import Start, StartSource, start_set
from rlaif.trainer.rewards.game.facts import GameFacts
from rlaif.trainer.rewards.game.ledger import NOTHING, EpisodeRewards, total
from rlaif.trainer.rewards.game.presets import preset
from rlaif.trainer.rewards.game.terms import VisitCounts
from rlaif.trainer.settings.game import STEP_FRAMES, GameSettings, steps_lasting

Fault = Literal["screen_off", "frozen"]
Ended = Literal["running", "terminated", "truncated"]

SCREEN_OFF_FRAMES = 300
"""5 s; a game switches its screen off for a few frames while it loads a room."""

FROZEN_FRAMES = 600
"""10 s without a change of work RAM, in which a running game counts its frames."""

_NOOPS_FROM_PLAY = 2
"""Maximum number of no-op steps before an episode from a state reached by play."""


Row = npt.NDArray[np.float32]
"""One observation, `[128] float32`."""

CHECK_STEPS = 16
"""Steps between two checks of the stall detector; it checks each step while it suspects a stall."""

_ANY_MOVE, _SQUARE = 0xFF, 0xF0
"""Bits of x and y that change by a move of pixels, or by a move to another square."""

_DIRECTIONS = (Action.UP, Action.DOWN, Action.LEFT, Action.RIGHT)
_HAS_CONTROL, _DYING = slot_index("has_control"), slot_index("dying")
_FINISHED = address("wFileIsCompleted")


class StepOutcome(NamedTuple):
    """Result of one base step.

    Attributes:
        parts: `[P] float32` in the order of `rewards.game.PARTS`; `reward` is their sum.
        terminated: The player died (if that ends episodes), finished the game, or missed a deadline
            (`cut_after` with `lost`).
        truncated: The episode reached its limit, or the game is stalled.
        wait: Game frames played after the step because the player had no control.
        fault: Why the stall detector truncated the episode.
        lost: It was terminated by a missed deadline alone.
    """

    reward: float
    parts: npt.NDArray[np.float32]
    terminated: bool
    truncated: bool
    wait: int = 0
    fault: Fault | None = None
    lost: bool = False

    @property
    def is_last(self) -> bool:
        return self.terminated or self.truncated

    @property
    def ended(self) -> Ended:
        if self.terminated:
            return "terminated"
        return "truncated" if self.truncated else "running"


UNEVENTFUL = StepOutcome(total(NOTHING), NOTHING, terminated=False, truncated=False)
"""The outcome object shared by all steps in which nothing happened."""


class Scene(NamedTuple):
    """A scene (`Encoder.scene`); another object with each new one.

    While it is the same object, room, possessions and kind of state are unchanged.

    Attributes:
        before: Facts of the step before the one that led to it.
    """

    ram: RamBlocks
    before: GameFacts


class StallDetector:
    """Checks one emulator, after each step while it suspects a stall, else periodically."""

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self._off = self._same = 0

    @property
    def suspects(self) -> bool:
        return bool(self._off or self._same)

    def state_dict(self) -> dict[str, Any]:
        return {"off": self._off, "same": self._same}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._off, self._same = state["off"], state["same"]

    def check(self, still: bool, frames: int) -> Fault | None:
        """The fault after a step, or None; `still`: no byte of work RAM changed."""
        self._off = 0 if self._emulator.screen_is_on else self._off + frames
        self._same = self._same + frames if still else 0
        if self._off >= SCREEN_OFF_FRAMES:
            return "screen_off"
        return "frozen" if self._same >= FROZEN_FRAMES else None


class _View:
    """Reads observations and scenes of one emulator.

    Attributes:
        live: The RAM.
        ram: A copy of it at the last read; None before the first.
        is_alone: Whether the game runs without the player: buttons have no effect.
        moves: Bits of the position whose changes are events.
    """

    def __init__(self, emulator: Emulator, cache: EncoderCache | None, moves: int) -> None:
        self.encoder = Encoder(cache)
        self._emulator, self.moves = emulator, moves
        self.live = LiveRam(emulator)
        self.ram: RamBlocks | None = None
        self.is_alone = False

    def look(self, out: Row) -> RamBlocks | None:
        live, encoder = self.live, self.encoder
        encoder.encode_into(live.wram, live.dungeon_layout, out)
        scene = self.ram = encoder.scene
        if scene is not None:
            self.is_alone = not out[_HAS_CONTROL] and plays_alone(scene)
        return scene

    def wait(
        self, out: Row, scene: RamBlocks | None, limit: int, *, render: bool
    ) -> tuple[int, RamBlocks | None, bool]:
        """Play at most `limit` frames while the game plays alone.

        Returns their number, the RAM of the last new scene, and whether no byte changed in them.
        """
        wait, still = 0, self.encoder.still
        while self.is_alone and wait < limit:
            self._emulator.tick(1, render=render)
            wait += 1
            scene = self.look(out) or scene
            still = still and self.encoder.still
        return wait, scene, still


class _Limits:
    """Conditions for the end of an episode.

    Attributes:
        next_check: Step that is checked even if it is uneventful.
        is_finished: The game has been completed.
    """

    def __init__(self, settings: GameSettings, emulator: Emulator) -> None:
        self.settings = settings
        self._max_frames = STEP_FRAMES * settings.episode_length
        self._emulator = emulator
        self.begin(is_finished=False)

    def begin(self, *, is_finished: bool) -> None:
        self._stalls = StallDetector(self._emulator)
        self._cut_at: int | None = None
        self._cut_is_lost = False
        self.is_finished = is_finished
        self.next_check = 0

    def cut_after(self, frames: int, *, lost: bool) -> None:
        self._cut_at, self._cut_is_lost = frames, lost
        self.next_check = 0

    def frames_left(self, frames: int) -> int | None:
        """Game frames until the deadline of an episode of length `frames`; None without one."""
        if self._cut_at is None or not self._cut_is_lost:
            return None
        return max(0, self._cut_at - frames)

    def check(
        self, step: int, frames: int, played: int, *, still: bool, dies: bool, finishes: bool
    ) -> tuple[bool, bool, bool, Fault | None]:
        """Whether step number `step` terminates, loses or truncates the episode, and the fault.

        `frames` is the length of the episode, `played` that of the step.
        """
        fault = self._stalls.check(still, played)
        cut = self._cut_at
        end = self._max_frames if cut is None else min(self._max_frames, cut)
        left = -(-(end - frames) // self.settings.frame_skip)
        # Uneventful steps are checked periodically, as is the last one.
        self.next_check = step + min(1 if self._stalls.suspects else CHECK_STEPS, left)
        ends = (dies and self.settings.ends_at_death) or finishes
        is_lost = not ends and self.frames_left(frames) == 0
        truncated = not (ends or is_lost) and (left <= 0 or fault is not None)
        return ends or is_lost, is_lost, truncated, fault

    def state_dict(self) -> dict[str, Any]:
        return {
            "watchdog": self._stalls.state_dict(),
            "next_check": self.next_check,
            "cut_at": self._cut_at,
            "cut_is_lost": self._cut_is_lost,
            "finished": self.is_finished,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._stalls.load_state_dict(state["watchdog"])
        self.next_check = state["next_check"]
        self._cut_at, self.is_finished = state.get("cut_at"), state.get("finished", False)
        self._cut_is_lost = state.get("cut_is_lost", False)


@dataclass
class EpisodeSource:
    """Draws the starts of episodes.

    Attributes:
        rng: Draws each episode's start and warm-up.
    """

    starts: StartSource
    rng: np.random.Generator


class GameEnv:
    """Plays episodes that start at save states and differ by what is played before their steps.

    Attributes:
        source: Source of starts.
        start: Start of this episode, with its warm-up.
        square_facts: `facts`, but without moves inside a square: the same object until a change
            that is relevant to observers of places and progress.
        steps: Base steps of this episode.
        frames: Game frames of this episode, warm-up not included.
        scene: The newest scene.
    """

    start: Start
    square_facts: GameFacts
    scene: Scene

    def __init__(
        self,
        settings: GameSettings,
        rng: np.random.Generator,
        *,
        starts: StartSource | None = None,
        cache: EncoderCache | None = None,
        rom_path: Path | None = None,
    ) -> None:
        """Start an emulator; `rng` draws each episode's start and warm-up.

        Of several worlds, that of `rom_path` is played, else that of `settings`.

        Without `starts`, episodes start at the save states of `settings`, or at power-on. Several
        environments may share a `cache`.
        """
        self.settings = settings
        self.cartridge = load_cartridge(rom_path or settings.rom_path)
        self.emulator = new_emulator(self.cartridge)
        starts = starts or start_set(self.emulator, self.cartridge, settings.initial_states)
        self.source = EpisodeSource(starts, rng)
        self._rewards = EpisodeRewards(
            preset(settings.reward_preset), frame_skip=settings.frame_skip
        )
        moves = _ANY_MOVE if self._rewards.asks_each_move else _SQUARE
        self._view = _View(self.emulator, cache, moves)
        self._limits = _Limits(settings, self.emulator)
        self.steps = self.frames = 0

    @property
    def ram(self) -> RamBlocks:
        """The RAM after the last step, one copy for all readers."""
        view = self._view
        if view.ram is None:
            view.ram = view.live.copy()
        return view.ram

    @property
    def facts(self) -> GameFacts:
        """Facts after the last step, on which the rewards depend."""
        return self._facts_at(self._view.encoder.x, self._view.encoder.y)

    def _facts_at(self, x: int, y: int) -> GameFacts:
        # The facts are of the scene except for the position; a test checks that.
        facts = self.square_facts
        return facts if x == facts.x and y == facts.y else facts.moved_to(x, y)

    def count_visits(self, visits: VisitCounts) -> None:
        self._rewards.count_visits(visits)

    def reset(self, out: Row) -> None:
        """Start an episode; writes the first observation into `out`, `[128] float32`.

        Before it, 0 to `noop_start` steps without a button and 0 to `walk_start` steps into random
        directions are played, so that episodes start in reachable states that differ by seed. They
        are omitted if they kill the player, and limited to 2 steps without a button for a start
        that was reached by play. A start may have its own warm-up.
        """
        self.start = self.source.starts.choose(self.source.rng)
        walk = self._drawn_walk()
        self._warm_up(walk)
        scene = self._view.look(out)
        if out[_DYING] and walk:
            self._warm_up([])
            scene = self._view.look(out)
        self.steps = self.frames = 0
        ram = self.ram
        self.square_facts = facts = read_facts(ram)
        self.scene = Scene(scene or ram, facts)
        is_finished = facts.running and ram.u8(_FINISHED) != 0
        self._limits.begin(is_finished=is_finished or self.start.plays_on)
        self._rewards.begin(facts)

    def cut_after(self, frames: int, *, lost: bool = False) -> None:
        self._limits.cut_after(frames, lost=lost)

    @property
    def frames_left(self) -> int | None:
        """Game frames until a deadline terminates the episode; None without a deadline."""
        return self._limits.frames_left(self.frames)

    def step(self, action: int, out: Row, *, render: bool = False) -> StepOutcome:
        self.emulator.step(action, self.settings.frame_skip, render=render)
        return self.finish_step(action, out, render=render)

    def finish_step(self, action: int, out: Row, *, render: bool = False) -> StepOutcome:
        """The outcome of `action`, which the emulator just played; may play further frames.

        `EmulatorVector` plays all emulators before it finishes their steps, which keeps the code of
        each phase in the processor's cache.
        """
        view, facts = self._view, self.square_facts
        encoder = view.encoder
        x, y = encoder.x, encoder.y
        scene = view.look(out)
        self.steps += 1
        if (
            scene is None
            and not (encoder.x ^ facts.x | encoder.y ^ facts.y) & view.moves
            and self.steps < self._limits.next_check
            and not (view.is_alone or encoder.still or self._rewards.asks_each_step)
        ):
            self.frames += self.settings.frame_skip
            return UNEVENTFUL
        return self._finish_eventful_step(action, out, scene, self._facts_at(x, y), render=render)

    def _finish_eventful_step(
        self, action: int, out: Row, scene: RamBlocks | None, before: GameFacts, *, render: bool
    ) -> StepOutcome:
        view = self._view
        wait, still = 0, view.encoder.still
        if view.is_alone:
            limit = self.settings.longest_wait_frames
            wait, scene, still = view.wait(out, scene, limit, render=render)
        frames = self.settings.frame_skip + wait
        self.frames += frames
        finishes = self._update_facts(scene, before, waited=wait > 0)
        facts = self.square_facts
        parts = self._rewards.step(facts, action)
        terminated, lost, truncated, fault = self._limits.check(
            self.steps, self.frames, frames, still=still, dies=facts.dead, finishes=finishes
        )
        if parts is NOTHING and not (wait or terminated or truncated):
            return UNEVENTFUL
        return StepOutcome(total(parts), parts, terminated, truncated, wait, fault, lost)

    def _update_facts(self, scene: RamBlocks | None, before: GameFacts, *, waited: bool) -> bool:
        """Read the facts; returns whether the game was completed just now."""
        if scene is None:
            self.square_facts = self.facts
            return False
        self.scene = Scene(scene, before)
        ram = self.ram  # frames that were waited may have changed more than the last scene shows
        same_progress = not waited and not self._view.encoder.progressed
        facts = self.square_facts = read_facts(ram, before, same_progress=same_progress)
        if self._limits.is_finished or not facts.running or ram.u8(_FINISHED) == 0:
            return False
        self._limits.is_finished = True
        return True

    def state_dict(self) -> dict[str, Any]:
        """The full state of the episode, as plain values; about 1 ms."""
        packed, sha256 = pack_keyframe(self.emulator.save_state())
        return self._limits.state_dict() | {
            "rng": self.source.rng.bit_generator.state,
            "state": packed,
            "state_sha256": sha256,
            "start": (self.start.keyframe.data, self.start.keyframe.sha256),
            "provenance": self.start.provenance,
            "from_play": self.start.from_play,
            "warm_up": self.start.warm_up,
            "steps": self.steps,
            "frames": self.frames,
            "facts": self.facts.plain(),
            "rewards": self._rewards.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any], out: Row) -> PackedKeyframe:
        """Resume in the middle of the episode of `state`; returns its save state.

        Writes the observation into `out`.

        Raises:
            KeyframeError: The save state is damaged.
            SaveStateError: The emulator cannot load it.
        """
        keyframe = PackedKeyframe(state["state"], state["state_sha256"])
        self.emulator.load_state(unpack_keyframe(keyframe.data, keyframe.sha256))
        self.source.rng.bit_generator.state = state["rng"]
        start = PackedKeyframe(*state["start"])
        start_state = unpack_keyframe(start.data, start.sha256)
        self.start = Start(
            start_state,
            state["provenance"],
            start,
            state.get("from_play", False),
            warm_up=state["warm_up"],
        )
        self.steps, self.frames = state["steps"], state["frames"]
        self.square_facts = facts = GameFacts.of(state["facts"])
        self.scene = Scene(self._view.look(out) or self.ram, facts)
        self._rewards.load_state_dict(state["rewards"], facts.progress)
        self._limits.load_state_dict(state)
        return keyframe

    @property
    def rooms_visited(self) -> int:
        return self._rewards.rooms_visited

    def close(self) -> None:
        self.emulator.close()

    def _drawn_walk(self) -> list[int]:
        settings, skip, rng = self.settings, self.settings.frame_skip, self.source.rng
        if self.start.buttons is not None:
            return list(self.start.buttons)
        if self.start.from_play:
            noops = steps_lasting(_NOOPS_FROM_PLAY, skip)
            return [int(Action.NOP)] * int(rng.integers(0, noops + 1))
        still = int(rng.integers(0, steps_lasting(settings.noop_start, skip) + 1))
        moves = int(rng.integers(0, steps_lasting(settings.walk_start, skip) + 1))
        drawn = rng.integers(0, len(_DIRECTIONS), size=moves).tolist()
        return [int(Action.NOP)] * still + [int(_DIRECTIONS[number]) for number in drawn]

    def _warm_up(self, walk: list[int]) -> None:
        self.emulator.load_state(self.start.state)
        played = []
        for action in walk:
            self.emulator.step(action, self.settings.frame_skip)
            ram, limit = read_blocks(self.emulator), self.settings.longest_wait_frames
            played.append((action, wait_for_player(self.emulator, ram, limit)))
        self.start = replace(self.start, warm_up=tuple(played))
