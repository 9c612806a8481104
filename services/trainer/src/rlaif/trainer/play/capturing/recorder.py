"""Captures the selected segments of an episode; asks the emulator only at their borders."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from rlaif.contracts.captures import GameIdentity
from rlaif.game.captures.capture import PackedKeyframe, SegmentRecorder, pack_keyframe
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.stories.milestones import Story
from rlaif.trainer.play.capturing.first_sightings import FirstSightingsReader
from rlaif.trainer.play.capturing.selection import Reason, SegmentSelector
from rlaif.trainer.rewards.game.facts import GameFacts
from rlaif.trainer.run_folder.spool import SpooledCapture

Ended = Literal["running", "terminated", "truncated"]

_LONGER_FOR_LATER = 15
"""A segment that is not chosen yet may start so many times farther from its keyframe: a new one for
each would cost a tenth of the speed, this costs about one in a hundred."""


@dataclass(frozen=True)
class CaptureContext:
    """What the captures of one fragment have in common; see `Capture` for the fields."""

    env_step: int = 0
    policy_iteration: int = 0
    reward_model_version: int | None = None


class EnvRecorder:
    """Records one environment.

    A segment is `segment_steps` decision steps of one episode; only whole ones are captured. It is
    chosen before it is played, or at its end for what it showed. The RAM digests that make a
    capture verifiable (0.1 ms each) are taken at the start of segments that may be captured, and at
    the end of those that are; a new keyframe (33 ms) only when one would start too far from the
    last.

    Attributes:
        context: Goes into the captures from now on.
        chosen: Why the running segment was chosen before it was played; None when it was not.
    """

    def __init__(
        self,
        *,
        run_id: str,
        env_id: str,
        game: GameIdentity,
        emulator: Emulator,
        frame_skip: int,
        segment_steps: int,
        keyframe_steps: int,
        story: Story,
        selector: SegmentSelector,
    ) -> None:
        self._emulator = emulator
        self._segment_steps = segment_steps
        self._keyframe_frames = keyframe_steps * frame_skip
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
        self.context = CaptureContext()
        self.chosen: Reason | None = None

    @property
    def step(self) -> int:
        """Decision steps of the episode so far; of its part since a resume."""
        return self._step

    def begin_episode(
        self,
        episode_id: str,
        keyframe: PackedKeyframe,
        warm_up: Sequence[tuple[int, int]],
        facts: GameFacts,
    ) -> None:
        """An episode starts: `warm_up`, (action, frames waited), was played on `keyframe`."""
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
        """Whether the next step is the first of a segment."""
        return self._step % self._segment_steps == 0

    def before_segment(self, disagreement: Callable[[], float] | None = None) -> None:
        """Before a segment's first step: choose it, or note where it starts, to choose it later.

        `disagreement` is what `SegmentSelector.at_start` asks.
        """
        self.chosen = self._selector.at_start(self._episode_id, disagreement)
        if self.chosen is None and not self._selector.looks_back(self._episode_id):
            return
        longest = self._keyframe_frames * (1 if self.chosen else _LONGER_FOR_LATER)
        if self._recorder.frames_since_keyframe > longest:
            self._keyframe = pack_keyframe(self._emulator.save_state())
            self._recorder.keyframe(self._keyframe.sha256, step=self._step)
        self._recorder.start_segment(self._emulator.ram_digest())

    def after_step(
        self, action: int, ended: Ended, facts: GameFacts, wait: int = 0
    ) -> SpooledCapture | None:
        """Note the action, what it led to, and the frames waited after it.

        At a selected segment's last step, return its capture.
        """
        self._recorder.add_step(action, wait=wait)
        self._step += 1
        if facts is not self._facts:
            self._facts = facts
            self._sightings.note_step(facts)
        if self._step % self._segment_steps:
            return None
        chosen, self.chosen = self.chosen, None
        reason = self._selector.at_end(
            self._episode_id,
            chosen,
            self._sightings.collect(read_blocks(self._emulator)),
            provable=self._recorder.in_segment,
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
        return SpooledCapture(capture, self._keyframe.data)
