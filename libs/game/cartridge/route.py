"""Solutions of generated worlds as commands of the player in walker.py."""

import contextlib

from walker import LostError, Walker

from rlaif.game.memory.entities import enemies
from rlaif.game.worlds.solver import PASSED, Leg, Solver
from rlaif.game.worlds.tables import (
    DIRECTIONS,
    FREE,
    SEASONS,
    SIGNS,
    STEPS,
    Condition,
    Flag,
    Kind,
    Room,
    Tables,
    Treasure,
)

Command = tuple[str | int, ...]

TOOLS = {"burn": "ember_seeds", "bomb": "bombs", "dig": "shovel"}
WAIT: Command = ("press", "NOP", 10)


def commands(solver: Solver, leg: Leg) -> list[Command]:
    """What to press for one leg, as names of the player's methods and their arguments."""
    found: list[Command] = []
    changes = leg.changes
    moves = [move for move in leg.moves if move.how in PASSED or move in changes]
    for at, move in enumerate(moves):
        direction = DIRECTIONS[move.way]
        match move.how:
            case "jump":
                found.append(("jump", *move.here, direction))
            case "turn":
                found.append(("season", SEASONS[move.season], *move.tile))
            case "cut":
                found.append(("cut", *move.tile))
            case "lift":
                found += [("lift", *move.tile), ("tap", "A", 30)]
            case "unlock":
                found.append(("push", *move.here, direction))
            case how if how in TOOLS:
                found.append(("change", *move.tile, TOOLS[how]))
        if move.to:
            if at == len(moves) - 1 and leg.goal.what == "shop":
                found += _deed(solver, leg)
            found.append(("leave", direction, *move.here))
    return found if leg.goal.what == "shop" else found + _deed(solver, leg)


def _deed(solver: Solver, leg: Leg) -> list[Command]:
    goal, room = leg.goal, solver.rooms[leg.goal.room]
    here = row, column = goal.thing.tile
    settle: Command = ("settle",)
    if goal.what == "door":
        (stand,) = goal.stands
        way = STEPS.index((row - stand[0], column - stand[1]))
        return [("push", *stand, DIRECTIONS[way])]
    fight: list[Command] = [("beat_boss",), ("press", "NOP", 60), ("collect",)]
    deeds: dict[str, list[Command]] = {
        "chest": [("act", *here), settle], "floor": [("go", *here), settle],
        "gift": [("go", *leg.stand), ("act", *here), settle],
        "shop": [("talk", *here), ("answer", 0), settle],
        "lever": [("cut", *here)], "dig": [("dig", *here)], "scene": [WAIT, settle],
        "boss": [*fight, ("go", *here), WAIT, settle],
        "essence": [("go", row + 2, column), ("take_essence",)],
    }  # fmt: skip
    solve = solver.hidden_by(goal)
    unhide: list[Command] = []
    if solve and solve.a == Condition.ENEMIES:  # away from the way in, out of which a hit pushes
        unhide = [("go", *goal.stands[0]), ("fight",), ("press", "NOP", 20), ("collect",)]
    elif solve and solve.a == Condition.TORCHES:
        unhide = [*(("change", *spot, "ember_seeds") for spot in room.spots("e")), WAIT]
    elif solve:
        unhide = [*_pushes(room), WAIT]
    return [*unhide, *deeds[goal.what]]


def _pushes(room: Room) -> list[Command]:
    """How a block comes onto a button and a foot onto the others."""
    buttons = {it.tile for it in room.of(Kind.BUTTON)}
    for row, column in room.spots("P"):
        for way, (y, x) in enumerate(STEPS):
            spot = row + y, column + x  # once pushed, a block stays
            if spot in buttons and room.rows[row - y][column - x] in FREE:
                return [
                    ("push_block", row, column, DIRECTIONS[way]),
                    *(("go", *each) for each in sorted(buttons - {spot})),
                ]
    return [("go", *each) for each in sorted(buttons)]


# --- playing them -------------------------------------------------------------------

ATTEMPTS, HURT = 18, 3
ENOUGH_HEALTH = 8  # quarter hearts at the end of a leg
TITLE_FRAMES = 150
FLAG_PAGES = {0: 0xC700, 3: 0xC800, 4: 0xC900, 5: 0xCA00}
CLEARED = (0x02, 0xA0, 0xA2)  # grass, cave floor, wood
COMMON_HEALTH = 2  # of all enemies but the boss


def play(walker: Walker, tables: Tables, legs: list[Leg]) -> str:
    """Play all legs from power-on; '' or the reason why one fails."""
    walker.press("NOP", TITLE_FRAMES)
    walker.tap("START", 60)
    walker.settle()
    solver = Solver(tables)
    for number, leg in enumerate(legs):
        failed = play_leg(walker, leg, commands(solver, leg), solver.rooms[leg.goal.room])
        if failed:
            what = f"step {number + 1} of {len(legs)} ({leg.goal.what} {leg.goal.item})"
            return f"{what} in {tables.room(walker.room).name}: {failed}"
    return "" if walker.u8("wEssencesObtained") else "no essence at the end"


def play_leg(walker: Walker, leg: Leg, route: list[Command], room: Room) -> str:
    """Play one leg; it is tried again, after a wait, if it fails or costs too much health."""
    start, best = walker.snapshot(), None
    reason, most = "", 0
    for attempt in range(ATTEMPTS):
        try:
            _attempt(walker, route, attempt)
            _check(walker, leg, room)
        except (LostError, IndexError) as error:
            reason = str(error)
        else:
            health = walker.u8("wLinkHealth")
            if health >= ENOUGH_HEALTH:
                return ""
            if health > most:
                best, most = walker.snapshot(), health
        walker.restore(start)
        walker.press("NOP", 5 + 7 * attempt)
    if best is None:
        return reason
    walker.restore(best)
    return ""


def _check(walker: Walker, leg: Leg, room: Room) -> None:
    flags = walker.emulator.peek(None, FLAG_PAGES[room.group] + room.id)
    goal = leg.goal
    failures = {
        "chest": not flags & Flag.ITEM, "boss": not flags & Flag.OPEN,
        "lever": not walker.u8("wSwitchState"),
        "door": walker.index(*leg.goal.thing.tile) == SIGNS["k"].index,
    }  # fmt: skip
    if failures.get(goal.what):
        raise LostError(f"the {goal.what} is as it was")
    if goal.item and goal.what != "dig":
        walker.owns(Treasure[goal.item.upper()])


def _attempt(walker: Walker, route: list[Command], attempt: int) -> None:
    deaths = walker.u8("wDeathCounter")
    if attempt:
        _tend(walker, fights=attempt % 3 != 2)
    for command, *words in route:
        if command in ("cut", "lift") and walker.index(*words) in CLEARED:  # type: ignore[arg-type]
            continue  # on the way there
        if command == "beat_boss":  # moves by no random numbers: other luck is another moment
            walker.press("NOP", 5 * attempt)
        room = walker.room
        _carry_out(walker, str(command), words)
        if command == "leave":
            room = _come_in(walker, words, fights=attempt % 3 != 2)
        if walker.u8("wDeathCounter") != deaths or walker.u8("wLinkDeathTrigger"):
            raise LostError("died")
        if walker.room != room:
            raise LostError("an enemy pushed the player out of the room")


def _come_in(walker: Walker, words: list[str | int], *, fights: bool) -> tuple[int, int]:
    """Beat what waits in a room, and come in again when that drove the player out."""
    room = walker.room
    for _ in range(HURT):
        _tend(walker, fights=fights)
        if walker.room == room:
            break
        _carry_out(walker, "leave", words)
    return room


def _carry_out(walker: Walker, command: str, words: list[str | int]) -> None:
    """Skills give up when the next hit could be the last; a solution is played on."""
    for _ in range(HURT):
        with contextlib.suppress(LostError):
            getattr(walker, command)(*words)
            return
        if walker.u8("wLinkDeathTrigger"):
            raise LostError("died")
    getattr(walker, command)(*words)


def _tend(walker: Walker, *, fights: bool) -> None:
    """In a new room: beat enemies, take hearts if some are missing."""
    boss = any(foe.health > COMMON_HEALTH for foe in enemies(walker.ram))
    if fights and walker.u8("wSwordLevel") and not boss:
        with contextlib.suppress(LostError):
            walker.fight()
    if walker.u8("wLinkHealth") < walker.u8("wLinkMaxHealth"):
        with contextlib.suppress(LostError):
            walker.collect()
