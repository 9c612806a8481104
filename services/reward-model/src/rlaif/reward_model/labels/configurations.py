"""Chooses the judge configuration to learn from while an old and a new one both score.

Labels of different configurations are never mixed. During a rolling upgrade, judges of two
configurations score in turns; following the last scorer would discard the labels each time. So the
newer configuration is chosen once it has enough labels to train on, or once the older one has been
silent for a while. Everything is derived from the scores, so a restart gives the same answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel, Field


@dataclass(frozen=True)
class Activity:
    """Times of the first and last score, in seconds since 1970, and the number of labels.

    `labels` counts score objects while they have not been read.
    """

    first: float
    last: float
    labels: int


class ConfigStanding(BaseModel, frozen=True):
    """One judge configuration with scores in the store."""

    judge_config: str
    scores: int = Field(description="Known score objects.")
    labels: int = Field(description="Those kept as labels; 0 if it is not followed.")
    learned: bool = Field(description="Whether its labels are learned from now.")
    followed: bool = Field(description="Whether its labels are kept, learned from or not.")


def choose_config(
    activities: Mapping[str, Activity], *, enough: int, patience: float
) -> str | None:
    """The configuration to learn from; None without scores.

    Of those that scored in the last `patience` seconds before the newest score, the one that
    started last and has `enough` labels; if none has enough, the one that started first.
    """
    active = _active(activities, patience)
    ready = [name for name in active if activities[name].labels >= enough]
    return (ready or active)[0 if ready else -1] if active else None


def followed_configs(
    activities: Mapping[str, Activity], *, enough: int, patience: float
) -> list[str]:
    """The configuration to learn from, and the newest one that may replace it."""
    chosen = choose_config(activities, enough=enough, patience=patience)
    if chosen is None:
        return []
    return list(dict.fromkeys([chosen, _active(activities, patience)[0]]))


def _active(activities: Mapping[str, Activity], patience: float) -> list[str]:
    """Configurations that score now, the one that started last first."""
    now = max((item.last for item in activities.values()), default=0.0)
    active = [name for name, item in activities.items() if now - item.last <= patience]
    return sorted(active, key=lambda name: (-activities[name].first, name))
