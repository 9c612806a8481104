"""What is captured for the judges, and kept for films."""

from pydantic import BaseModel, Field

from rlaif.service.settings import INTERNAL


class CaptureSettings(BaseModel, frozen=True, extra="forbid"):
    """Which segments are captured, and how many."""

    segment_frames: int = Field(default=300, ge=4, json_schema_extra=INTERNAL)
    """Game frames per segment, waits excluded; fixed by the seeds."""
    keyframe_steps: int = Field(default=600, ge=1, json_schema_extra=INTERNAL)
    """Longest replay before a segment, in steps of four frames; a save state costs about 30 ms."""
    uniform_share: float = Field(default=0.3, ge=0.2, le=1, json_schema_extra=INTERNAL)
    """Share of the captures drawn uniformly, for unbiased metrics. The others are chosen where the
    ensemble disagrees, and for new rooms and milestones."""
    spool_captures: int = Field(default=500, ge=1, json_schema_extra=INTERNAL)
    """Maximum captures waiting on disk, about 10 kB each. Further ones are dropped and counted."""
    best_episodes: int = Field(default=3, ge=0, json_schema_extra=INTERNAL)
    """Best episodes of a run whose actions are kept, for `rlaif-eval RUN --recorded N`."""

    def segment_steps(self, frame_skip: int) -> int:
        """Decision steps per segment, of `frame_skip` frames each."""
        return max(1, self.segment_frames // frame_skip)
