"""Plans and single buttons of the expert, as a planner with knowledge of the world."""

import itertools
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from types import MappingProxyType
from typing import Any

from rlaif.mock_llm.expert.progress import Move, next_objective, stands_for, way, way_to
from rlaif.mock_llm.expert.situation import Situation
from rlaif.mock_llm.expert.world import (
    AROUND,
    COLUMNS,
    ROWS,
    Objective,
    Room,
    Thing,
    Tile,
    World,
    world_of,
)

Macro = dict[str, Any]
"""One macro of `rlaif.contracts.planning.plans` as plain values."""

YES, NO = 0, 1

_DIRECTIONS = MappingProxyType({"north": "UP", "south": "DOWN", "west": "LEFT", "east": "RIGHT"})
_TOOLS = MappingProxyType(
    {
        "jump": "feather", "turn": "rod_of_seasons", "lift": "bracelet", "burn": "seed_satchel",
        "bomb": "bombs", "dig": "shovel",
    }
)  # fmt: skip
"""Action to pass a tile → the used item."""
_BY_BUTTON_A = {"cut", "lift", "burn", "bomb", "dig", "unlock"}
_MAX_MACROS = 8
_MAX_TORCHES = 4
_DEEDS = MappingProxyType(
    {
        "chest": "TAKE", "floor": "TAKE", "essence": "TAKE", "gift": "TALK", "shop": "TALK",
        "lever": "CUT",
    }
)  # fmt: skip
"""Action that completes an objective → its macro."""


def plan(situation: Situation) -> dict[str, Any]:
    """A plan: reason, macros, confidence."""
    world = world_of(situation.moment.game)
    if situation.text is not None:
        number, reason = _choice(situation, world)
        return _plan(reason, [{"kind": "ANSWER", "choice": number}], 0.9)
    room = world.by_name.get(situation.room or "") if world else None
    if world is None or room is None or situation.tile is None:
        return _plan("the place is unknown; nothing to do", [{"kind": "ANSWER", "choice": NO}], 0.0)
    macros, reason = _solution(situation, world, room, situation.tile)
    if macros:
        return _plan(reason, macros, 0.9)
    onward = _macros(world, way(world, situation.moment, situation.tile))
    following = next_objective(world, situation.moment)
    if following is not None and not any("room" in macro for macro in onward):
        onward += _deed(world.objective(following), room)
    if not onward:
        return _plan(f"{reason}; nothing to do", [{"kind": "ANSWER", "choice": NO}], 0.0)
    return _plan(f"{reason}; towards the next objective", onward[:_MAX_MACROS], 0.3)


def suggestion(situation: Situation) -> dict[str, Any]:
    """One button towards the next objective; START for a tool that is not equipped."""
    button, reason = _button(situation)
    return {"reason": reason, "button": button}


def _plan(reason: str, macros: list[Macro], confidence: float) -> dict[str, Any]:
    return {"reason": reason, "macros": macros, "confidence": confidence}


# Open texts


def _offer(text: str, world: World | None) -> Thing | None:
    """The item for sale in a question, or None."""
    words = " ".join(text.split())
    if world is None:
        return None
    things = (thing for room in world.rooms for thing in room.objects)
    return next((it for it in things if it.kind == "shop" and words.startswith(it.text)), None)


def _choice(situation: Situation, world: World | None) -> tuple[int, str]:
    """(number of the answer, reason): yes to items that the quest needs and the player can pay.

    For a text without a question, any number closes its last page.
    """
    offer = _offer(situation.text or "", world)
    if offer is None or world is None:
        return NO, "read it to its end"
    item, price = offer.item, offer.price
    if not any(it.what == "shop" and it.item == item for it in world.objectives):
        return NO, f"the quest needs no {item}"
    if situation.owns(item):
        return NO, f"the {item} is there already"
    if (situation.moment.rupees or 0) < price:
        return NO, f"{price} coins are not there"
    return YES, f"the quest needs the {item}, and {price} coins are there"


# Puzzles: the briefing has the lit torches and the position of blocks; the world has the hidden
# chests and keys.


def _solution(
    situation: Situation, world: World, room: Room, tile: Tile
) -> tuple[list[Macro], str]:
    """(macros, reason); no macros if nothing is to be done."""
    hidden = {thing.hidden: thing.tile for thing in room.objects if thing.hidden}
    if "torches" in hidden:
        unlit = situation.to_do.get("torch", ())
        if unlit and not situation.owns("seed_satchel"):
            return [], "torches want ember seeds, which are not there yet"
        ground = world.ground(room.room)
        lit = [
            _at("USE_ITEM", torch, item="seed_satchel")
            for torch in _round_trip(ground, tile, unlit)
        ]
        return [*lit, _at("TAKE", hidden["torches"])], "light every torch, take what appears"
    if "triggers" in hidden:
        pressed = _buttons(situation, world, room, tile)
        reason = "a block for one button, a foot for the other"
        return [*pressed, _at("TAKE", hidden["triggers"])], reason
    lever = next((thing.tile for thing in room.objects if thing.kind == "lever"), None)
    if lever is None:
        return [], "no puzzle that the guide knows"
    if not situation.owns("sword"):
        return [], "the lever wants a blade"
    beside = [(room.room, (lever[0] + dy, lever[1] + dx)) for dy, dx in AROUND.values()]
    there = _macros(world, way_to(world, situation.moment, tile, beside))
    return [*there, _at("CUT", lever)][-_MAX_MACROS:], "go up to the lever and hit it"


def _buttons(situation: Situation, world: World, room: Room, tile: Tile) -> Iterator[Macro]:
    """Macros that press all buttons: a block holds the one beside it, the player steps on others.

    A pushed block may also end on a button, which is the last one.
    """
    buttons = {thing.tile for thing in room.objects if thing.kind == "button"}
    left, blocks = set(situation.to_do.get("button", ())), situation.to_do.get("block", ())
    held = set()
    for block in room.tiles("P"):
        for side, (dy, dx) in AROUND.items():
            button, behind = (block[0] + dy, block[1] + dx), (block[0] - dy, block[1] - dx)
            if button in buttons and behind in world.ground(room.room):
                held.add(button)
                if block in blocks:
                    left |= {tile} & buttons  # it rises once the player leaves it
                    left.discard(button)
                    yield _at("PUSH_BLOCK", block, direction=_DIRECTIONS[side])
                elif tile in (behind, block):  # it is being pushed
                    left.discard(button)
                break
    for button in sorted(left, key=lambda each: (each in held, each)):
        yield _at("MOVE_TO", button)


def _at(kind: str, tile: Tile, **more: Any) -> Macro:
    return {"kind": kind, "column": tile[1], "row": tile[0], **more}


def _round_trip(ground: Collection[Tile], start: Tile, goals: Iterable[Tile]) -> list[Tile]:
    """The goals, at most four, in the order of the shortest path through all of them."""
    known = list(goals)[:_MAX_TORCHES]
    steps = {goal: _steps(ground, goal) for goal in (*known, start)}

    def walk(order: Iterable[Tile]) -> int:
        stops = list(order)
        legs = zip((start, *stops), stops, strict=False)
        return sum(steps[there].get(here, ROWS * COLUMNS) for here, there in legs)

    return list(min(itertools.permutations(known), key=walk, default=()))


def _steps(ground: Collection[Tile], goal: Tile) -> dict[Tile, int]:
    """Tile → steps to a neighbour of the goal, over these tiles."""
    found, queue = {goal: 0}, deque([goal])
    while queue:
        row, column = here = queue.popleft()
        for dy, dx in AROUND.values():
            there = row + dy, column + dx
            if there not in found and 0 <= there[0] < ROWS and 0 <= there[1] < COLUMNS:
                found[there] = found[here] + 1
                if there in ground:
                    queue.append(there)
    return found


# Paths
def _macros(world: World, moves: Iterable[Move]) -> list[Macro]:
    """Macros for the actions on a path, up to the next room."""
    found: list[Macro] = []
    for move in moves:
        (room, tile), _ = move.here
        (there, onto), _ = move.there
        if there != room:
            return [*found, {"kind": "MOVE_TO", "room": there}]
        tool = _TOOLS.get(move.how)
        if move.how == "cut":
            found.append(_at("CUT", onto))
        elif move.how == "jump":
            ahead = next(
                side for side, (dy, dx) in AROUND.items()
                if (tile[0] + 2 * dy, tile[1] + 2 * dx) == onto
            )  # fmt: skip
            leap = {"kind": "USE_ITEM", "item": tool, "direction": _DIRECTIONS[ahead]}
            found += [_at("MOVE_TO", tile), leap]
        elif tool:
            at = world.stump_beside(move.here[0]) if move.how == "turn" else onto
            found.append(_at("USE_ITEM", at, item=tool))
    return found


def _deed(objective: Objective, room: Room) -> list[Macro]:
    """Macros that complete an objective in its room."""
    if objective.tile is None or objective.room != room.room:
        return []
    if objective.what == "dig":
        return [_at("USE_ITEM", objective.tile, item="shovel")]
    return [_at(_DEEDS[objective.what], objective.tile)] if objective.what in _DEEDS else []


# Single buttons


def _button(situation: Situation) -> tuple[str, str]:
    """(button, reason)."""
    world = world_of(situation.moment.game)
    if situation.text is not None:
        if _offer(situation.text, world) is None:
            return "A", "read on"
        choice, reason = _choice(situation, world)
        return ("A" if choice == YES else "B"), reason  # B declines
    number = next_objective(world, situation.moment) if world else None
    room, tile = situation.room, situation.tile
    if world is None or number is None or room not in world.by_name or tile is None:
        return "NOP", "where to go is unknown"
    title = world.objective(number).title
    if (room, tile) in stands_for(world, number, situation.moment):
        return "A", f"here is {title}"
    move = next(way(world, situation.moment, tile), None)
    if move is None:
        return "NOP", f"no way to {title} is known"
    return _towards(world, move, situation), f"towards {title}"


def _towards(world: World, move: Move, situation: Situation) -> str:
    here, there = move.here[0], move.there[0]
    if move.how in ("turn", "jump"):
        return situation.buttons.get(_TOOLS[move.how], "START")
    if move.how in _BY_BUTTON_A:
        return "A"
    side = next((side for side in AROUND if world.beside(here, side) == there), None)
    if side is None:  # through a door
        side = "south" if here[1][0] == ROWS - 1 else "north"
    return _DIRECTIONS[side]
