"""The settings of the exporter."""

from pathlib import Path
from typing import ClassVar

from pydantic import BaseModel, Field
from pydantic_settings import SettingsConfigDict

from rlaif.contracts.game.rates import FRAMES_PER_SECOND
from rlaif.service.settings import INTERNAL, ServiceSettings


class ReplaySettings(BaseModel, frozen=True, extra="forbid"):
    """Replay options and time limits."""

    png_interval_frames: ClassVar[int] = 30
    """Game frames between two pictures of a segment. The first and the last state are always kept.
    """
    film_pictures: ClassVar[int] = 600
    """Maximum pictures in a segment's film, one per emulator step: about 0.3 kB and 1 ms each.
    Longer segments skip steps evenly."""
    max_frames: ClassVar[int] = 216_000
    """Longest replay in game frames, prefix included: one hour of game time."""

    grace_seconds: float = Field(
        default=20.0,
        gt=0,
        description="Extra time for a replay, in seconds, beyond the duration of its frames at 60 "
        "per second. A replay that exceeds it is killed; after the second attempt the capture "
        "becomes a dead letter. Raise it on slow machines.",
    )

    def seconds(self, frames: int) -> float:
        """Time limit in seconds of a replay of this many game frames."""
        return self.grace_seconds + frames / FRAMES_PER_SECOND


class ExporterSettings(ServiceSettings):
    """Settings of the exporter."""

    model_config = SettingsConfigDict(env_prefix="EXPORTER_")

    port: int = Field(default=8082, ge=0, le=65535, description="TCP port to listen on.")
    rom_path: Path | None = Field(
        default=None,
        validation_alias="ROM_PATH",
        description="ROM to replay on, the trainer's; unset for the embedded game.",
    )
    replay: ReplaySettings = ReplaySettings()
    concurrency: int = Field(
        default=1,
        ge=1,
        le=64,
        description="Segments replayed concurrently; each uses one core and one process.",
    )
    keep_days: float | None = Field(
        default=None,
        ge=1,
        description="Days after which the states, observations, pictures and film of a segment are "
        "deleted. Its capture and score remain. Use more days than the longest judge outage. "
        "Unset: no deletion.",
    )
    ack_wait_seconds: float = Field(default=30.0, gt=0, json_schema_extra=INTERNAL)
    """Without a heartbeat for this long, a segment is delivered to another exporter."""
