"""Captures the selected segments of an episode; asks the emulator only at their borders."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from rlaif.contracts.captures import GameIdentity
from rlaif.game.captures.capture import PackedKeyframe, SegmentRecorder, pack_keyframe
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.stories.milestones import Story
from rlaif.trainer.play.capturing.first_sightings import FirstSightingsReader
from rlaif.trainer.play.capturing.segment_log import Float32, SegmentLog
from rlaif.trainer.play.capturing.selection import Reason, SegmentSelector
from rlaif.trainer.play.paying_model import PayingModel
from rlaif.trainer.rewards.game.facts import GameFacts
from rlaif.trainer.run_folder.spool import SpooledCapture
from rlaif.trainer.settings.game import STEP_FRAMES

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

    A segment is `log.most_steps` decision steps of one episode; only whole ones are captured. It is
    chosen before it is played, or at its end for what it showed. The RAM digests that make a
    capture verifiable (0.1 ms each) are taken at the start of segments that may be captured, and at
    the end of those that are; a new keyframe (33 ms) only when one would start too far from the
    last.

    Attributes:
        context: Goes into the captures from now on.
        chosen: Why the running segment was chosen before it was played; None when it was not.
        paying: The reward model that counts; captures say what it pays for them.
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
        self._segment_steps = log.most_steps
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
        """Note the action, what it led to, and what was paid and waited after it.

        At a selected segment's last step, return its capture.
        """
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
