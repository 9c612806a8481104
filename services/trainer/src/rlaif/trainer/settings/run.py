"""A run: what it does, when it saves, evaluates and ends, and where it trains."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from rlaif.contracts.ids import Id
from rlaif.service.settings import INTERNAL, PER_SERVICE

Mode = Literal["continuous", "epoch", "pipeline", "evaluation", "quest"]
"""What a run does; see the setting."""


class RunSettings(BaseModel, frozen=True, extra="forbid", populate_by_name=True):
    """What a run does, from what it begins, and what is kept of it."""

    mode: Mode = Field(
        default="continuous",
        description="What a run does. continuous: train for RUN_HOURS; epoch: train to the next "
        "multiple of EPOCH_STEPS; pipeline: continuous with an evaluation every EVAL_INTERVAL "
        "epochs; evaluation: play a checkpoint without training; quest: search the game, make "
        "demonstrations of the trajectories found and train along them, for "
        "TRAINER_QUEST_MINUTES.",
    )
    run_id: Id | None = Field(
        default=None,
        description="Run to resume, from this disk or from the models store; a new run gets this "
        "id if neither has it. Unset: the service resumes the newest run, rlaif-train starts a "
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
        description="Stop after this much training time, in hours, excluding pauses and work lost "
        "to crashes.",
    )
    epoch_steps: int = Field(
        default=300_000,
        validation_alias="EPOCH_STEPS",
        ge=1,
        description="Environment steps between two checkpoints.",
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
    stop_seconds: float = Field(
        default=40.0,
        gt=0,
        description="Maximum seconds to save a run that is stopped. After that it is killed and "
        "resumes from the previous checkpoint. Keep it below the grace period of the service.",
        json_schema_extra=PER_SERVICE,
    )


class EvaluationSettings(BaseModel, frozen=True, extra="forbid"):
    """How a frozen policy is evaluated, and how often."""

    episodes: int = Field(
        default=8,
        ge=1,
        le=1000,
        description="Episodes per evaluation. More episodes reduce variance but take longer.",
    )
    episode_length: int | None = Field(default=None, ge=1, json_schema_extra=INTERNAL)
    """Length at which its episodes are truncated, in steps of four frames. None: 15,000 (17
    minutes of game time, twice what the quest takes); 3,000 with the seed action set."""
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
        description="Environment runner processes, and search workers in mode quest. 0: both run "
        "inside the training process.",
    )
    ray_address: str | None = Field(
        default=None,
        validation_alias="RAY_ADDRESS",
        json_schema_extra=PER_SERVICE,
        description="Ray cluster. http://HEAD:8265 submits jobs to it; auto or HOST:6379 joins it "
        "from here. Unset: a local one is started per run.",
    )
    run_on: Literal["process", "ray-job"] = Field(
        default="process",
        json_schema_extra=PER_SERVICE,
        description="process trains in a child process; ray-job submits rlaif-train to the Ray "
        "cluster whose dashboard RAY_ADDRESS names.",
    )
    ray_job_entrypoint: str = Field(default="rlaif-train", json_schema_extra=INTERNAL)
    """Command that a Ray job starts; options are appended."""

    @property
    def ray_is_own(self) -> bool:
        """Whether the training process starts a Ray of its own, of this machine alone."""
        return self.ray_address is None or self.ray_address.startswith("http")
