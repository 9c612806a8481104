"""Playing the story raises the expert's score monotonically, from power-on to the end.

The walkthrough also dies once and fetches four pieces of heart, which the quest does not need.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from rlaif.mock_llm.expert.progress import Known, quest_position

SEGMENT = 75
"""Decision steps of a segment."""

ITEMS = {
    "sword": 1, "shield": 3, "bombs": 5, "bracelet": 6, "rod_of_seasons": 7, "feather": 8,
    "seed_satchel": 9, "flippers": 10, "gnarled_key": 11, "dungeon_entered": 12, "small_key": 13,
    "second_key": 15, "boss_key": 16, "boss_beaten": 17,
}  # fmt: skip
"""Milestone of the game → the objective that it ends."""


@pytest.fixture(scope="module")
def quest_positions(walkthrough: list[Any]) -> list[Any]:
    """Where the expert has the player at each look."""
    found = [
        quest_position(look.moment, Known(lever=look.lever, boss_beaten=look.no_enemies))
        for look in walkthrough
    ]
    assert None not in found
    return found


def _ranks(values: Any) -> Any:
    """Ranks, equal values sharing their mean rank."""
    values = np.asarray(values)
    order = np.sort(values)
    first, last = np.searchsorted(order, values), np.searchsorted(order, values, side="right")
    return (first + last) / 2


def test_every_objective_is_the_next_one_until_its_milestone(
    walkthrough: list[Any], quest_positions: list[Any]
) -> None:
    for at, look in enumerate(walkthrough):
        for name in look.reached:
            if name in ITEMS:
                assert quest_positions[at - 1].objective == ITEMS[name], name
                assert quest_positions[at].objective == ITEMS[name] + 1, name
                # It is collected where the expert locates it.
                assert quest_positions[at - 1].distance <= 1, name


def test_every_leg_of_the_story_ends_higher_than_it_began(
    walkthrough: list[Any], quest_positions: list[Any]
) -> None:
    ends = [0, *(at for at, look in enumerate(walkthrough) if look.reached)]
    legs = [
        (walkthrough[end].reached, quest_positions[start].position, quest_positions[end].position)
        for start, end in pairwise(ends)
        if not set(walkthrough[end].reached) & DETOURS
    ]
    assert len(legs) == 25
    assert [names for names, start, end in legs if end <= start] == []


DETOURS = {"heart_piece", "map", "north_door", "vault_door"}
"""Milestones at which a leg does not end higher: a piece of heart and the map lie aside, and of a
key that has just been used up a single state does not show which door it opened."""


def test_the_position_rises_with_the_time(quest_positions: list[Any]) -> None:
    positions = [found.position for found in quest_positions]
    ranks = _ranks(positions)
    correlation = np.corrcoef(ranks, np.arange(len(ranks)))[0, 1]
    assert correlation >= 0.995  # 0.999 when this was written
