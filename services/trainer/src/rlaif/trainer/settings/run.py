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
        description="continuous trains until RUN_HOURS; epoch trains to the next multiple of "
        "EPOCH_STEPS; pipeline is continuous with an evaluation every EVAL_INTERVAL epochs; "
        "evaluation plays a checkpoint and trains nothing; quest searches for a way through the "
        "game, makes demonstrations of what it found and trains along them, for "
        "TRAINER_QUEST_MINUTES.",
    )
    run_id: Id | None = Field(
        default=None,
        description="Run to resume, from this disk or from the models store; begun under this "
        "name when neither knows it. Unset: the service resumes the newest, rlaif-train "
        "begins a new one.",
        json_schema_extra=PER_SERVICE,
    )
    seed: int = Field(
        default=7, ge=0, lt=2**32, description="Seed of environments, policy and selection."
    )
    checkpoint: str | None = Field(
        default=None,
        description="Checkpoint to evaluate, or whose policy a new run begins with: a run's id "
        "(its newest), RUN/iteration_N, or a directory. Fetched from the models store unless it is "
        "on this disk.",
    )
    reward_model_path: Path | None = Field(
        default=None,
        description="Reward model (safetensors) to begin with; unset waits for the champion.",
    )
    run_hours: float = Field(
        default=48.0,
        validation_alias="RUN_HOURS",
        gt=0,
        description="A run ends after this much training; stops and what a kill lost do not count.",
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
        description="A checkpoint at least this often, besides the end of every epoch: the most "
        "training that a kill can cost. A run is first saved after its first iteration, and a "
        "young run whenever it has trained as long again.",
    )
    checkpoints_kept: int = Field(
        default=2,
        ge=1,
        description="Newest checkpoints kept of a run, on disk and in the models store; the one "
        "with the best evaluation stays too.",
    )
    stop_seconds: float = Field(
        default=40.0,
        gt=0,
        description="How long a run may take to save when it is stopped; then it is killed and "
        "resumes from the checkpoint before. It does not wait for games, but an update is finished "
        "first. Keep it below the grace period of whatever ends the service.",
        json_schema_extra=PER_SERVICE,
    )


class EvaluationSettings(BaseModel, frozen=True, extra="forbid"):
    """How a frozen policy is evaluated, and how often."""

    episodes: int = Field(
        default=8, ge=1, le=1000, description="Episodes an evaluation. More are surer and slower."
    )
    episode_length: int | None = Field(default=None, ge=1, json_schema_extra=INTERNAL)
    """Length at which its episodes are truncated, in steps of four frames. None: 15,000 (17
    minutes of game time, twice what the quest takes); 3,000 with the seed action set."""
    seed: int = Field(
        default=1_000, ge=0, description="Seed of its episodes: the same one plays the same starts."
    )
    greedy: bool = Field(
        default=False,
        description="Always take the likeliest action instead of drawing it, as training does. A "
        "greedy policy often walks into a wall for ever.",
    )


class RaySettings(BaseModel, frozen=True, extra="forbid", populate_by_name=True):
    """Where the training process runs, and on how many runners."""

    ray_workers: int = Field(
        default=3,
        validation_alias="RAY_WORKERS",
        ge=0,
        description="Environment runner processes, and workers of a quest's search; 0 does both "
        "inside the training process.",
    )
    ray_address: str | None = Field(
        default=None,
        validation_alias="RAY_ADDRESS",
        json_schema_extra=PER_SERVICE,
        description="Ray cluster: http://HEAD:8265 submits jobs to it, auto or HOST:6379 joins it "
        "from here. Unset starts a small one of the run's own.",
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
