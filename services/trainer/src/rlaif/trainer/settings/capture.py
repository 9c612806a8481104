"""What is captured for the judges, and kept for films."""

from pydantic import BaseModel, Field


class CaptureSettings(BaseModel, frozen=True, extra="forbid"):
    """Which segments are captured, and how many."""

    segment_frames: int = Field(
        default=300,
        ge=4,
        description="Game frames a segment, without those that are waited; the seeds fix 300.",
    )
    keyframe_steps: int = Field(
        default=600,
        ge=1,
        description="Longest replay before a segment, in steps of four frames; a save state costs "
        "about 30 ms.",
    )
    uniform_share: float = Field(
        default=0.3,
        ge=0.2,
        le=1,
        description="Share of the captures drawn whatever they show, for fair metrics; the others "
        "are chosen where the reward model's networks disagree, and for new rooms and milestones.",
    )
    spool_captures: int = Field(
        default=500,
        ge=1,
        description="Captures that wait on disk at most, about 10 kB each. Beyond it new ones are "
        "dropped and counted; training goes on.",
    )
    best_episodes: int = Field(
        default=3,
        ge=0,
        description="Best episodes of a run whose actions are kept, by milestones, then by return, "
        "to be filmed by `rlaif-eval RUN --recorded N`; 0 keeps none.",
    )
    captures_per_minute: float = Field(
        default=60.0,
        ge=0,
        description="Segments captured for the judges at most. Judges cost far more than play.",
    )
    judge_backlog: int = Field(
        default=64,
        ge=1,
        description="No captures while this many segments wait for exporter or judges.",
    )

    def segment_steps(self, frame_skip: int) -> int:
        """Decision steps a segment, of `frame_skip` frames each."""
        return max(1, self.segment_frames // frame_skip)
