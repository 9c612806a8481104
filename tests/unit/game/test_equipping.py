"""Getting an item onto a button, in inventories as both games have them."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlaif.contracts.game.items import NAMED_ITEMS
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.skills.equip import equip
from rlaif.game.skills.script import GiveUp

MakeRam = Callable[..., RamBlocks]
NAMES = ("sword", "bombs", "rod_of_seasons", "shovel", "feather", "seed_satchel", "slingshot")
IDS = [NAMED_ITEMS[name] for name in NAMES]
SEED_ITEMS = (NAMED_ITEMS["seed_satchel"], NAMED_ITEMS["slingshot"])
STEPS_TO_OPEN = 3  # and to close
MAX_STEPS = 150


class Inventory:
    """Sixteen cells in lines of four under an invisible cursor; START opens and closes it.

    With `lines` of 1 the cursor stays in the first line, as on the cartridge; with `asks` satchel
    and slingshot want to know which seeds, as in Oracle of Seasons.
    """

    def __init__(self, cells: list[int], cursor: int, *, lines: int, asks: bool) -> None:
        self.b, self.a, self.stored = cells[0], cells[1], [*cells[2:], *[0] * (18 - len(cells))]
        self.cursor, self.lines, self.asks = cursor, lines, asks
        self.open = self.asking = False
        self.works = True
        self._busy = 0
        self._held = self._button = Action.NOP

    def press(self, action: Action) -> None:
        fresh, self._held = action != self._held, action
        if self._busy:
            self._busy -= 1
            self.open ^= not self._busy
        elif fresh and action == Action.START and self.works:
            self._busy = STEPS_TO_OPEN
        elif fresh and self.open:
            self._choose(action)

    def _choose(self, action: Action) -> None:
        line, column = divmod(self.cursor, 4)
        if self.asking:
            if action == Action.A:
                self._swap(self._button)
                self.asking = False
            return
        if action in (Action.A, Action.B):
            self._button = action
            self.asking = self.asks and self.stored[self.cursor] in SEED_ITEMS
            if not self.asking:
                self._swap(action)
        column += (action == Action.RIGHT) - (action == Action.LEFT)
        line += (action == Action.DOWN) - (action == Action.UP)
        self.cursor = line % self.lines * 4 + column % 4

    def _swap(self, button: Action) -> None:
        new = self.stored[self.cursor]
        if button == Action.A:
            self.a, self.stored[self.cursor] = new, self.a
        else:
            self.b, self.stored[self.cursor] = new, self.b

    def ram(self, make_ram: MakeRam) -> RamBlocks:
        owned = bytearray(16)
        for item in IDS:
            owned[item >> 3] |= 1 << (item & 7)
        return make_ram(
            ("wInventoryB", self.b),
            ("wInventoryA", self.a),
            ("wInventoryStorage", bytes(self.stored)),
            ("wObtainedTreasureFlags", bytes(owned)),
            ("wOpenedMenuType", int(self.open or self._busy > 0)),
            ("wMenuLoadState", int(self.open and not self._busy)),
            ("wMenuActiveState", 2 if self.asking else int(self.open)),
        )


def _equip(inventory: Inventory, make_ram: MakeRam, name: str) -> Action:
    script = equip(inventory.ram(make_ram), name)
    try:
        action = next(script)
        for _ in range(MAX_STEPS):
            inventory.press(action)
            action = script.send(inventory.ram(make_ram))
    except StopIteration as end:
        button: Action = end.value[0]
        return button
    raise AssertionError("it never ends")


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    items=st.permutations([*IDS, 0, 0, 0]).map(lambda cells: cells[:9]),
    cursor=st.integers(0, 15),
    name=st.sampled_from(NAMES),
    oracle=st.booleans(),
)
def test_whatever_lies_where_the_item_comes_onto_a_button_and_nothing_is_lost(
    make_ram: MakeRam, items: list[int], cursor: int, name: str, oracle: bool
) -> None:
    cells = [*items, 0] if oracle else items[:6]
    inventory = Inventory(
        cells, cursor if oracle else cursor % 4, lines=4 if oracle else 1, asks=oracle
    )
    wanted = NAMED_ITEMS[name]
    if wanted not in cells:
        with pytest.raises(GiveUp, match="cannot be put on a button"):
            _equip(inventory, make_ram, name)
        return
    before = (inventory.a, inventory.b)
    button = _equip(inventory, make_ram, name)
    assert {Action.A: inventory.a, Action.B: inventory.b}[button] == wanted
    assert not inventory.open
    after = [inventory.a, inventory.b, *inventory.stored]
    assert sorted(filter(None, after)) == sorted(filter(None, cells))
    if NAMED_ITEMS["sword"] in before:
        assert NAMED_ITEMS["sword"] in (inventory.a, inventory.b)
    if wanted in before:
        assert (inventory.a, inventory.b) == before


def test_seeds_mean_the_satchel_with_them(make_ram: MakeRam) -> None:
    inventory = Inventory([0, IDS[0], *IDS[1:]], 2, lines=4, asks=True)
    _equip(inventory, make_ram, "ember_seeds")
    assert inventory.b == NAMED_ITEMS["seed_satchel"]


def test_an_inventory_that_does_not_open_is_given_up(make_ram: MakeRam) -> None:
    inventory = Inventory([*IDS], 0, lines=4, asks=False)
    inventory.works = False
    with pytest.raises(GiveUp, match="does not open"):
        _equip(inventory, make_ram, NAMES[3])


def test_what_is_not_owned_opens_no_inventory(make_ram: MakeRam) -> None:
    with pytest.raises(GiveUp, match="not owned"):
        next(equip(make_ram(), "feather"))
