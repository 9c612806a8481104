"""The settings of the exporter."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from rlaif.service.settings import ServiceSettings


class ExporterSettings(ServiceSettings):
    """Which game is replayed, how many at once, and how many pictures are kept."""

    model_config = SettingsConfigDict(env_prefix="EXPORTER_")

    port: int = Field(default=8082, ge=0, le=65535, description="TCP port to listen on.")
    rom_path: Path | None = Field(
        default=None,
        validation_alias="ROM_PATH",
        description="ROM to replay on, the trainer's; unset for the embedded game.",
    )
    png_interval_frames: int = Field(
        default=30,
        ge=1,
        le=3600,
        description="Game frames (1/60 s) between two pictures of a segment; fewer cost more "
        "rendering and storage. The first and the last moment are always kept.",
    )
    concurrency: int = Field(
        default=1,
        ge=1,
        le=64,
        description="Segments replayed at once; each takes one core and one process.",
    )
    max_replay_frames: int = Field(
        default=216_000,
        ge=1,
        description="Longest replay in game frames, prefix included (216000: one hour of game); "
        "a longer capture is given up.",
    )
    replay_grace_seconds: float = Field(
        default=20.0,
        gt=0,
        description="A replay that takes this many seconds longer than its frames take in the game "
        "(60 a second) counts as hung: its process is ended, and after a second try the capture "
        "is given up. Less frees the slot sooner, more bears a slower machine.",
    )
    ack_wait_seconds: float = Field(
        default=30.0,
        gt=0,
        description="After this long without a sign of life an exporter's segment goes to another, "
        "in seconds. Give all exporters the same.",
    )
    startup_retry_seconds: float = Field(
        default=2.0, gt=0, description="Pause between tries to reach NATS and S3 at the start."
    )
