"""A run that finds its way by itself: how long it searches, and how long it takes in all."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from rlaif.service.settings import INTERNAL

DEFAULTS: dict[str, Any] = {
    "actions": "macros",
    "episode_length": 15_000,
    "ray_workers": 2,
    "envs_per_worker": 8,
    "explore": {"restarts": 0.0, "practice": 0.0},
    "ppo": {"normalize_values": False},
}
"""Defaults that mode `quest` changes. Two cores play; an episode is twice as long as the quest of
the built-in cartridge; the curriculum chooses all start states; its critic learned earlier without
running deviations (ADR 0029)."""


def with_defaults(given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by name or variable; in mode `quest` with its defaults where none is given."""
    if given.get("mode") != "quest":
        return dict(given)
    found = dict(given)
    for name, value in DEFAULTS.items():
        if isinstance(value, dict):
            own = found.get(name, {})
            if isinstance(own, Mapping):  # a block that is given whole has its own values
                found[name] = value | dict(own)
        elif name.upper() not in given:
            found.setdefault(name, value)
    return found


MIN_WHOLE = 64
"""Episodes of the whole way that say whether it is learned."""


class QuestSettings(BaseModel, frozen=True, extra="forbid"):
    """The phases of mode `quest`: search, demonstrations, policy."""

    minutes: float = Field(
        default=98.0,
        gt=0,
        description="Wall-clock minutes of a run in mode quest: search, demonstrations and "
        "training together, excluding start and saving. RUN_HOURS does not apply.",
    )
    search_minutes: float = Field(
        default=45.0,
        gt=0,
        description="Maximum minutes of search. More finds more trajectories but leaves less time "
        "to train.",
    )
    quiet_minutes: float = Field(
        default=10.0,
        gt=0,
        description="The search ends early after this many minutes without lasting progress.",
    )
    enough: float = Field(default=0.95, ge=0, le=1, json_schema_extra=INTERNAL)
    """The run ends early once this share of its last episodes from power-on, 64 with each runner,
    completed the quest. 0: it continues for all of `minutes`."""
    lineages: int = Field(default=5, ge=1, le=64, json_schema_extra=INTERNAL)
    """Trajectories that become demonstrations. The search ends once this many of them end with an
    essence."""

    def is_learned(self, whole: Sequence[bool]) -> bool:
        """Whether enough of the last episodes came to the end of the way; never of too few."""
        share = sum(whole) / len(whole) if len(whole) >= MIN_WHOLE else 0.0
        return 0 < self.enough <= share
