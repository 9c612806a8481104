"""Who has a sword on a button strikes at what comes near, and else does what was asked."""

from collections.abc import Callable

import pytest

from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import TILE_STRIDE, address
from rlaif.game.skills.defence import Defended
from rlaif.game.skills.script import Choice

MakeRam = Callable[..., RamBlocks]
Write = tuple[str | int, int | bytes]
X, Y = 72, 56
SLIME, BUTTERFLY = 0x34, 0x37
HOLE, MEADOW = 0xF3, 0x02
FACES_DOWN, SWORD_ON_A = ("w1Link.direction", 2), ("wInventoryA", 0x05)
HERE: tuple[Write, ...] = (("w1Link.xh", X), ("w1Link.yh", Y), FACES_DOWN, SWORD_ON_A)


class Walks:
    """An option that always goes left, and counts how often it was asked."""

    asked = 0

    def next(self, ram: RamBlocks) -> Choice:
        self.asked += 1
        return Choice("running", Action.LEFT)


def enemy(dx: int, dy: int, *, kind: int = SLIME, health: int = 2) -> tuple[Write, ...]:
    places = ((0xD080, 1), (0xD081, kind), (0xD08B, Y + dy), (0xD08D, X + dx), (0xD0A9, health))
    return tuple(places)


@pytest.mark.parametrize(
    ("dx", "dy", "direction"),
    [(0, -20, Action.UP), (-20, 5, Action.LEFT), (24, -8, Action.RIGHT), (8, 20, Action.DOWN)],
)
def test_the_player_turns_to_an_enemy_within_reach_and_strikes(
    make_ram: MakeRam, dx: int, dy: int, direction: Action
) -> None:
    option = Defended(walks := Walks())
    faces = {Action.UP: 0, Action.RIGHT: 1, Action.DOWN: 2, Action.LEFT: 3}[direction]
    if faces != FACES_DOWN[1]:
        assert option.next(make_ram(*HERE, *enemy(dx, dy))).action == direction
    turned = make_ram(*HERE, *enemy(dx, dy), ("w1Link.direction", faces))
    assert option.next(turned).action == Action.A
    swings = make_ram(*HERE, *enemy(dx, dy), ("wLinkUsingItem1", 1))
    assert option.next(swings).action == Action.NOP
    assert walks.asked == 0
    assert option.next(make_ram(*HERE)).action == Action.LEFT


@pytest.mark.parametrize(
    "writes",
    [
        enemy(0, 40),  # too far
        enemy(16, 16),  # askew
        enemy(0, 20, kind=BUTTERFLY),
        enemy(0, 20, health=0),
        (*enemy(0, 20), ("wInventoryA", 0x03)),  # no sword at hand
        (*enemy(0, 20), ("wLinkGrabState", 0x83)),  # carries something
        (*enemy(0, 20), ("wLinkInAir", 2)),
        (*enemy(0, 20), ("wLinkSwimmingState", 1)),
        (*enemy(0, 20), ("wTextIsActive", 1)),
        (*enemy(0, 20), (0xD700, 1), (0xD701, 0x03)),  # a bomb burns: away from it
    ],
    ids=repr,
)
def test_otherwise_the_player_walks_on(make_ram: MakeRam, writes: tuple[Write, ...]) -> None:
    assert Defended(Walks()).next(make_ram(*HERE, *writes)).action == Action.LEFT


@pytest.mark.parametrize(("ground", "action"), [(HOLE, Action.LEFT), (MEADOW, Action.RIGHT)])
def test_the_player_turns_round_on_firm_ground_only(
    make_ram: MakeRam, ground: int, action: Action
) -> None:
    """One step to the right is the next tile."""
    tile = 3 * TILE_STRIDE + 5
    ram = make_ram(
        *HERE,
        ("w1Link.xh", 77),
        *enemy(20, 0),
        (address("wRoomLayout") + tile, ground),
        (address("wRoomCollisions") + tile, 0x10 if ground == HOLE else 0),
    )
    assert Defended(Walks()).next(ram).action == action


def test_what_no_stroke_kills_is_left_alone_in_the_end(make_ram: MakeRam) -> None:
    option, ram = Defended(Walks()), make_ram(*HERE, *enemy(0, 20))
    actions = [option.next(ram).action for _ in range(100)]
    strokes = actions.count(Action.A)
    assert 1 < strokes < 30
    assert actions[strokes:] == [Action.LEFT] * (100 - strokes)
