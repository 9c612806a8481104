"""What every environment of a run is built from; travels to the runner processes."""

from dataclasses import dataclass, field
from pathlib import Path

from rlaif.trainer.settings.capture import CaptureSettings
from rlaif.trainer.settings.game import GameSettings


@dataclass(frozen=True)
class EnvConfig:
    """The environments of one run.

    Attributes:
        attempt: Rises each time the run's process is started, so that ids never repeat.
        life: 0 for a runner's first process in an attempt, a number of its own for each that
            replaces a lost one, for the same reason.
        pictures: The policy looks at pictures: every environment draws every step.
        screen_path: Where environment 0 of the first runner leaves its picture; None for nowhere.
    """

    run_id: str
    attempt: int = 0
    life: int = 0
    game: GameSettings = field(default_factory=GameSettings)
    capture: CaptureSettings = field(default_factory=CaptureSettings)
    pictures: bool = False
    screen_path: Path | None = None

    @property
    def segment_steps(self) -> int:
        """Decision steps a segment."""
        return self.capture.segment_steps(self.game.frame_skip)
