"""All classes of user settings: one list for everything that compares their names."""

from rlaif.bootstrap.settings import BootstrapSettings
from rlaif.exporter.settings import ExporterSettings
from rlaif.hud.settings import HudSettings
from rlaif.judge.settings import JudgeSettings
from rlaif.mock_llm.settings import MockLlmSettings
from rlaif.reward_model.settings import RewardModelSettings
from rlaif.service.settings import ServiceSettings, SharedSettings
from rlaif.trainer.settings import TrainerSettings

SERVICES: tuple[type[ServiceSettings], ...] = (
    TrainerSettings,
    ExporterSettings,
    JudgeSettings,
    RewardModelSettings,
    HudSettings,
    MockLlmSettings,
)
EVERY: tuple[type[SharedSettings], ...] = (*SERVICES, BootstrapSettings)
