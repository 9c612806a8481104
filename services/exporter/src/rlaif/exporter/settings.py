"""The settings of the exporter."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal, get_args

from pydantic import BaseModel, Field, field_validator
from pydantic_settings import SettingsConfigDict

from rlaif.contracts.catalog import STREAMS, spec_of
from rlaif.contracts.events import SegmentCaptured, SegmentExported, SegmentScored
from rlaif.contracts.game.rates import FRAMES_PER_SECOND
from rlaif.service.settings import INTERNAL, ServiceSettings

Kept = Literal["segments", "captures", "scores"]
"""Kinds of objects that may be deleted, in the order in which those of a segment are."""

_EVENTS = (SegmentCaptured, SegmentExported, SegmentScored)
EVENTS_DAYS = 1 + max(STREAMS[spec_of(each).stream].max_age.days for each in _EVENTS)
"""No stored event refers to a capture or a score of this age."""

_MAX_DAYS = 36_500


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
    keep_days: float | dict[Kept, float] | None = Field(
        default=None,
        description="Days after which the states, observations, pictures and film of a segment are "
        "deleted; use more than an outage of the judges lasts. To delete captures of scored "
        'segments, and then their scores, give an object: {"segments": 7, "captures": 31, '
        '"scores": 90}. Unset: no deletion.',
    )
    ack_wait_seconds: float = Field(default=30.0, gt=0, json_schema_extra=INTERNAL)
    """Without a heartbeat for this long, a segment is delivered to another exporter."""

    @property
    def days(self) -> Mapping[Kept, float]:
        """Days by kind; objects of other kinds are kept."""
        if isinstance(self.keep_days, dict):
            return self.keep_days
        return {} if self.keep_days is None else {"segments": self.keep_days}

    @field_validator("keep_days")
    @classmethod
    def _in_order(cls, given: float | dict[Kept, float] | None) -> float | dict[Kept, float] | None:
        days = given if isinstance(given, dict) else {"segments": given or 1.0}
        kinds: tuple[Kept, ...] = get_args(Kept)
        if not days or days.keys() != set(kinds[: len(days)]):
            raise ValueError("captures need segments, and scores need captures: set those as well")
        for kind, value in days.items():
            least = 1 if kind == "segments" else EVENTS_DAYS
            if not least <= value <= _MAX_DAYS:
                raise ValueError(f"{kind} can be kept for {least} to {_MAX_DAYS} days")
        return given
