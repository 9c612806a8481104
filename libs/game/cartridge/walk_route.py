"""The route of walk.py: the story of Seedling Vale in chapters.

Tiles are (row, column). Every `visit` names a milestone; the test of the walkthrough checks the
same ones in RAM.
"""

from __future__ import annotations

from collections.abc import Callable

from walker import DOWN, LEFT, RIGHT, UP, LostError, Walker

from rlaif.contracts.planning.plans import UseItem
from rlaif.game.decisions.catalog import FIGHT

Visit = Callable[[str], None]
ATTEMPTS = 30
ENOUGH_HEALTH = 8  # quarter hearts at the end of a chapter
SPRING, SUMMER, AUTUMN, WINTER = range(4)
SHIELD, BOMBS = 0x01, 0x03


def season(w: Walker, wanted: int, row: int, column: int) -> None:
    """Swing the rod at the stump on a tile until it is the wanted season."""
    for _ in range(4):
        if w.u8("wRoomStateModifier") == wanted:
            return
        w.plan(UseItem(item="rod_of_seasons", row=row, column=column))
    raise LostError(f"season {wanted} does not come in {w.room}")


def begin(w: Walker, visit: Visit) -> None:
    w.press("NOP", 118)
    visit("title")
    w.tap("START", 60)
    w.settle()
    visit("village")
    w.act(6, 2)
    visit("child")
    w.leave(UP, 4, 2)
    visit("house")
    w.act(2, 5)
    visit("blade")
    w.act(2, 5)
    w.leave(DOWN, 6, 4)


def death(w: Walker, visit: Visit) -> None:
    """Enter the meadow and stand still until the beetles win."""
    w.cut(4, 1)
    w.leave(LEFT, 4, 0)
    visit("meadow")
    w.go(4, 4)
    for _ in range(3000):
        if w.u8("wLinkDeathTrigger"):
            break
        w.press("NOP", 2)
    else:
        raise LostError("the player survives")
    w.press("NOP", 90)
    visit("game over")
    for _ in range(40):
        if w.has_control() and not w.u8("wGameOverScreenTrigger"):
            break
        w.tap("A", 20)
    w.settle()
    visit("continued")


def orchard(w: Walker, visit: Visit) -> None:
    w.cut(4, 1)
    w.leave(LEFT, 4, 0)
    w.fight()
    w.collect()
    w.go(1, 1)  # coins
    w.leave(UP, 0, 2)
    visit("orchard")
    w.fight()
    w.collect()
    w.cut(3, 4)
    w.act(1, 4)
    visit("orchard chest")
    w.leave(DOWN, 7, 2)
    w.leave(RIGHT, 4, 9)


def shop(w: Walker, visit: Visit) -> None:
    """The shield: first No, then Yes."""
    w.leave(UP, 4, 7)
    visit("shop")
    w.talk(3, 3)
    visit("shop choice")
    w.answer(1)
    w.talk(3, 3)
    w.answer(0)
    if not w.owns(SHIELD):
        raise LostError("no shield was bought")
    visit("shield")
    w.leave(DOWN, 6, 4)


def farmer(w: Walker, visit: Visit) -> None:
    w.cut(4, 8)
    w.leave(RIGHT, 4, 9)
    visit("east field")
    w.act(4, 3)
    visit("shovel")
    for row, column in ((2, 6), (1, 7), (2, 8), (2, 1), (2, 2)):
        w.dig(row, column)
    visit("dug")
    w.go(4, 1)
    w.leave(LEFT, 5, 0)


def bombs(w: Walker, visit: Visit) -> None:
    w.go(4, 8)
    w.leave(UP, 4, 7)
    w.talk(3, 5)
    w.answer(0)
    if not w.owns(BOMBS):
        raise LostError("no bombs were bought")
    visit("bombs")
    w.leave(DOWN, 6, 4)


def quarry(w: Walker, visit: Visit) -> None:
    w.leave(RIGHT, 4, 9)
    w.leave(UP, 0, 4)
    visit("stone stair")
    w.fight()
    w.change(1, 4, "bombs")
    visit("bomb")
    w.leave(UP, 2, 4)
    visit("quarry cave")
    w.fight()
    w.press("NOP", 20)
    w.collect()
    w.act(2, 4)
    visit("bracelet")
    w.leave(DOWN, 6, 4)


def shrine(w: Walker, visit: Visit) -> None:
    w.leave(DOWN, 7, 4)
    w.leave(LEFT, 4, 0)
    w.leave(DOWN, 7, 5)
    visit("south lane")
    w.leave(UP, 4, 2)
    w.act(2, 4)
    visit("elder")
    w.leave(DOWN, 6, 4)
    w.lift(4, 1)
    visit("carrying")
    w.tap("A", 30)
    w.leave(LEFT, 4, 0)
    visit("rod")
    w.go(5, 4)  # the spirit gives the rod
    w.settle()
    season(w, SUMMER, 5, 3)
    visit("summer")
    w.leave(RIGHT, 5, 9)


def feather(w: Walker, visit: Visit) -> None:
    w.go(4, 5)
    w.leave(UP, 0, 5)
    w.go(3, 4)
    w.leave(UP, 0, 4)
    w.fight()
    w.leave(UP, 0, 7)
    visit("vine cliff")
    w.go(2, 3)
    w.leave(RIGHT, 1, 9)
    visit("windy ridge")
    w.leave(UP, 1, 6)
    w.fight()
    w.act(1, 7)
    visit("feather")
    w.jump(3, 4, LEFT)
    visit("jumped")
    w.go(3, 1)
    w.settle()
    visit("heart piece")
    w.jump(3, 2, RIGHT)
    w.leave(DOWN, 6, 4)
    w.leave(LEFT, 1, 0)
    w.go(2, 3)
    w.leave(DOWN, 7, 7)


def satchel(w: Walker, visit: Visit) -> None:
    season(w, AUTUMN, 6, 3)
    visit("autumn")
    season(w, WINTER, 6, 3)
    visit("winter")
    w.fight()
    w.act(2, 4)
    visit("satchel")


def hollow(w: Walker, visit: Visit) -> None:
    """Winter and the shovel: a piece of heart beyond the holes."""
    w.leave(LEFT, 4, 0)
    w.fight()
    w.change(1, 6, "shovel")
    w.leave(UP, 0, 6)
    visit("frost hollow")
    w.fight()
    w.jump(4, 4, LEFT)
    w.act(3, 1)
    visit("second piece")
    w.jump(4, 2, RIGHT)
    w.leave(DOWN, 7, 6)
    w.change(1, 6, "shovel")
    w.leave(RIGHT, 4, 9)
    w.leave(DOWN, 7, 4)
    w.leave(DOWN, 7, 5)


def flippers(w: Walker, visit: Visit) -> None:
    w.dig(6, 8)
    visit("third piece")
    w.go(5, 5)
    season(w, AUTUMN, 5, 6)
    w.leave(RIGHT, 4, 9)
    visit("dry hollow")
    w.fight()
    w.change(3, 5, "ember_seeds")
    w.change(2, 5, "ember_seeds")
    visit("burnt")
    w.leave(UP, 2, 5)
    visit("ember cave")
    w.fight()
    for row, column in ((1, 1), (1, 8), (5, 8), (5, 1)):
        w.change(row, column, "ember_seeds")
    visit("torches")
    w.act(2, 4)
    visit("flippers")
    w.leave(DOWN, 6, 4)
    w.leave(LEFT, 4, 0)


def gnarled_key(w: Walker, visit: Visit) -> None:
    w.go(5, 7)
    season(w, SPRING, 5, 6)
    visit("spring")
    w.leave(UP, 0, 5)
    w.leave(RIGHT, 4, 9)
    w.leave(RIGHT, 4, 9)
    w.go(4, 2)
    w.fight()
    w.go(4, 5)
    visit("swimming")
    w.leave(DOWN, 7, 5)
    visit("lake isle")
    w.go(4, 4)
    w.fight()
    w.act(3, 4)
    visit("gnarled key")
    w.dig(5, 3)
    visit("fourth piece")
    w.leave(UP, 0, 5)
    w.leave(LEFT, 4, 0)
    w.leave(UP, 0, 4)


def gate(w: Walker, visit: Visit) -> None:
    w.leave(RIGHT, 4, 9)
    w.fight()
    w.leave(UP, 0, 4)
    visit("root gate")
    w.fight()
    w.push(2, 4, UP)
    w.leave(UP, 2, 4)
    visit("root cave")


def cave(w: Walker, visit: Visit) -> None:
    w.fight()
    w.collect()
    w.leave(LEFT, 3, 0)
    w.fight()
    w.push(3, 2, RIGHT)
    visit("block")
    w.go(5, 4)
    w.press("NOP", 10)
    visit("buttons")
    w.act(1, 4)
    visit("small key")
    w.leave(RIGHT, 4, 9)
    w.leave(RIGHT, 4, 9)
    w.fight()
    w.jump(2, 3, RIGHT)
    w.cut(1, 6)
    visit("lever")
    w.jump(3, 6, RIGHT)
    w.act(1, 8)
    visit("map")
    w.jump(3, 8, LEFT)
    w.jump(3, 5, LEFT)
    w.leave(LEFT, 4, 0)
    w.push(1, 4, UP)
    w.leave(UP, 0, 4)
    visit("cross hall")
    w.fight()
    w.press("NOP", 10)
    w.collect()
    w.act(1, 5)
    visit("compass")
    w.leave(LEFT, 3, 0)
    w.fight()
    for row, column in ((1, 1), (1, 8), (6, 8), (6, 1)):
        w.change(row, column, "ember_seeds")
    w.press("NOP", 10)
    w.go(3, 4)
    w.settle()
    visit("second key")
    w.leave(RIGHT, 3, 9)
    w.push(3, 8, RIGHT)
    w.leave(RIGHT, 3, 9)
    visit("vault")
    w.fight()
    w.change(3, 4, "bombs")
    w.act(1, 3)
    visit("boss key")


def den(w: Walker, visit: Visit) -> None:
    w.leave(LEFT, 3, 0)
    w.fight()
    w.collect()
    w.push(1, 4, UP)
    w.leave(UP, 0, 4)
    visit("den")


def boss(w: Walker, visit: Visit) -> None:
    """Beat Gnarl; a picture is taken once half its health is gone."""
    half, calm = w.enemies()[0].health // 2, True
    for _ in range(60):
        if not w.enemies():
            break
        if w.u8("wLinkDeathTrigger"):
            raise LostError("the boss won")
        w.decide(FIGHT)
        if calm and w.enemies() and w.enemies()[0].health <= half:
            calm = False
            visit("boss angry")
    visit("boss")
    w.press("NOP", 60)
    w.collect()
    w.go(2, 4)
    w.press("NOP", 4)
    w.settle()
    visit("container")
    w.leave(UP, 0, 4)
    visit("seed hall")
    w.go(3, 4)
    for _ in range(40):
        w.press("UP")
        if w.u8("wEssencesObtained"):
            break
    visit("essence")
    w.settle()
    visit("home")


CHAPTERS = (
    begin, death, orchard, shop, farmer, bombs, quarry, shrine, feather, satchel, hollow,
    flippers, gnarled_key, gate, cave, den, boss,
)  # fmt: skip


def run(w: Walker, visit: Visit) -> None:
    """Play all chapters; one that fails is retried after a short wait.

    The game has no clock but the frames, so waiting changes how its enemies move.
    """
    for chapter in CHAPTERS:
        start = w.snapshot()
        for attempt in range(ATTEMPTS):
            try:
                chapter(w, visit)
                if w.u8("wLinkHealth") < ENOUGH_HEALTH:
                    raise LostError(f"too many hearts lost in {chapter.__name__}")
                break
            except LostError:
                if attempt == ATTEMPTS - 1:
                    raise
                w.restore(start)
                w.press("NOP", 5 + 3 * attempt)
