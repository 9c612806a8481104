"""Captures the selected segments of an episode; asks the emulator only at their borders."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from rlaif.contracts.game.captures import Amount, GameIdentity, RoomNumber, SegmentPay
from rlaif.game.captures.capture import PackedKeyframe, SegmentRecorder, pack_keyframe
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.stories.milestones import Story, milestones_reached
from rlaif.reward_net.pay import step_pay
from rlaif.trainer.play.capturing.selection import FirstSightings, Reason, SegmentSelector
from rlaif.trainer.play.config import PayingModel
from rlaif.trainer.rewards.game.facts import GameFacts
from rlaif.trainer.rewards.game.presets import PARTS
from rlaif.trainer.rewards.learned.shaping import discount_of
from rlaif.trainer.run_folder.spool import SpooledCapture
from rlaif.trainer.settings.game import STEP_FRAMES

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]

_DECIMALS = 6
"""Of potentials and what comes of them; a network's answers differ more between processors."""


class SegmentLog:
    """Follows one segment after the other, step by step; 0.3 µs a step."""

    def __init__(self, steps: int) -> None:
        self.max_steps = steps
        self._rows: Float32 = np.empty((steps + 1, 0), dtype=np.float32)
        self._clear()

    def _clear(self) -> None:
        self._steps = 0
        self._game: list[Amount] = []
        self._parts: dict[str, list[Amount]] = {}
        self._frames: list[int] = []
        self._dead: list[bool] = []
        self._rooms: dict[RoomNumber, None] = {}

    @property
    def rooms(self) -> tuple[RoomNumber, ...]:
        return tuple(self._rooms)

    def begin(self, row: Float32, facts: GameFacts) -> None:
        """A segment starts in this moment: `row` is `[D]`, the observation of it."""
        self._clear()
        if self._rows.shape[1] != len(row):
            self._rows = np.empty((self.max_steps + 1, len(row)), dtype=np.float32)
        self._rows[0] = row
        self._enter(facts)

    def note(
        self, row: Float32, facts: GameFacts, reward: float, parts: Float32, *, frames: int
    ) -> None:
        """A step of so many frames led to `row` and `facts`, and the game paid these parts."""
        step = self._steps
        self._steps += 1
        self._rows[self._steps] = row
        self._frames.append(frames)
        self._dead.append(facts.dead)
        self._enter(facts)
        if reward:
            self._game.append((step, reward))
        for part in np.flatnonzero(parts):
            self._parts.setdefault(PARTS[part], []).append((step, float(parts[part])))

    def _enter(self, facts: GameFacts) -> None:
        if facts.running and facts.settled:
            self._rooms.setdefault((facts.group, facts.room))

    def pay(self, model: PayingModel | None, *, terminated: bool) -> SegmentPay:
        """Rewards of the segment, with those of `model`; about 0.3 ms.

        `terminated`: the game ended with the last step.
        """
        game = {
            "game": tuple(self._game),
            "parts": {name: tuple(amounts) for name, amounts in self._parts.items()},
        }
        if model is None:
            return SegmentPay(**game)
        potentials = model.potential(self._rows[: self._steps + 1]).astype(np.float64)
        if not np.isfinite(potentials).all():  # the learner rejects such a model
            return SegmentPay(**game, reward_model_version=model.version)
        counted = self._counted(potentials)
        after = counted[1:].copy()
        if terminated:
            after[-1] = 0.0
        gamma = np.array([discount_of(n, model.gamma) for n in self._frames])
        paid = model.weight * step_pay(counted[:-1], after, gamma=gamma)
        return SegmentPay(
            **game,
            reward_model_version=model.version,
            weight=model.weight,
            gamma=model.gamma,
            potentials=_told(potentials),
            model=_told(paid),
        )

    def _counted(self, potentials: Float64) -> Float64:
        """Potentials from the segment's start, without the jump to the respawn point."""
        rises = np.diff(potentials)
        dead = np.array(self._dead, dtype=np.bool_)
        rises[dead | np.concatenate([[False], dead[:-1]])] = 0.0
        return np.concatenate([[0.0], np.cumsum(rises)])


def _told(values: Float64) -> tuple[float, ...]:
    return tuple(values.round(_DECIMALS).tolist())


class FirstSightingsReader:
    """Follows one environment, segment by segment."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._known_rooms: set[int] = set()
        self._known_steps: set[str] = set()
        self._entered: list[int] = []
        self._place = (-1, -1)

    def begin_episode(self, facts: GameFacts, ram: RamBlocks) -> None:
        self._known_steps = {step.name for step in milestones_reached(ram, self._story)}
        self._known_rooms = {facts.room_index}
        self._entered = []
        self._place = (facts.group, facts.room)

    def note_step(self, facts: GameFacts) -> None:
        if (facts.group, facts.room) == self._place or not facts.settled:
            return
        self._place = (facts.group, facts.room)
        if facts.room_index not in self._known_rooms:
            self._known_rooms.add(facts.room_index)
            self._entered.append(facts.room_index)

    def collect(self, ram: RamBlocks) -> FirstSightings:
        """What is new since the last call; about 10 µs. For the end of each segment."""
        found = {step.name for step in milestones_reached(ram, self._story)}
        sightings = FirstSightings(tuple(self._entered), tuple(sorted(found - self._known_steps)))
        self._known_steps |= found
        self._entered = []
        return sightings


Ended = Literal["running", "terminated", "truncated"]

_LONGER_FOR_LATER = 15
"""A segment that is not chosen yet may start so many times farther from its keyframe: a new one for
each would cost a tenth of the speed, this costs about one in a hundred."""


class PaidStep(Protocol):
    """What a step gave; see `rlaif.trainer.play.game_env.StepOutcome`."""

    @property
    def reward(self) -> float: ...

    @property
    def parts(self) -> Float32:
        """`[P]`; they sum to it."""

    @property
    def wait(self) -> int: ...


@dataclass(frozen=True)
class CaptureContext:
    """What the captures of one fragment have in common; see `Capture` for the fields."""

    env_step: int = 0
    policy_iteration: int = 0
    reward_model_version: int | None = None


class EnvRecorder:
    """Records one environment.

    A segment is `log.max_steps` decision steps of one episode; only whole ones are captured. It is
    chosen before it is played, or at its end for what it showed. The RAM digests that make a
    capture verifiable (0.1 ms each) are taken at the start of segments that may be captured, and at
    the end of those that are; a new keyframe (33 ms) only when one would start too far from the
    last.

    Attributes:
        context: Goes into the captures from now on.
        chosen: Why the running segment was chosen before it was played; None when it was not.
        paying: The live reward model; captures contain its shaping rewards.
    """

    def __init__(
        self,
        *,
        run_id: str,
        env_id: str,
        game: GameIdentity,
        emulator: Emulator,
        frame_skip: int,
        log: SegmentLog,
        keyframe_steps: int,
        story: Story,
        selector: SegmentSelector,
    ) -> None:
        self._emulator = emulator
        self._segment_steps = log.max_steps
        self._keyframe_frames = keyframe_steps * STEP_FRAMES
        self._selector = selector
        self._sightings = FirstSightingsReader(story)
        self._recorder = SegmentRecorder(
            run_id=run_id,
            env_id=env_id,
            game=game,
            emulator=emulator.identity,
            frame_skip=frame_skip,
        )
        self._keyframe: PackedKeyframe | None = None
        self._episode_id = ""
        self._step = 0
        self._facts: GameFacts | None = None
        self._frame_skip = frame_skip
        self._log = log
        self.paying: PayingModel | None = None
        self.context = CaptureContext()
        self.chosen: Reason | None = None

    @property
    def step(self) -> int:
        return self._step

    def begin_episode(
        self,
        episode_id: str,
        keyframe: PackedKeyframe,
        warm_up: Sequence[tuple[int, int]],
        facts: GameFacts,
    ) -> None:
        self._episode_id = episode_id
        self._step = 0
        self.chosen = None
        self._keyframe = keyframe
        self._recorder.keyframe(keyframe.sha256, step=-len(warm_up))
        for action, wait in warm_up:
            self._recorder.add_step(action, wait=wait)
        self._facts = facts
        self._sightings.begin_episode(facts, read_blocks(self._emulator))

    @property
    def at_border(self) -> bool:
        return self._step % self._segment_steps == 0

    def before_segment(self, row: Float32, disagreement: Callable[[], float] | None = None) -> None:
        """Before a segment's first step: choose it, or note where it starts, to choose it later.

        `row` is the observation of this moment, `disagreement` what the selector asks.
        """
        self.chosen = self._selector.at_start(self._episode_id, disagreement)
        if self.chosen is None and not self._selector.looks_back(self._episode_id):
            return
        longest = self._keyframe_frames * (1 if self.chosen else _LONGER_FOR_LATER)
        if self._recorder.frames_since_keyframe > longest:
            self._keyframe = pack_keyframe(self._emulator.save_state())
            self._recorder.keyframe(self._keyframe.sha256, step=self._step)
        self._recorder.start_segment(self._emulator.ram_digest())
        assert self._facts is not None, "an episode begins before its segments"
        self._log.begin(row, self._facts)

    def after_step(
        self, action: int, ended: Ended, facts: GameFacts, row: Float32, step: PaidStep
    ) -> SpooledCapture | None:
        """Add a step; returns the capture at the last step of a selected segment."""
        self._recorder.add_step(action, wait=step.wait)
        self._step += 1
        if self._recorder.in_segment:
            frames = self._frame_skip + step.wait
            self._log.note(row, facts, step.reward, step.parts, frames=frames)
        if facts is not self._facts:
            self._facts = facts
            self._sightings.note_step(facts)
        if self._step % self._segment_steps:
            return None
        chosen, self.chosen = self.chosen, None
        seen_first = self._sightings.collect(read_blocks(self._emulator))
        reason = self._selector.at_end(
            self._episode_id, chosen, seen_first, provable=self._recorder.in_segment
        )
        if reason is None:
            self._recorder.drop_segment()
            return None
        assert self._keyframe is not None
        capture = self._recorder.finish_segment(
            episode_id=self._episode_id,
            index=self._step // self._segment_steps - 1,
            ram_sha256=self._emulator.ram_digest(),
            ended=ended,
            env_step=self.context.env_step,
            policy_iteration=self.context.policy_iteration,
            reward_model_version=self.context.reward_model_version,
            selected_by=reason,
        )
        told = {
            "rooms": self._log.rooms,
            "milestones": seen_first.milestones,
            "pay": self._log.pay(self.paying, terminated=ended == "terminated"),
        }
        return SpooledCapture(capture.model_copy(update=told), self._keyframe.data)
