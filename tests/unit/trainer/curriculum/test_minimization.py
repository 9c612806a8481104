"""Loops that may be removed from a trajectory."""

from hypothesis import given
from hypothesis import strategies as st

from rlaif.trainer.curriculum.minimization import loops

ROOMS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3)), max_size=30)


@given(rooms=ROOMS)
def test_a_loop_leaves_a_room_and_ends_in_it(rooms: list[tuple[int, int]]) -> None:
    found = loops(rooms)
    for out, back in found:
        assert rooms[out] == rooms[back]
        assert rooms[out + 1] != rooms[out]
        assert rooms[back - 1] != rooms[back]
    lengths = [back - out for out, back in found]
    assert lengths == sorted(lengths, reverse=True)


def test_each_departure_with_return_is_a_loop() -> None:
    home, shop, yard = (0, 1), (0, 2), (0, 3)
    rooms = [home, home, shop, home, yard, yard, shop, home]
    #        0     1     2     3     4     5     6     7
    assert loops(rooms) == [(1, 7), (2, 6), (3, 7), (1, 3)]
