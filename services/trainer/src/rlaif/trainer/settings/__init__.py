"""Settings of the trainer, in blocks. The names without a prefix are given by the specification.

    game.py        what is played: start states, exploration, captures
    learning.py    what is learned: PPO, network, sampling, rewards, curriculum
    planner.py     language models that plan and suggest, and how much they may play
    run.py         when, how long, where; mode `quest`
    kept.py        which values a resumed run keeps

Functions receive whole blocks.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, Field, model_validator
from pydantic_settings import SettingsConfigDict

from rlaif.contracts.game.names import world_names
from rlaif.service.settings import PER_SERVICE, ServiceSettings, Setting
from rlaif.trainer.settings.game import CaptureSettings, ExploreSettings, GameSettings
from rlaif.trainer.settings.kept import is_fixed
from rlaif.trainer.settings.learning import (
    PRESETS,
    CuriositySettings,
    CurriculumSettings,
    NetworkSettings,
    PpoSettings,
    RewardSettings,
    SamplingSettings,
    ShapingSettings,
)
from rlaif.trainer.settings.planner import PRESETS as GUIDANCE_PRESETS
from rlaif.trainer.settings.planner import GuidanceSettings, PlannerSettings, TakeoverSettings
from rlaif.trainer.settings.run import (
    DEFAULTS,
    EvaluationSettings,
    QuestSettings,
    RaySettings,
    RunSettings,
    with_defaults,
)

_PPO = (
    "MINIBATCH_SIZE", "EPOCHS", "LEARNING_RATE", "GAMMA", "GAE_LAMBDA", "CLIP", "SHARE_LAYERS",
    "VALUE_LOSS", "VALUE_CLIP", "NORMALIZE_VALUES", "ENTROPY",
)  # fmt: skip

_PLANNER = tuple(map(str.upper, PlannerSettings.model_fields))

RENAMED = {f"TRAINER_{name}": f"TRAINER_PPO_{name}" for name in _PPO} | {
    f"PLANNER_{name}": f"TRAINER_PLANNER_{name}" for name in _PLANNER
}
"""Variables of 0.1.0 → their names since 0.2.0."""


class TrainerSettings(
    GameSettings, RunSettings, RaySettings, SamplingSettings, NetworkSettings, ServiceSettings
):
    """Settings of runs and of the trainer service."""

    model_config = SettingsConfigDict(env_prefix="TRAINER_")
    renamed: ClassVar[dict[str, str]] = RENAMED

    port: int = Field(
        default=8081,
        ge=0,
        le=65535,
        json_schema_extra=PER_SERVICE,
        description="TCP port of the REST API.",
    )
    metrics_port: int = Field(
        default=0,
        ge=0,
        le=65535,
        json_schema_extra=PER_SERVICE,
        description="TCP port on which rlaif train serves /metrics, /readyz and /livez; 0 disables "
        "it. The service has them on TRAINER_PORT.",
    )
    data_dir: Annotated[Path, AfterValidator(Path.expanduser)] = Field(
        default=Path("var/trainer"),
        json_schema_extra=PER_SERVICE,
        description="Directory of runs, spools and checkpoints.",
    )
    autostart: bool = Field(
        default=True,
        json_schema_extra=PER_SERVICE,
        description="Start or resume the newest run when the service starts.",
    )

    captures_per_minute: float = Field(
        default=60.0,
        ge=0,
        description="Maximum segments captured for the judges per minute. Judging is far more "
        "expensive than playing.",
        json_schema_extra=PER_SERVICE,
    )
    judge_backlog: int = Field(
        default=64,
        ge=1,
        description="Stop capturing while this many segments wait for exporter or judges.",
        json_schema_extra=PER_SERVICE,
    )
    eval_interval: int = Field(
        default=1,
        ge=0,
        validation_alias="EVAL_INTERVAL",
        description="Epochs between two evaluations in mode pipeline; 0 disables them.",
    )
    eval: EvaluationSettings = EvaluationSettings()
    quest: QuestSettings = QuestSettings()
    ppo: PpoSettings = PpoSettings()
    shaping: ShapingSettings = ShapingSettings()
    curiosity: CuriositySettings = CuriositySettings()
    explore: ExploreSettings = ExploreSettings()
    curriculum: CurriculumSettings = CurriculumSettings()
    guidance: GuidanceSettings = GuidanceSettings()
    takeover: TakeoverSettings = TakeoverSettings()
    capture: CaptureSettings = CaptureSettings()
    planner: PlannerSettings = PlannerSettings()

    @property
    def game(self) -> GameSettings:
        return GameSettings(**{name: getattr(self, name) for name in GameSettings.model_fields})

    @model_validator(mode="before")
    @classmethod
    def _fill_in_what_a_quest_needs(cls, given: Any) -> Any:
        return with_defaults(given) if isinstance(given, dict) else given

    @model_validator(mode="before")
    @classmethod
    def _find_the_first_world(cls, given: Any) -> Any:
        if not isinstance(given, dict) or {"rom_path", "ROM_PATH"} & given.keys():
            return given
        worlds = str(given.get("worlds", ""))
        if not world_names(worlds):
            return given
        data_dir = Path(given.get("data_dir", cls.model_fields["data_dir"].default))
        return given | {"rom_path": _first_world(data_dir, worlds)}

    @property
    def implied(self) -> dict[str, Any]:
        """Flat name → value of what mode, presets and worlds set unless it is set individually."""
        blocks = {
            "ppo": PRESETS[self.ppo.preset],
            "guidance": GUIDANCE_PRESETS[self.guidance.preset],
        }
        found = _flat(blocks) | _flat(DEFAULTS if self.mode == "quest" else {})
        if self.worlds:
            found["rom_path"] = _first_world(self.data_dir, self.worlds)
        return found

    def sets(self, setting: Setting) -> bool:
        """Whether this value was set, and not by mode, presets or worlds."""
        *block, leaf = setting.path
        owner: BaseModel = getattr(self, block[0]) if block else self
        value = getattr(owner, leaf)
        return leaf in owner.model_fields_set and self.implied.get(setting.name, ...) != value

    def gives(self, setting: Setting) -> bool:
        """Whether this value applies to a resumed run.

        Values that a preset or mode `quest` implies do not, if they are fixed for a run.
        """
        return self.sets(setting) or (not is_fixed(setting) and setting.name in self.implied)

    @property
    def evaluation_length(self) -> int:
        """Length of an evaluation's episodes in steps of four frames."""
        own = self.eval.episode_length
        if own or self.mode == "pipeline":
            return own or self.episode_length
        return 15_000 if self.by_decisions else 3_000

    @property
    def exploring(self) -> int:
        """Number of environments that explore; the policy keeps one, of each runner if possible."""
        if not self.by_decisions or self.has_many_worlds or self.mode == "evaluation":
            return 0
        runners = max(1, self.ray_workers)
        count = runners * self.envs_per_worker
        most = count - (runners if self.envs_per_worker > 1 else 1)
        return min(round(self.explore.share * count), most)

    @property
    def curriculum_counts(self) -> bool:
        """Whether episodes start on given demonstrations, and a policy imitates them."""
        return self.curriculum.path is not None and self.mode != "evaluation"

    @property
    def rewards(self) -> RewardSettings:
        return RewardSettings(self.shaping, self.curiosity)


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by flat name, given values and blocks of values."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        is_block = isinstance(value, Mapping)
        found |= {f"{name}_{leaf}": value[leaf] for leaf in value} if is_block else {name: value}
    return found


def _first_world(data_dir: Path, worlds: str) -> Path:
    data_dir = data_dir.expanduser()
    # A volume is mounted in the root, which is read-only.
    folder = data_dir if data_dir.parent == Path("/") else data_dir.parent
    return folder / "worlds" / world_names(worlds)[0] / "world.gbc"
