"""The settings of the exporter."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field
from pydantic_settings import SettingsConfigDict

from rlaif.contracts.films import MOST_PICTURES
from rlaif.service.settings import Block, ServiceSettings

FRAMES_PER_SECOND = 60
"""Of the Game Boy; an emulator that is at work plays many times as fast."""


class ReplaySettings(BaseModel, frozen=True, extra="forbid"):
    """How a capture is replayed, and how long that may take."""

    png_interval_frames: int = Field(
        default=30,
        ge=1,
        le=3600,
        description="Game frames (1/60 s) between two pictures of a segment; fewer cost more "
        "rendering and storage. The first and the last moment are always kept.",
    )
    film_pictures: int = Field(
        default=600,
        ge=0,
        le=MOST_PICTURES - 1,
        description="Pictures of a segment's film at most, one a decision step, for people who "
        "look at it: about 0.3 kB and 1 ms each. Fewer leave steps out evenly; 0 makes no films.",
    )
    max_frames: int = Field(
        default=216_000,
        ge=1,
        description="Longest replay in game frames, prefix included (216000: one hour of game); "
        "a longer capture is given up.",
    )
    grace_seconds: float = Field(
        default=20.0,
        gt=0,
        description="A replay that takes this many seconds longer than its frames take in the game "
        "(60 a second) counts as hung: its process is ended, and after a second try the capture "
        "is given up. Less frees the slot sooner, more bears a slower machine.",
    )

    def seconds(self, frames: int) -> float:
        """How long a replay of so many game frames may take."""
        return self.grace_seconds + frames / FRAMES_PER_SECOND


class ExporterSettings(ServiceSettings):
    """Which game is replayed, how many at once, and how many pictures are kept."""

    model_config = SettingsConfigDict(env_prefix="EXPORTER_")

    port: int = Field(default=8082, ge=0, le=65535, description="TCP port to listen on.")
    rom_path: Path | None = Field(
        default=None,
        validation_alias="ROM_PATH",
        description="ROM to replay on, the trainer's; unset for the embedded game.",
    )
    replay: Annotated[
        ReplaySettings,
        Block(
            names={
                "png_interval_frames": "png_interval_frames",
                "film_pictures": "film_pictures",
                "max_frames": "max_replay_frames",
            }
        ),
    ] = ReplaySettings()
    concurrency: int = Field(
        default=1,
        ge=1,
        le=64,
        description="Segments replayed at once; each takes one core and one process.",
    )
    ack_wait_seconds: float = Field(
        default=30.0,
        gt=0,
        description="After this long without a sign of life an exporter's segment goes to another, "
        "in seconds. Give all exporters the same. With NATS_MANAGE_STREAMS=false it is 30 s.",
    )
    startup_retry_seconds: float = Field(
        default=2.0, gt=0, description="Pause between tries to reach NATS and S3 at the start."
    )
