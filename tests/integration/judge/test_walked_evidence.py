"""The evidence of the walkthrough of Seedling Vale: what it says at moments that are known."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from rlaif.contracts.game.names import SEEDLING_ROOMS
from rlaif.contracts.judging.evidence import Evidence
from rlaif.guides.guides import guide_of
from rlaif.judge.evidence.described import described
from rlaif.judge.evidence.ram_verdicts import ram_levels
from rlaif.judge.evidence.summary import summarise
from rlaif.testing.data.walkthrough import STEPS, Look, records, segments, walkthrough

INPUTS = Path(__file__).parents[3] / "libs/game/cartridge/walkthrough.json"


@dataclass(frozen=True)
class Walked:
    """The whole walkthrough."""

    looks: Sequence[Look]

    @property
    def segments(self) -> list[Evidence]:
        return [summarise(described(records(looks))) for looks in segments(self.looks)]

    def around(self, at: int) -> Evidence:
        """A segment with this look in its middle."""
        start = max(0, at - STEPS // 2)
        return summarise(described(records(self.looks[start : start + STEPS])))

    def gaining(self, item: str) -> Evidence:
        """A segment in whose middle an item comes."""
        had = [item in (*s["items"], *(s["dungeon_items"] or ())) for s in self.states]
        return self.around(had.index(True))

    def saying(self, text: str) -> Evidence:
        """A segment in whose middle a text opens."""
        return self.around([state["text"] for state in self.states].index(text))

    @property
    def states(self) -> list[dict[str, Any]]:
        return [look.state for look in self.looks]


@pytest.fixture(scope="module")
def walked() -> Walked:
    return Walked(tuple(walkthrough(INPUTS)))


@pytest.mark.parametrize(
    ("item", "place"),
    [("sword", "Fern's House"), ("shield", "Nut Shop"), ("shovel", "East Field"),
     ("bombs", "Nut Shop"), ("bracelet", "Quarry Cave"), ("rod_of_seasons", "Mossy Wood"),
     ("feather", "Windy Cave"), ("seed_satchel", "Mirror Pond"), ("flippers", "Ember Cave"),
     ("gnarled_key", "Lake Isle"), ("map", "Hop Hall"), ("compass", "Cross Hall"),
     ("boss_key", "Stone Vault")],
)  # fmt: skip
def test_each_item_of_the_quest_is_gained_where_the_guide_says(walked, item, place):
    evidence = walked.gaining(item)
    assert item in evidence.changes.items_gained
    assert place in evidence.rooms.places
    if item == "boss_key":
        assert (evidence.start.boss_key, evidence.end.boss_key) == (False, True)
    else:
        assert item not in evidence.start.items
        assert item in evidence.end.items
    assert ram_levels(evidence)["progress"] == 2


@pytest.mark.parametrize(
    ("text", "place"),
    [("My frog says: see Granny Fern, the red roof!", "Seedling"),
     ("Wooden shield, 20 coins?", "Nut Shop"),
     ("Field's yours to dig, I am tired. Keep what you find. Here, take my shovel!", "East Field"),
     ("I am the Wind of Seasons, small one. My rod obeys your hand now. It will turn the year.",
      "Mossy Wood"),
     ("The thorn key! It fits Gnarl's door.", "Stone Vault"),
     ("You found the Sun Seed! Its warmth runs through all of Seedling Vale.", "Seed Hall")],
)  # fmt: skip
def test_a_dialog_is_reported_with_its_place(walked, text, place):
    evidence = walked.saying(text)
    assert text in evidence.dialog.said
    assert place in evidence.rooms.places
    assert evidence.start.game == "seedling-vale"


def test_the_first_gift_is_reported_as_dialog_and_as_item(walked):
    evidence = walked.gaining("sword")
    gift, got = (text for text in evidence.dialog.said if "Blade" in text)
    assert gift.startswith("Pip! The seasons have lost their way.")
    assert gift.endswith("Take my Briar Blade and cut your own road.")
    assert got == "The Briar Blade! Press A to swing it."


def test_every_room_is_named_by_a_name_that_the_guide_knows(walked):
    # Before the first room is there, the game is in a room without a name for a moment.
    _, *later = walked.segments
    named = {place for evidence in later for place in evidence.rooms.places or ()}
    assert named == set(SEEDLING_ROOMS.values())
    assert [place for place in named if place not in guide_of("seedling-vale").text] == []


def test_who_goes_from_room_to_room_is_first_at_one_edge_and_then_at_the_other(walked):
    """From Seedling east to East Field, on foot."""
    crossed = next(
        at
        for at, (a, b) in enumerate(pairwise(walked.states))
        if (a["room"]["name"], b["room"]["name"]) == ("Seedling", "East Field")
    )
    evidence = summarise(described(records(walked.looks[crossed - 2 : crossed + 12])))
    assert str(evidence.start.where).endswith("at the east edge")
    assert str(evidence.end.where).startswith(("west", "north-west", "south-west"))


def test_every_text_of_the_walk_was_read_and_no_evidence_is_long(walked):
    for evidence in walked.segments:
        assert evidence.dialog.said is not None
        assert len(evidence.dialog.said) == min(4, evidence.dialog.texts)
        assert len(evidence.model_dump_json()) < 2600
    assert walked.segments[-1].end.essences == 1
