"""Configuration of the environments of a run; pickled to the runner processes."""

from dataclasses import dataclass, field
from pathlib import Path

from rlaif.reward_net.pay import Potential
from rlaif.trainer.rewards.learned.shaping import ShapingMode
from rlaif.trainer.settings.game import CaptureSettings, GameSettings


@dataclass(frozen=True)
class PayingModel:
    """The live reward model.

    Attributes:
        gamma: Discount of the run.
        weight: Scale of the potential.
        mode: How the reward is derived from the potential.
    """

    version: int
    potential: Potential
    gamma: float
    weight: float
    mode: ShapingMode = "potential"


@dataclass(frozen=True)
class EnvConfig:
    """The environments of one run.

    Attributes:
        attempt: Increases with each start of the run's process, so that ids never repeat.
        life: 0 for a runner's first process in an attempt, 1 in the search of mode `quest`; unique
            for each replacement.
        gamma: Discount of four frames, inside decisions that last longer.
        pictures: Whether the policy reads pictures, so that every environment draws every step.
        screens: Folder of the live files; None for none.
    """

    run_id: str
    attempt: int = 0
    life: int = 0
    game: GameSettings = field(default_factory=GameSettings)
    capture: CaptureSettings = field(default_factory=CaptureSettings)
    gamma: float = 1.0
    pictures: bool = False
    screens: Path | None = None

    @property
    def segment_steps(self) -> int:
        return self.capture.segment_steps(self.game.frame_skip)
