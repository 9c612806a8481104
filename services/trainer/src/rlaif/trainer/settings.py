"""Settings of the trainer. The names without a prefix are the seeds' own."""

from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from rlaif.service.settings import ServiceSettings


class TrainerSettings(ServiceSettings):
    """Everything that can be set about a run and the service around it."""

    model_config = SettingsConfigDict(env_prefix="TRAINER_")

    port: int = Field(default=8081, ge=0, le=65535, description="TCP port of the REST API.")
    data_dir: Path = Field(
        default=Path("var/trainer"), description="Where runs, spools and checkpoints are kept."
    )
    autostart: bool = Field(
        default=True, description="Start, or go on with, the newest run when the service starts."
    )

    rom_path: Path | None = Field(
        default=None,
        validation_alias="ROM_PATH",
        description="Your own Oracle of Seasons (US) ROM; unset plays the built-in cartridge.",
    )
    initial_state_path: Path | None = Field(
        default=None,
        description="Save state at which episodes start; unset starts at power-on.",
    )
    seed: int = Field(default=7, ge=0, description="Seed of environments, policy and selection.")
    run_hours: float = Field(
        default=48.0, gt=0, validation_alias="RUN_HOURS", description="A run ends after this long."
    )
    epoch_steps: int = Field(
        default=300_000,
        ge=1,
        validation_alias="EPOCH_STEPS",
        description="Environment steps between two checkpoints.",
    )
    episode_length: int = Field(
        default=30_000,
        ge=1,
        validation_alias="EPISODE_LENGTH",
        description="Decision steps after which an episode is truncated.",
    )
    ray_workers: int = Field(
        default=3,
        ge=0,
        validation_alias="RAY_WORKERS",
        description="Environment runner processes; 0 samples inside the training process.",
    )
    envs_per_worker: int = Field(
        default=1,
        ge=1,
        le=64,
        validation_alias="ENVS_PER_WORKER",
        description="Emulators a runner steps together. More cost memory, about 30 MB each.",
    )
    batch_size: int = Field(
        default=4096,
        ge=64,
        validation_alias="BATCH_SIZE",
        description="Environment steps an iteration. Larger is steadier and slower to react.",
    )
    minibatch_size: int = Field(
        default=512, ge=16, description="Samples a gradient step; at most the batch size."
    )
    epochs: int = Field(
        default=10, ge=1, le=64, description="Passes over each batch. More overfit the batch."
    )
    learning_rate: float = Field(
        default=5e-5, gt=0, description="Adam step size. Higher learns faster, then diverges."
    )
    gamma: float = Field(
        default=0.999,
        gt=0,
        lt=1,
        description="Discount a decision step; the seeds' 0.99 forgets a segment (ADR 0004).",
    )
    gae_lambda: float = Field(default=0.95, ge=0, le=1, description="Lambda of GAE.")
    clip: float = Field(default=0.2, gt=0, description="PPO ratio clip.")
    value_clip: float = Field(default=10.0, gt=0, description="Clip of the value loss.")
    entropy: float = Field(default=0.01, ge=0, description="Weight of the entropy bonus.")
    hidden: int = Field(default=256, ge=8, le=4096, description="Units of each policy layer.")
    frame_skip: int = Field(default=4, ge=1, le=60, description="Game frames a decision step.")
    reward_preset: Literal["seed", "default"] = Field(
        default="default", description="Reward weights: the seeds' own, or ours (ADR 0004)."
    )
    shaping_weight: float = Field(
        default=1.0,
        ge=0,
        description="Scale of the reward model's potential; 0 trains without it.",
    )
    noop_start: int = Field(
        default=30, ge=0, le=255, description="An episode starts with 0 to this many NOP steps."
    )

    explore_restarts: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="Share of episodes that start at an archived state of a seldom visited place; "
        "0 starts all of them at the beginning (ADR 0010).",
    )
    explore_swarm: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="Chance that an episode starts where another environment just reached a "
        "milestone. It fades from start to start; 0 never does.",
    )
    explore_states: int = Field(
        default=512, ge=16, description="Archived states a run keeps; 3 to 13 kB of disk each."
    )

    segment_frames: int = Field(
        default=300, ge=4, description="Game frames a segment; the seeds fix 300."
    )
    keyframe_steps: int = Field(
        default=600,
        ge=1,
        description="Longest replay before a segment; a save state costs about 30 ms.",
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
    watch_fps: float = Field(
        default=15.0,
        ge=0,
        le=60,
        description="Pictures a second of the watched environment; 0 shows none.",
    )

    @property
    def segment_steps(self) -> int:
        """Decision steps a segment."""
        return max(1, self.segment_frames // self.frame_skip)
