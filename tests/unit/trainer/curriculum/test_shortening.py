"""What may be cut out of a way, and what has to be left for the rest of it."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from rlaif.trainer.curriculum.belongings import Belongings, enough_for
from rlaif.trainer.curriculum.shortening import loops

AMOUNTS = st.integers(0, 99)
MOMENTS = st.lists(
    st.builds(
        Belongings,
        health=AMOUNTS,
        money=st.tuples(AMOUNTS, AMOUNTS),
        supplies=st.tuples(AMOUNTS, AMOUNTS, AMOUNTS),
    ),
    min_size=1,
    max_size=8,
)
ROOMS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3)), max_size=30)


@given(moments=MOMENTS)
def test_with_the_money_that_is_needed_the_rest_of_the_way_can_be_paid(
    moments: list[Belongings],
) -> None:
    needed = enough_for(moments).money
    for kind in range(2):
        left = [needed[kind] + each.money[kind] - moments[0].money[kind] for each in moments]
        assert min(left) >= 0
        # And no more than that is asked for, so what was found by chance need not be found again.
        assert min(left) == 0


@given(moments=MOMENTS)
def test_one_supply_of_each_kind_that_the_rest_takes_of_is_enough(
    moments: list[Belongings],
) -> None:
    for kind, needed in enumerate(enough_for(moments).supplies):
        had = [each.supplies[kind] for each in moments]
        assert needed == (1 if min(had) < had[0] else 0)


@given(moments=MOMENTS)
def test_what_the_way_itself_had_is_enough(moments: list[Belongings]) -> None:
    assert moments[0].cover(enough_for(moments))


@given(own=MOMENTS, least=MOMENTS)
def test_one_thing_too_few_is_not_enough(own: list[Belongings], least: list[Belongings]) -> None:
    def amounts(each: Belongings) -> Sequence[int]:
        return (each.health, *each.money, *each.supplies)

    pairs = zip(amounts(own[0]), amounts(least[0]), strict=True)
    assert own[0].cover(least[0]) == all(has >= needed for has, needed in pairs)


@given(rooms=ROOMS)
def test_a_loop_leaves_a_room_and_ends_in_it(rooms: list[tuple[int, int]]) -> None:
    found = loops(rooms)
    for out, back in found:
        assert rooms[out] == rooms[back]
        assert rooms[out + 1] != rooms[out]
        assert rooms[back - 1] != rooms[back]
    lengths = [back - out for out, back in found]
    assert lengths == sorted(lengths, reverse=True)


def test_every_way_out_of_a_room_and_back_is_a_loop() -> None:
    home, shop, yard = (0, 1), (0, 2), (0, 3)
    rooms = [home, home, shop, home, yard, yard, shop, home]
    #        0     1     2     3     4     5     6     7
    assert loops(rooms) == [(1, 7), (2, 6), (3, 7), (1, 3)]


def test_a_way_that_comes_to_no_room_twice_has_no_loop() -> None:
    assert loops([(0, room) for room in (1, 1, 2, 3, 3)]) == []
    assert loops([]) == []
