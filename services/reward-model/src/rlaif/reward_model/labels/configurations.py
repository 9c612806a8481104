"""Which judge configuration is learned from, while an old one and a new one both score.

Labels of different configurations are never mixed. During a rolling upgrade two replicas of the
judge score by two configurations in turns; to follow whichever scored last would throw the labels
away at every turn. So the newer one takes over once it has enough labels to train on, or once the
older one has been silent for a while. Everything is measured on the scores themselves, so a restart
comes to the same answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel, Field


@dataclass(frozen=True)
class Activity:
    """When a configuration scored, in seconds since 1970, and how much it gave.

    Attributes:
        labels: Its labels; its score objects while they have not been read.
    """

    began: float
    last: float
    labels: int


class ConfigStanding(BaseModel, frozen=True):
    """One judge configuration whose scores are in the store."""

    judge_config: str
    scores: int = Field(description="Score objects that are known.")
    labels: int = Field(description="Those that are kept as labels; 0 when it is not followed.")
    learned: bool = Field(description="Whether its labels are learned from now.")
    followed: bool = Field(description="Whether its labels are kept, learned from or not.")


def choose_config(
    activities: Mapping[str, Activity], *, enough: int, patience: float
) -> str | None:
    """The configuration to learn from; None when none has scored.

    Of those that scored in the last `patience` seconds before the newest score, the one that began
    last and has `enough` labels; when none has enough, the one that began first.
    """
    active = _active(activities, patience)
    ready = [name for name in active if activities[name].labels >= enough]
    return (ready or active)[0 if ready else -1] if active else None


def followed_configs(
    activities: Mapping[str, Activity], *, enough: int, patience: float
) -> list[str]:
    """The one to learn from, and the newest that may take over from it: one or two, or none."""
    chosen = choose_config(activities, enough=enough, patience=patience)
    if chosen is None:
        return []
    return list(dict.fromkeys([chosen, _active(activities, patience)[0]]))


def _active(activities: Mapping[str, Activity], patience: float) -> list[str]:
    """Those that score now, the one that began last first."""
    now = max((item.last for item in activities.values()), default=0.0)
    active = [name for name, item in activities.items() if now - item.last <= patience]
    return sorted(active, key=lambda name: (-activities[name].began, name))
