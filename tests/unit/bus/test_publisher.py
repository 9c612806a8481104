"""Ids of events that are published again."""

import pytest

from rlaif.bus.publisher import again_id


@pytest.mark.parametrize("mark", ["", "#again-2", "#redrive-3", "#repair-1764290000"])
def test_an_event_that_is_published_again_keeps_its_own_id_and_the_last_mark(mark):
    assert again_id(f"captured:segment-1{mark}", 7) == "captured:segment-1#again-7"


@pytest.mark.parametrize("event_id", ["a#b", "#again-", "x#redrive-1#b", "x#other-1"])
def test_other_characters_are_part_of_the_id(event_id):
    assert again_id(event_id, 7) == f"{event_id}#again-7"
