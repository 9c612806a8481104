"""Completed phases of a run of mode `quest`: `quest.json` beside its record.

    search ──▶ demonstrations ──▶ policy

Seconds are those of the phases over all attempts, without pauses and work lost to crashes.
"""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rlaif.files.whole import write_whole
from rlaif.trainer.settings.run import QuestSettings

FILE = "quest.json"
SEARCH_FOLDER = "search"
DEMONSTRATIONS_FOLDER = "demonstrations"

Phase = Literal["search", "demonstrations", "policy"]

SearchEnd = Literal["time", "quiet", "essence"]
"""Why a search ended: its time, QUIET_MINUTES without a discovery, or enough trajectories to an
essence."""

MIN_POLICY_SECONDS = 10.0
"""Minimum training time of the policy, whatever the earlier phases took."""


class QuestRecordError(Exception):
    """`quest.json` cannot be read."""


class QuestRecord(BaseModel):
    """Progress of the phases before the policy."""

    model_config = ConfigDict(frozen=True)

    format: Literal[1] = 1
    search_seconds: float = Field(default=0.0, ge=0)
    search_over: SearchEnd | None = Field(default=None, description="Null while it searches.")
    demonstrations_seconds: float = Field(default=0.0, ge=0)
    demonstrations: int | None = Field(default=None, ge=0)
    """Their number; null until all are created."""

    @property
    def phase(self) -> Phase:
        if self.search_over is None:
            return "search"
        return "demonstrations" if self.demonstrations is None else "policy"

    @property
    def seconds(self) -> float:
        return self.search_seconds + self.demonstrations_seconds

    def policy_seconds(self, settings: QuestSettings) -> float:
        """Training time of the policy in seconds, given the duration of the earlier phases."""
        return max(MIN_POLICY_SECONDS, settings.minutes * 60 - self.seconds)

    @staticmethod
    def read(directory: Path) -> "QuestRecord":
        """Read it from a run's directory; return a new one if there is no file.

        Raises:
            QuestRecordError: The file cannot be read.
        """
        path = directory / FILE
        try:
            return QuestRecord.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return QuestRecord()
        except (OSError, ValidationError) as error:
            raise QuestRecordError(
                f"{path} cannot be read ({str(error).splitlines()[0]}): delete it to repeat "
                "the phases, or start a new run"
            ) from error

    def write(self, directory: Path) -> None:
        write_whole(directory / FILE, self.model_dump_json(indent=1).encode())


def search_end(
    settings: QuestSettings, *, seconds: float, seconds_since_new: float, with_essence: int
) -> SearchEnd | None:
    """Return why the search ends now; None while it continues.

    Args:
        settings: Settings of the run.
        seconds: Duration of the search, over all attempts.
        seconds_since_new: Seconds of search since the last new permanent flag.
        with_essence: Number of trajectories that end with an essence.
    """
    if with_essence >= settings.lineages:
        return "essence"
    if seconds >= min(settings.search_minutes, settings.minutes) * 60:
        return "time"
    return "quiet" if seconds_since_new >= settings.quiet_minutes * 60 else None
