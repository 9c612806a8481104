"""The route of walk.py: the story of Seedling Vale, deed by deed.

Tiles are (row, column). Every `visit` names a milestone; the test of the
walkthrough looks for the same ones in RAM.
"""

from __future__ import annotations

from collections.abc import Callable

from walker import (
    DOWN,
    ITEM_BOMB,
    ITEM_ROD,
    ITEM_SATCHEL,
    ITEM_SHOVEL,
    LEFT,
    RIGHT,
    STEP,
    UP,
    LostError,
    Walker,
    distances,
)  # fmt: skip

Visit = Callable[[Walker, str], None]
ATTEMPTS = 20
SPRING, SUMMER, AUTUMN, WINTER = range(4)


def season(w: Walker, wanted: int, direction: str) -> None:
    """Swing the rod at the stump until it is the wanted season."""
    for _ in range(4):
        if w.u8("wRoomStateModifier") == wanted:
            return
        w.use(ITEM_ROD, direction, 20)
    raise LostError(f"season {wanted} does not come in {w.room}")


def cut(w: Walker, row: int, column: int, direction: str) -> None:
    """From a tile, cut the bush beside it."""
    w.go(row, column)
    w.act(direction)


def deed(w: Walker, visit: Visit, name: str, row: int, column: int, direction: str = UP) -> None:
    """From a tile, talk to or open what is beside it, and visit the milestone."""
    w.go(row, column)
    w.act(direction)
    visit(w, name)


def enter(w: Walker, visit: Visit, name: str, direction: str, row: int, column: int) -> None:
    """By a tile into the next room, and visit the milestone."""
    w.leave(direction, row, column)
    visit(w, name)


def change(w: Walker, row: int, column: int, item: int, direction: str, wait: int = 14) -> None:
    """From a tile, use an item on the one beside it until that one changes."""
    dy, dx = STEP[direction]
    before = w.index(row + dy, column + dx)
    for _ in range(8):
        w.go(row, column)
        w.use(item, direction, wait)
        if w.index(row + dy, column + dx) != before:
            return
    raise LostError(f"item {item:02X} changes nothing {direction} of {row},{column} in {w.room}")


def dig(w: Walker, row: int, column: int, direction: str) -> None:
    """Dig the soil of a tile and take what was in it."""
    dy, dx = STEP[direction]
    change(w, row - dy, column - dx, ITEM_SHOVEL, direction)
    w.press("NOP", 4)
    w.go(row, column)
    w.settle()


def begin(w: Walker, visit: Visit) -> None:
    w.press("NOP", 118)
    visit(w, "title")
    w.tap("START", 60)
    w.settle()
    visit(w, "village")
    deed(w, visit, "child", 6, 3, LEFT)
    enter(w, visit, "house", UP, 4, 2)
    deed(w, visit, "blade", 3, 5)
    w.act(UP)
    w.leave(DOWN, 6, 4)


def death(w: Walker, visit: Visit) -> None:
    """Into the meadow, and stand still until the beetles have won."""
    cut(w, 4, 2, LEFT)
    enter(w, visit, "meadow", LEFT, 4, 0)
    w.go(4, 4, fight=False)
    for _ in range(6000):
        if w.u8("wLinkDeathTrigger"):
            break
        w.settle()
        foe = min(w.enemies(), key=w.steps_to)
        spot = foe.y >> 4, foe.x >> 4
        button = w.heading(spot) if spot in distances(w.tile, w.free) else None
        w.press(button or "NOP")
    else:
        raise LostError("nobody could kill him")
    w.press("NOP", 90)
    visit(w, "game over")
    for _ in range(40):
        if w.has_control() and not w.u8("wGameOverScreenTrigger"):
            break
        w.tap("A", 20)
    w.settle()
    visit(w, "continued")


def orchard(w: Walker, visit: Visit) -> None:
    cut(w, 4, 2, LEFT)
    w.leave(LEFT, 4, 0)
    w.fight()
    w.collect()
    w.go(1, 1)
    enter(w, visit, "orchard", UP, 0, 2)
    w.fight()
    w.collect()
    cut(w, 4, 4, UP)
    deed(w, visit, "orchard chest", 2, 4)
    w.leave(DOWN, 7, 2)
    w.leave(RIGHT, 4, 9)


def shop(w: Walker, visit: Visit) -> None:
    """The shield: first No, then Yes."""
    w.go(4, 2)
    enter(w, visit, "shop", UP, 4, 7)
    w.go(4, 3)
    w.face(UP)
    w.press("NOP", 2)
    w.press("A", 2)
    w.press("NOP", 30)
    visit(w, "shop choice")
    w.tap(RIGHT, 10)
    w.tap("A", 20)
    w.settle()
    w.press("NOP", 4)
    w.press("A", 2)
    w.press("NOP", 30)
    w.tap("A", 20)
    w.settle()
    if not w.owns(0x01):
        raise LostError("no shield was bought")
    visit(w, "shield")
    w.leave(DOWN, 6, 4)


def farmer(w: Walker, visit: Visit) -> None:
    cut(w, 4, 7, RIGHT)
    enter(w, visit, "east field", RIGHT, 4, 9)
    deed(w, visit, "shovel", 4, 4, LEFT)
    dig(w, 2, 6, RIGHT)
    dig(w, 1, 7, UP)
    dig(w, 2, 8, RIGHT)
    dig(w, 2, 1, UP)
    dig(w, 2, 2, RIGHT)
    visit(w, "dug")
    w.go(4, 1)
    w.leave(LEFT, 5, 0)


def bombs(w: Walker, visit: Visit) -> None:
    w.go(4, 8)
    if not w.free(4, 8):
        raise LostError("bush")
    w.leave(UP, 4, 7)
    w.go(4, 5)
    w.face(UP)
    w.press("NOP", 2)
    w.press("A", 2)
    w.press("NOP", 30)
    w.tap("A", 20)
    w.settle()
    if not w.owns(0x03):
        raise LostError("no bombs were bought")
    visit(w, "bombs")
    w.leave(DOWN, 6, 4)


def quarry(w: Walker, visit: Visit) -> None:
    cut(w, 4, 7, RIGHT)
    w.leave(RIGHT, 4, 9)
    enter(w, visit, "stone stair", UP, 0, 4)
    w.fight()
    w.go(2, 4)
    w.use(ITEM_BOMB, UP)
    w.go(5, 5, fight=False)
    for _ in range(200):
        if w.index(1, 4) == 0xE8:
            break
        w.strike() or w.press("NOP")
    visit(w, "bomb")
    enter(w, visit, "quarry cave", UP, 2, 4)
    w.fight()
    w.press("NOP", 20)
    w.collect()
    deed(w, visit, "bracelet", 3, 4)
    w.leave(DOWN, 6, 4)


def shrine(w: Walker, visit: Visit) -> None:
    w.leave(DOWN, 7, 4)
    w.leave(LEFT, 4, 0)
    if not w.free(4, 8):
        cut(w, 4, 9, LEFT)
    w.go(4, 6)
    enter(w, visit, "south lane", DOWN, 7, 5)
    w.leave(UP, 4, 2)
    deed(w, visit, "elder", 3, 4)
    w.leave(DOWN, 6, 4)
    w.go(4, 2)
    w.face(LEFT)
    w.tap("A", 10)
    visit(w, "carrying")
    w.tap("A", 30)
    enter(w, visit, "rod", LEFT, 4, 0)
    w.go(5, 4)
    season(w, SUMMER, LEFT)
    visit(w, "summer")
    w.leave(RIGHT, 5, 9)


def feather(w: Walker, visit: Visit) -> None:
    if not w.free(4, 1):
        w.face(RIGHT)
        w.tap("A", 10)
        w.tap("A", 30)
    w.go(4, 5)
    w.leave(UP, 0, 5)
    w.go(3, 4)
    for _ in range(2):
        if not w.free(1, 4):
            cut(w, 2, 4, UP)
    w.leave(UP, 0, 4)
    w.fight()
    enter(w, visit, "vine cliff", UP, 0, 7)
    w.go(2, 3)
    enter(w, visit, "windy ridge", RIGHT, 1, 9)
    w.leave(UP, 1, 6)
    w.fight()
    deed(w, visit, "feather", 2, 7)
    w.jump(3, 4, LEFT)
    visit(w, "jumped")
    w.go(3, 1)
    w.settle()
    visit(w, "heart piece")
    w.jump(3, 2, RIGHT)
    w.leave(DOWN, 6, 4)
    w.leave(LEFT, 1, 0)
    w.go(2, 3)
    w.leave(DOWN, 7, 7)


def satchel(w: Walker, visit: Visit) -> None:
    w.go(6, 4)
    season(w, AUTUMN, LEFT)
    visit(w, "autumn")
    season(w, WINTER, LEFT)
    visit(w, "winter")
    w.fight()
    deed(w, visit, "satchel", 3, 4)


def hollow(w: Walker, visit: Visit) -> None:
    """Winter and the shovel: a piece of heart beyond the holes."""
    w.leave(LEFT, 4, 0)
    w.fight()
    change(w, 2, 6, ITEM_SHOVEL, UP)
    enter(w, visit, "frost hollow", UP, 0, 6)
    w.fight()
    w.jump(4, 4, LEFT)
    deed(w, visit, "second piece", 4, 1)
    w.jump(4, 2, RIGHT)
    w.leave(DOWN, 7, 6)
    change(w, 0, 6, ITEM_SHOVEL, DOWN)
    w.leave(RIGHT, 4, 9)
    w.leave(DOWN, 7, 4)
    w.leave(DOWN, 7, 5)


def flippers(w: Walker, visit: Visit) -> None:
    w.go(5, 5)
    dig(w, 6, 8, RIGHT)
    visit(w, "third piece")
    w.go(5, 5)
    season(w, AUTUMN, RIGHT)
    w.go(4, 7)
    w.face(RIGHT)
    w.tap("A", 10)
    w.tap("A", 30)
    enter(w, visit, "dry hollow", RIGHT, 4, 9)
    w.fight()
    change(w, 4, 5, ITEM_SATCHEL, UP, 40)
    change(w, 3, 5, ITEM_SATCHEL, UP, 40)
    visit(w, "burnt")
    enter(w, visit, "ember cave", UP, 2, 5)
    w.fight()
    for row, column, direction in ((1, 2, LEFT), (1, 7, RIGHT), (5, 7, RIGHT), (5, 2, LEFT)):
        change(w, row, column, ITEM_SATCHEL, direction, 40)
    visit(w, "torches")
    deed(w, visit, "flippers", 3, 4)
    w.leave(DOWN, 6, 4)
    w.leave(LEFT, 4, 0)


def gnarled_key(w: Walker, visit: Visit) -> None:
    w.face(LEFT)
    w.tap("A", 10)
    w.tap("A", 30)
    w.go(5, 7)
    season(w, SPRING, LEFT)
    visit(w, "spring")
    w.leave(UP, 0, 5)
    if not w.free(4, 8):
        cut(w, 4, 7, RIGHT)
    w.leave(RIGHT, 4, 9)
    w.leave(RIGHT, 4, 9)
    w.go(4, 2)
    w.fight()
    w.go(4, 5)
    visit(w, "swimming")
    enter(w, visit, "lake isle", DOWN, 7, 5)
    w.go(4, 4)
    w.fight()
    deed(w, visit, "gnarled key", 4, 4)
    dig(w, 5, 3, DOWN)
    visit(w, "fourth piece")
    w.leave(UP, 0, 5)
    w.leave(LEFT, 4, 0)
    w.leave(UP, 0, 4)


def gate(w: Walker, visit: Visit) -> None:
    w.leave(RIGHT, 4, 9)
    w.fight()
    enter(w, visit, "root gate", UP, 0, 4)
    w.fight()
    w.push(2, 4, UP)
    enter(w, visit, "root cave", UP, 2, 4)


def cave(w: Walker, visit: Visit) -> None:
    w.fight()
    w.collect()
    w.leave(LEFT, 3, 0)
    w.fight()
    w.push(3, 2, RIGHT)
    visit(w, "block")
    w.go(5, 4)
    w.press("NOP", 10)
    visit(w, "buttons")
    deed(w, visit, "small key", 2, 4)
    w.leave(RIGHT, 4, 9)
    w.leave(RIGHT, 4, 9)
    w.fight()
    w.jump(2, 3, RIGHT)
    cut(w, 2, 6, UP)
    visit(w, "lever")
    w.jump(3, 6, RIGHT)
    deed(w, visit, "map", 2, 8)
    w.jump(3, 8, LEFT)
    w.jump(3, 5, LEFT)
    w.leave(LEFT, 4, 0)
    w.push(1, 4, UP)
    enter(w, visit, "cross hall", UP, 0, 4)
    w.fight()
    w.press("NOP", 10)
    w.collect()
    deed(w, visit, "compass", 2, 5)
    w.leave(LEFT, 3, 0)
    w.fight()
    for row, column, direction in ((2, 1, UP), (2, 8, UP), (5, 8, DOWN), (5, 1, DOWN)):
        change(w, row, column, ITEM_SATCHEL, direction, 40)
    w.press("NOP", 10)
    w.go(3, 4)
    w.settle()
    visit(w, "second key")
    w.leave(RIGHT, 3, 9)
    w.push(3, 8, RIGHT)
    enter(w, visit, "vault", RIGHT, 3, 9)
    w.fight()
    w.go(4, 4)
    w.use(ITEM_BOMB, UP)
    w.go(6, 5, fight=False)
    for _ in range(130):
        w.press("NOP")
    deed(w, visit, "boss key", 2, 3)


def den(w: Walker, visit: Visit) -> None:
    w.go(4, 1)
    w.go(2, 1)
    w.leave(LEFT, 3, 0)
    w.fight()
    w.collect()
    w.push(1, 4, UP)
    enter(w, visit, "den", UP, 0, 4)


def boss(w: Walker, visit: Visit) -> None:
    w.duel(angry=lambda: visit(w, "boss angry"))
    visit(w, "boss")
    w.press("NOP", 60)
    w.collect()
    w.go(2, 4)
    w.press("NOP", 4)
    w.settle()
    visit(w, "container")
    enter(w, visit, "seed hall", UP, 0, 4)
    w.go(3, 4)
    for _ in range(40):
        w.press(UP)
        if w.u8("wEssencesObtained"):
            break
    visit(w, "essence")
    w.settle()
    visit(w, "home")


CHAPTERS = (
    begin, death, orchard, shop, farmer, bombs, quarry, shrine, feather, satchel, hollow,
    flippers, gnarled_key, gate, cave, den, boss,
)  # fmt: skip


def run(w: Walker, visit: Visit) -> None:
    """Play all chapters; one that fails is tried again a moment later.

    The game has no clock but the frames, so that waiting changes how its enemies move.
    """
    for chapter in CHAPTERS:
        start = w.snapshot()
        for attempt in range(ATTEMPTS):
            try:
                chapter(w, visit)
                break
            except LostError:
                if attempt == ATTEMPTS - 1:
                    raise
                w.restore(start)
                w.press("NOP", 5 + 3 * attempt)
