"""One emulator played in episodes: the part that the Gymnasium and the vector form share."""

from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from rlaif.contracts.game.observation import slot_index
from rlaif.game.captures.capture import PackedKeyframe, pack_keyframe, unpack_keyframe
from rlaif.game.encoder.numba_look import Encoder, EncoderCache
from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator, PyBoyEmulator
from rlaif.game.memory.blocks import LiveRam, RamBlocks, read_blocks
from rlaif.game.memory.memory_map import address
from rlaif.trainer.play.facts import read_facts
from rlaif.trainer.play.start import Start, StartSource, plays_alone, start_set, wait_for_player
from rlaif.trainer.rewards.game.facts import GameFacts
from rlaif.trainer.rewards.game.ledger import EpisodeRewards, total
from rlaif.trainer.rewards.game.presets import preset
from rlaif.trainer.rewards.game.terms import VisitCounts
from rlaif.trainer.settings.game import STEP_FRAMES, GameSettings, steps_lasting

Fault = Literal["screen_off", "frozen"]

SCREEN_OFF_FRAMES = 300
"""5 s. A game switches its screen off for a few frames while it loads a room."""

FROZEN_FRAMES = 600
"""10 s without one changed byte of work RAM; a game that runs counts its frames there."""

_NOOPS_FROM_ARCHIVE = 2
"""Maximum of no-op steps before an episode from an archived state."""


class StallDetector:
    """Looks at one emulator: after each decision step while it suspects, else now and then."""

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self._off = self._same = 0

    def begin(self) -> None:
        self._off = self._same = 0

    @property
    def suspects(self) -> bool:
        return bool(self._off or self._same)

    def state_dict(self) -> dict[str, Any]:
        return {"off": self._off, "same": self._same}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._off, self._same = state["off"], state["same"]

    def check(self, still: bool, frames: int) -> Fault | None:
        """What is wrong after a step, if anything; `still`: no byte of work RAM changed."""
        self._off = 0 if self._emulator.screen_is_on else self._off + frames
        self._same = self._same + frames if still else 0
        if self._off >= SCREEN_OFF_FRAMES:
            return "screen_off"
        return "frozen" if self._same >= FROZEN_FRAMES else None


Row = npt.NDArray[np.float32]
"""One observation, `[128] float32`."""

CHECK_STEPS = 16
"""Steps between two checks of the stall detector; while it suspects, it checks each step."""

_DIRECTIONS = (Action.UP, Action.DOWN, Action.LEFT, Action.RIGHT)
_HAS_CONTROL, _DYING = slot_index("has_control"), slot_index("dying")
_FINISHED = address("wFileIsCompleted")


class StepOutcome(NamedTuple):
    """What one decision step gave.

    Attributes:
        parts: `[P] float32` in the order of `rewards.game.PARTS`; `reward` is their sum.
        terminated: The player died where that ends episodes, has finished the game, or was to be
            somewhere by now and is not (`cut_after` with `lost`): nothing comes after it.
        truncated: The episode reached its limit, or the game is stalled.
        wait: Game frames played after the step because the player had no control.
        fault: Why the stall detector cut the episode.
    """

    reward: float
    parts: npt.NDArray[np.float32]
    terminated: bool
    truncated: bool
    wait: int = 0
    fault: Fault | None = None


class GameEnv:
    """Plays episodes that start at save states and differ by what is played before their steps.

    Attributes:
        warm_up: (action, frames waited) of the steps played before the episode's first one.
        facts: What the rewards saw after the last step.
        uneventful: The outcome of every step in which nothing happened: this object.
        steps: Decision steps of this episode.
        frames: Game frames of this episode, warm-up not included.
        scene: The RAM of the newest scene (`Encoder.scene`), another object with each one: while it
            is the same, so are the room, what is owned and what kind of moment it is.
        facts_before: Those of the step before the one that brought this scene.
    """

    def __init__(
        self,
        settings: GameSettings,
        rng: np.random.Generator,
        *,
        starts: StartSource | None = None,
        cache: EncoderCache | None = None,
    ) -> None:
        """Start an emulator; `rng` draws each episode's start and warm-up.

        Without `starts`, episodes start at the save states of `settings`, or at power-on. Several
        environments may share a `cache`.
        """
        self._settings = settings
        self._frame_skip = settings.frame_skip
        self._ends_at_death = settings.ends_at_death
        self._max_frames = STEP_FRAMES * settings.episode_length
        self._cut_at: int | None = None
        self._cut_is_lost = False
        self._finished = False
        self._rng = rng
        self.cartridge = load_cartridge(settings.rom_path)
        self.emulator = PyBoyEmulator(
            self.cartridge.data, sound_emulated=self.cartridge.needs_sound
        )
        self.starts = starts or start_set(self.emulator, self.cartridge, settings.initial_states)
        self._rewards = EpisodeRewards(
            preset(settings.reward_preset), frame_skip=settings.frame_skip
        )
        self._encoder = Encoder(cache)
        self._ram = LiveRam(self.emulator)
        self._stalls = StallDetector(self.emulator)
        self._alone = False
        self._asks_each_step = self._rewards.asks_each_step
        nothing = self._rewards.nothing
        self.uneventful = StepOutcome(total(nothing), nothing, terminated=False, truncated=False)
        self._next_check = 0
        self.warm_up: tuple[tuple[int, int], ...] = ()
        self.steps = self.frames = 0
        self.scene: RamBlocks | None = None
        self.start: Start
        self.facts: GameFacts
        self.facts_before: GameFacts

    def use(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def count_visits(self, visits: VisitCounts) -> None:
        """Ask `visits` from now on how well known places are, for the novelty reward."""
        self._rewards.count_visits(visits)

    def reset(self, out: Row) -> None:
        """Start an episode; writes the first observation into `out`, `[128] float32`.

        Before it, 0 to `noop_start` steps without a button and 0 to `walk_start` steps into random
        directions are played: the episode starts in a state that play reaches, and another seed
        starts another game. A start at which that kills the player is used without them, and one
        from the archive with up to 2 steps without a button.
        """
        self.start = self.starts.choose(self._rng)
        self._cut_at, self._cut_is_lost = None, False
        walk = self._drawn_walk()
        self._warm_up(walk)
        self._look(out)
        if out[_DYING] and walk:
            self._warm_up([])
            self._look(out)
        self.steps = self.frames = 0
        self._stalls.begin()
        self._next_check = 0
        ram = read_blocks(self.emulator)
        self.facts = self.facts_before = read_facts(ram)
        self._finished = self.facts.running and ram.u8(_FINISHED) != 0
        self._rewards.begin(self.facts)

    def cut_after(self, frames: int, *, lost: bool = False) -> None:
        """End this episode at the first step that ends at or after so many of its frames.

        It is truncated there, or terminated if it is `lost` then.
        """
        self._cut_at, self._cut_is_lost = frames, lost
        self._next_check = 0

    def step(self, action: int, out: Row, *, render: bool = False) -> StepOutcome:
        self.emulator.step(action, self._frame_skip, render=render)
        return self.finish_step(action, out, render=render)

    def finish_step(self, action: int, out: Row, *, render: bool = False) -> StepOutcome:
        """What `action` gave, which the emulator has just played; may play frames on.

        `EmulatorVector` plays all emulators first and finishes their steps after that, which keeps
        the code of either in the processor's cache.
        """
        encoder, facts = self._encoder, self.facts
        scene = self._look(out)
        self.steps += 1
        if (
            scene is None
            and encoder.x == facts.x
            and encoder.y == facts.y
            and self.steps < self._next_check
            and not (self._alone or encoder.still or self._asks_each_step)
        ):
            self.frames += self._frame_skip
            return self.uneventful
        return self._finish_eventful_step(action, out, scene, render=render)

    def _finish_eventful_step(
        self, action: int, out: Row, scene: RamBlocks | None, *, render: bool
    ) -> StepOutcome:
        wait, still = 0, self._encoder.still
        if self._alone:
            wait, scene, still = self._wait(out, scene, render=render)
        frames = self._frame_skip + wait
        self.frames += frames
        has_finished = self._update_facts(scene, waited=wait > 0)
        parts = self._rewards.step(self.facts, action)
        fault = self._stalls.check(still, frames)
        left = self._steps_left()
        # An uneventful step is looked at all the same now and then, and the last one.
        self._next_check = self.steps + min(1 if self._stalls.suspects else CHECK_STEPS, left)
        is_lost = self._cut_is_lost and self._cut_at is not None and self.frames >= self._cut_at
        terminated = (self.facts.dead and self._ends_at_death) or has_finished or is_lost
        truncated = not terminated and (left <= 0 or fault is not None)
        if parts is self._rewards.nothing and not (wait or terminated or truncated):
            return self.uneventful
        return StepOutcome(total(parts), parts, terminated, truncated, wait, fault)

    def _wait(
        self, out: Row, scene: RamBlocks | None, *, render: bool
    ) -> tuple[int, RamBlocks | None, bool]:
        """Play frames while the game plays alone.

        Gives how many, the RAM of the last new scene, whether no byte changed in all of them.
        """
        wait, still = 0, self._encoder.still
        while self._alone and wait < self._settings.longest_wait_frames:
            self.emulator.tick(1, render=render)
            wait += 1
            scene = self._look(out) or scene
            still = still and self._encoder.still
        return wait, scene, still

    def _update_facts(self, scene: RamBlocks | None, *, waited: bool) -> bool:
        encoder, finished_now = self._encoder, False
        if scene is not None:
            self.facts_before = self.facts
            # Frames that were waited may have changed more than the last scene shows.
            ram = read_blocks(self.emulator) if waited else scene
            same_progress = not waited and not encoder.progressed
            self.facts = read_facts(ram, self.facts, same_progress=same_progress)
            if not self._finished and self.facts.running:
                finished_now = self._finished = ram.u8(_FINISHED) != 0
        elif encoder.x != self.facts.x or encoder.y != self.facts.y:
            # The facts are of the scene but for the position; a test holds them to it.
            self.facts = self.facts.moved_to(encoder.x, encoder.y)
        return finished_now

    def _steps_left(self) -> int:
        end = self._max_frames if self._cut_at is None else min(self._max_frames, self._cut_at)
        return -(-(end - self.frames) // self._frame_skip)

    def state_dict(self) -> dict[str, Any]:
        """Everything that decides how the episode continues, as plain values; about 36 ms."""
        packed, sha256 = pack_keyframe(self.emulator.save_state())
        return {
            "rng": self._rng.bit_generator.state,
            "state": packed,
            "state_sha256": sha256,
            "start": (self.start.keyframe.data, self.start.keyframe.sha256),
            "provenance": self.start.provenance,
            "from_play": self.start.from_play,
            "warm_up": self.warm_up,
            "steps": self.steps,
            "frames": self.frames,
            "facts": self.facts.plain(),
            "rewards": self._rewards.state_dict(),
            "watchdog": self._stalls.state_dict(),
            "next_check": self._next_check,
            "cut_at": self._cut_at,
            "cut_is_lost": self._cut_is_lost,
            "finished": self._finished,
        }

    def load_state_dict(self, state: dict[str, Any], out: Row) -> PackedKeyframe:
        """Resume in the middle of the episode that `state_dict` gave; gives its save state.

        Writes the observation of that moment into `out`.

        Raises:
            KeyframeError: The save state is damaged.
            SaveStateError: The emulator cannot load it.
        """
        keyframe = PackedKeyframe(state["state"], state["state_sha256"])
        self.emulator.load_state(unpack_keyframe(keyframe.data, keyframe.sha256))
        self._rng.bit_generator.state = state["rng"]
        start = PackedKeyframe(*state["start"])
        start_state = unpack_keyframe(start.data, start.sha256)
        self.start = Start(start_state, state["provenance"], start, state.get("from_play", False))
        self.warm_up = state["warm_up"]
        self.steps, self.frames = state["steps"], state["frames"]
        self.facts = self.facts_before = GameFacts.of(state["facts"])
        self._rewards.load_state_dict(state["rewards"], self.facts.progress)
        self._stalls.load_state_dict(state["watchdog"])
        self._next_check = state["next_check"]
        self._cut_at, self._finished = state.get("cut_at"), state.get("finished", False)
        self._cut_is_lost = state.get("cut_is_lost", False)
        self._look(out)
        return keyframe

    @property
    def rooms_visited(self) -> int:
        return self._rewards.rooms_visited

    def close(self) -> None:
        self.emulator.close()

    def _look(self, out: Row) -> RamBlocks | None:
        """Write the observation of this moment into `out`; returns its RAM if the scene is new.

        Whether the game plays alone depends on the scene alone: a test holds it to that.
        """
        ram, encoder = self._ram, self._encoder
        encoder.encode_into(ram.wram, ram.dungeon_layout, out)
        if encoder.scene is not None:
            self.scene = encoder.scene
            self._alone = not out[_HAS_CONTROL] and plays_alone(encoder.scene)
        return encoder.scene

    def _drawn_walk(self) -> list[int]:
        settings, skip = self._settings, self._frame_skip
        if self.start.from_play:
            noops = steps_lasting(_NOOPS_FROM_ARCHIVE, skip)
            return [int(Action.NOP)] * int(self._rng.integers(0, noops + 1))
        still = int(self._rng.integers(0, steps_lasting(settings.noop_start, skip) + 1))
        moves = int(self._rng.integers(0, steps_lasting(settings.walk_start, skip) + 1))
        drawn = self._rng.integers(0, len(_DIRECTIONS), size=moves).tolist()
        return [int(Action.NOP)] * still + [int(_DIRECTIONS[number]) for number in drawn]

    def _warm_up(self, walk: list[int]) -> None:
        self.emulator.load_state(self.start.state)
        played = []
        for action in walk:
            self.emulator.step(action, self._frame_skip)
            ram, limit = read_blocks(self.emulator), self._settings.longest_wait_frames
            played.append((action, wait_for_player(self.emulator, ram, limit)))
        self.warm_up = tuple(played)
