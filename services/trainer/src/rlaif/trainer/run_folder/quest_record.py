"""What a run of mode `quest` has behind it: `quest.json` beside its record.

    search ──▶ demonstrations ──▶ policy

Seconds are those that the phases worked, over all attempts, as the time of a run is what its
checkpoints count: neither stops nor what a kill lost.
"""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rlaif.files.whole import write_whole
from rlaif.trainer.settings.quest import QuestSettings

FILE = "quest.json"
SEARCH_FOLDER = "search"
DEMONSTRATIONS_FOLDER = "demonstrations"

Phase = Literal["search", "demonstrations", "policy"]

SearchEnd = Literal["time", "quiet", "essence"]
"""Why a search is over: its minutes are, nothing new came for QUIET_MINUTES, or enough of its ways
end with an essence."""

LEAST_POLICY_SECONDS = 10.0
"""However long the phases before took, the policy is trained for so long."""


class QuestRecordError(Exception):
    """`quest.json` cannot be read; the message says why and what to do."""


class QuestRecord(BaseModel):
    """How far the phases before the policy are."""

    model_config = ConfigDict(frozen=True)

    format: Literal[1] = 1
    search_seconds: float = Field(default=0.0, ge=0)
    search_over: SearchEnd | None = Field(default=None, description="Null while it goes on.")
    demonstrations_seconds: float = Field(default=0.0, ge=0)
    demonstrations: int | None = Field(
        default=None, ge=0, description="How many were made; null while they are not all made."
    )

    @property
    def phase(self) -> Phase:
        """What the run does next."""
        if self.search_over is None:
            return "search"
        return "demonstrations" if self.demonstrations is None else "policy"

    @property
    def seconds(self) -> float:
        """What the phases before the policy took."""
        return self.search_seconds + self.demonstrations_seconds

    def policy_seconds(self, settings: QuestSettings) -> float:
        """How long the policy is trained, as far as it is known now."""
        return max(LEAST_POLICY_SECONDS, settings.minutes * 60 - self.seconds)

    @staticmethod
    def read(directory: Path) -> "QuestRecord":
        """Read it from a run's directory; a new one when there is none.

        Raises:
            QuestRecordError: It is there and cannot be read.
        """
        path = directory / FILE
        try:
            return QuestRecord.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return QuestRecord()
        except (OSError, ValidationError) as error:
            raise QuestRecordError(
                f"{path} cannot be read ({str(error).splitlines()[0]}): delete it to go through "
                "the phases again, or begin a new run"
            ) from error

    def write(self, directory: Path) -> None:
        """Write it; the file appears whole."""
        write_whole(directory / FILE, self.model_dump_json(indent=1).encode())


def search_end(
    settings: QuestSettings, *, seconds: float, seconds_since_new: float, with_essence: int
) -> SearchEnd | None:
    """Why the search is over now; None when it goes on.

    Args:
        settings: Of the run.
        seconds: It searched, over all attempts.
        seconds_since_new: Of these, since it last found a lasting mark that it had never seen.
        with_essence: Ways that it knows which end with an essence.
    """
    if with_essence >= settings.lineages:
        return "essence"
    if seconds >= min(settings.search_minutes, settings.minutes) * 60:
        return "time"
    return "quiet" if seconds_since_new >= settings.quiet_minutes * 60 else None
