"""Required inventories, and loops that may be removed."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from rlaif.trainer.curriculum.minimization import loops
from rlaif.trainer.curriculum.verification import Inventory, sufficient_inventory

AMOUNTS = st.integers(0, 99)
MOMENTS = st.lists(
    st.builds(
        Inventory,
        health=AMOUNTS,
        money=st.tuples(AMOUNTS, AMOUNTS),
        supplies=st.tuples(AMOUNTS, AMOUNTS, AMOUNTS),
    ),
    min_size=1,
    max_size=8,
)
ROOMS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3)), max_size=30)


@given(moments=MOMENTS)
def test_the_money_spent_on_the_rest_is_required(
    moments: list[Inventory],
) -> None:
    needed = sufficient_inventory(moments).money
    for kind in range(2):
        left = [needed[kind] + each.money[kind] - moments[0].money[kind] for each in moments]
        assert min(left) >= 0
        # Nothing beyond that is required, so items found by chance need not be found again.
        assert min(left) == 0


@given(moments=MOMENTS)
def test_one_of_each_used_supply_is_required(
    moments: list[Inventory],
) -> None:
    for kind, needed in enumerate(sufficient_inventory(moments).supplies):
        had = [each.supplies[kind] for each in moments]
        assert needed == (1 if min(had) < had[0] else 0)


@given(moments=MOMENTS)
def test_the_original_inventory_is_sufficient(moments: list[Inventory]) -> None:
    assert moments[0].cover(sufficient_inventory(moments))


@given(own=MOMENTS, least=MOMENTS)
def test_one_item_less_is_insufficient(own: list[Inventory], least: list[Inventory]) -> None:
    def amounts(each: Inventory) -> Sequence[int]:
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


def test_each_departure_with_return_is_a_loop() -> None:
    home, shop, yard = (0, 1), (0, 2), (0, 3)
    rooms = [home, home, shop, home, yard, yard, shop, home]
    #        0     1     2     3     4     5     6     7
    assert loops(rooms) == [(1, 7), (2, 6), (3, 7), (1, 3)]


def test_a_trajectory_without_repeated_rooms_has_no_loop() -> None:
    assert loops([(0, room) for room in (1, 1, 2, 3, 3)]) == []
    assert loops([]) == []
