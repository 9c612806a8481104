import pytest

from rlaif.judge.evidence.whereabouts import where_in_room


@pytest.mark.parametrize(
    ("at", "told"),
    [((80, 64), "middle part"), ((30, 30), "north-west part"), ((80, 30), "north part"),
     ((130, 100), "south-east part"), ((30, 64), "west part"),
     ((9, 70), "west part, at the west edge"), ((150, 70), "east part, at the east edge"),
     ((88, 5), "north part, at the north edge"), ((88, 120), "south part, at the south edge"),
     ((150, 5), "north-east part, at the north and east edge")],
)  # fmt: skip
def test_one_of_nine_parts_and_the_edges_that_are_near(at, told):
    assert where_in_room(at, large=False) == told


def test_a_large_room_has_larger_parts():
    assert where_in_room((150, 100), large=True) == "middle part"
    assert where_in_room((230, 170), large=True) == "south-east part, at the south and east edge"


@pytest.mark.parametrize("at", [(-40, -1), (255, 255), (10**9, 0)])
def test_a_position_outside_of_the_room_is_at_its_edge(at):
    assert "edge" in where_in_room(at, large=False)
