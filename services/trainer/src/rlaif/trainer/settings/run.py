"""A run: its mode, when it saves, evaluates and ends, and where it trains."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from rlaif.contracts.model import Id
from rlaif.service.settings import INTERNAL, PER_SERVICE

RunId = Annotated[Id, Field(max_length=40)]
"""Ids of its episodes, segments and evaluations begin with it and have at most 64 characters."""

Mode = Literal["continuous", "epoch", "pipeline", "evaluation", "quest"]
"""Modes of a run; see the setting."""

DEFAULTS: dict[str, Any] = {
    "actions": "macros",
    "episode_length": 15_000,
    "ray_workers": 2,
    "envs_per_worker": 8,
    "explore": {"share": 0.0},
    "ppo": {"normalize_values": False},
}
"""Defaults that mode `quest` changes. Two cores play; an episode is twice as long as the quest of
the built-in cartridge; the curriculum chooses all start states; its critic learned earlier without
running deviations (ADR 0029)."""


class RunSettings(BaseModel, frozen=True, extra="forbid", populate_by_name=True):
    """Mode, start and checkpoints of a run."""

    mode: Mode = Field(
        default="continuous",
        description="Mode of the run. continuous: train for RUN_HOURS; epoch: train to the next "
        "multiple of EPOCH_STEPS; pipeline: continuous with an evaluation every EVAL_INTERVAL "
        "epochs; evaluation: play a checkpoint without training; quest: search the game, build "
        "demonstrations from the best trajectories and train along them, for "
        "TRAINER_QUEST_MINUTES.",
    )
    run_id: RunId | None = Field(
        default=None,
        description="Run to resume, from this disk or from the models store; a new run gets this "
        "id if neither has it. Unset: the service resumes the newest run, rlaif train starts a "
        "new one.",
        json_schema_extra=PER_SERVICE,
    )
    seed: int = Field(
        default=7,
        ge=0,
        lt=2**32,
        description="Random seed of environments, policy and capture selection.",
    )
    checkpoint: str | None = Field(
        default=None,
        description="Checkpoint to evaluate, or whose policy a new run starts with: a run id (its "
        "newest), RUN/iteration_N, or a directory. It is fetched from the models store if it is "
        "not on this disk.",
    )
    reward_model_path: Path | None = Field(
        default=None,
        description="Reward model (safetensors) to start with. Unset: wait for the champion.",
    )
    run_hours: float = Field(
        default=48.0,
        validation_alias="RUN_HOURS",
        gt=0,
        description="Stop after this much training time, in hours. It includes evaluations, but no "
        "pauses and no work lost to crashes.",
    )
    epoch_steps: int = Field(
        default=300_000,
        validation_alias="EPOCH_STEPS",
        ge=1,
        description="Environment steps of an epoch, at whose end a checkpoint is saved; at least "
        "BATCH_SIZE, as an iteration that ends several epochs ends only the last one.",
    )
    checkpoint_minutes: float = Field(
        default=10.0,
        gt=0,
        description="Maximum minutes between two checkpoints, besides the end of every epoch: the "
        "most training that a crash can lose. Young runs are saved more often.",
    )
    checkpoints_kept: int = Field(
        default=2,
        ge=1,
        description="Number of newest checkpoints kept per run, on disk and in the models store; "
        "the one with the best evaluation is kept as well.",
    )
    metrics_to: Literal["wandb", "mlflow"] | None = Field(
        default=None,
        validation_alias="METRICS_TO",
        description="Also write the run's metrics to Weights & Biases or MLflow, which are extras "
        "(pip install 'rlaif-trainer[wandb]'). WANDB_MODE, MLFLOW_TRACKING_URI and so on name "
        "the server; without one, files are written.",
        json_schema_extra=PER_SERVICE,
    )
    stop_seconds: float = Field(
        default=40.0,
        gt=0,
        description="Maximum seconds to save a run that is stopped. After that it is killed and "
        "resumes from the previous checkpoint. Keep it below the grace period of the service.",
        json_schema_extra=PER_SERVICE,
    )


class EvaluationSettings(BaseModel, frozen=True, extra="forbid"):
    """Evaluation of a frozen policy."""

    episodes: int = Field(
        default=8,
        ge=1,
        le=1000,
        description="Episodes per evaluation. More episodes reduce variance but take longer.",
    )
    episode_length: int | None = Field(default=None, ge=1, json_schema_extra=INTERNAL)
    """Length at which its episodes are truncated, in steps of four frames. None: 15,000 (17
    minutes of game time, twice what the quest takes), or 3,000 with the seed action set; in mode
    pipeline EPISODE_LENGTH, so that evaluations are comparable with the episodes of training."""
    seed: int = Field(
        default=1_000,
        ge=0,
        description="Random seed of the evaluation episodes; the same seed plays the same starts.",
    )
    greedy: bool = Field(
        default=False,
        description="Always take the most probable action instead of sampling. Greedy policies "
        "often get stuck.",
    )


class RaySettings(BaseModel, frozen=True, extra="forbid", populate_by_name=True):
    """Where the training process runs, and on how many runners."""

    ray_workers: int = Field(
        default=3,
        validation_alias="RAY_WORKERS",
        ge=0,
        description="Environment runner processes. 0: one runner inside the training process.",
    )
    ray_address: str | None = Field(
        default=None,
        validation_alias="RAY_ADDRESS",
        json_schema_extra=PER_SERVICE,
        description="Ray cluster. http://HEAD:8265 submits jobs to it; auto or HOST:6379 joins it "
        "from here. Unset: runners are processes of this machine, without Ray.",
    )
    run_on: Literal["process", "ray-job", "none"] = Field(
        default="process",
        json_schema_extra=PER_SERVICE,
        description="process trains in a child process; ray-job submits rlaif train to the Ray "
        "cluster whose dashboard RAY_ADDRESS names; none: this service starts no run, as runs are "
        "jobs with resources of their own (deploy/jobs).",
    )

    @property
    def joins_cluster(self) -> bool:
        """Whether runners are actors of a Ray cluster, not child processes."""
        return self.ray_address is not None and not self.ray_address.startswith("http")


def with_defaults(given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by name or variable; in mode `quest` with its defaults where none is given."""
    if given.get("mode") != "quest":
        return dict(given)
    found = dict(given)
    for name, value in DEFAULTS.items():
        if isinstance(value, dict):
            own = found.get(name, {})
            if isinstance(own, Mapping):  # a block that is passed as a whole keeps its values
                found[name] = value | dict(own)
        elif name.upper() not in given:
            found.setdefault(name, value)
    return found


MIN_WHOLE, LEARNED = 64, 0.95
"""Minimum number of episodes from power-on, and success rate, at which a run ends early."""


class QuestSettings(BaseModel, frozen=True, extra="forbid"):
    """The phases of mode `quest`: search, demonstrations, policy."""

    minutes: float = Field(
        default=98.0,
        gt=0,
        description="Wall-clock minutes of a run in mode quest: search, demonstrations and "
        "training together, excluding start and saving. RUN_HOURS does not apply.",
    )
    search_minutes: float = Field(
        default=45.0,
        gt=0,
        description="Maximum minutes of search. More finds more trajectories but leaves less time "
        "to train.",
    )
    quiet_minutes: float = Field(
        default=10.0,
        gt=0,
        description="The search ends early after this many minutes without lasting progress.",
    )
    lineages: int = Field(default=5, ge=1, le=64, json_schema_extra=INTERNAL)
    """Trajectories that become demonstrations. The search ends once this many of them end with an
    essence."""


def is_learned(whole: Sequence[bool]) -> bool:
    """Whether the policy completed the quest in enough of its last episodes from power-on."""
    return len(whole) >= MIN_WHOLE and sum(whole) / len(whole) >= LEARNED
