"""A compact description of a state for language models, without reward or policy."""

from collections.abc import Iterable
from typing import Any, Literal

from rlaif.contracts.game.items import DUNGEON_ITEMS, NAMED_ITEMS
from rlaif.game.description.words import NO_WORDS, GameWords
from rlaif.game.memory.entities import INTERACTION_TREASURE, PART_ITEM_DROP, Entity
from rlaif.game.memory.entities import nearest as nearest_first
from rlaif.game.memory.memory_map import ROOM_EVENTS, ROOM_ITEM
from rlaif.game.memory.state import SEASONS, GameState

GROUP_NAMES = (
    "overworld", "Subrosia", "Maku tree", "indoors", "underground", "underground",
    "side view", "side view",
)  # fmt: skip

MAX_ENTITIES = 6
"""Maximum number of described objects, the nearest, which limits a judge's prompt."""

QUARTERS = 4
"""Units of health per heart."""

_COMPASS = ("N", "E", "S", "W")

ObjectKind = Literal["enemy", "talkable", "drop", "treasure"]


def describe(state: GameState, words: GameWords = NO_WORDS) -> dict[str, Any]:
    """The facts that a judge may know, as JSON-able values; at most about 350 tokens.

    Hearts are full hearts, x and y pixels in the room, keys small keys of the current dungeon.
    Facts that do not apply or are unknown are omitted or null. `words` are the names and texts of
    the game.
    """
    if not state.running:
        return {"running": False}
    return {
        "game": words.game,
        "room": _room(state, words),
        "player": {
            "x": state.x,
            "y": state.y,
            "facing": state.facing,
            "hearts": state.health / QUARTERS,
            "max_hearts": state.max_health / QUARTERS,
        },
        "rupees": state.rupees,
        "bombs": state.bombs,
        "keys": state.keys,
        "items": owned_items(state),
        "dungeon_items": _dungeon_items(state),
        "essences": state.essences.bit_count(),
        "season": state.season,
        "seasons_owned": [s for bit, s in enumerate(SEASONS) if state.seasons >> bit & 1],
        "flags": {
            "dialog": state.text,
            "menu": state.menu != 0,
            "control": state.has_control,
            "moving_to_next_room": state.scrolling,
            "cutscene": state.cutscene,
            "dying": state.dying,
        },
        "text_id": state.text_id,
        "text": words.text(state),
        "puzzle": {
            "buttons_pressed": state.triggers.bit_count(),
            "switches_on": state.switches.bit_count(),
            "toggles_on": state.toggles.bit_count(),
            "torches_lit": state.torches,
        },
        "entities": _entities(state),
        "rooms_visited": state.rooms_visited,
        "enemies_defeated": state.kills,
        "deaths": state.deaths,
    }


def _dungeon_items(state: GameState) -> list[str] | None:
    if state.dungeon is None:
        return None
    owned = (state.dungeon_map, state.compass, state.boss_key)
    return [name for name, has in zip(DUNGEON_ITEMS, owned, strict=True) if has]


def _room(state: GameState, words: GameWords) -> dict[str, Any]:
    around = zip(_COMPASS, state.visited_around, strict=True)
    room: dict[str, Any] = {
        "group": state.group,
        "room": state.room,
        "name": words.place(state),
        "large": state.room_large,
        "area": GROUP_NAMES[state.group & 7],
        "item_taken": bool(state.room_flags & ROOM_ITEM),
        "event_done": bool(state.room_flags & ROOM_EVENTS),
        "enemies_left": state.enemies_left,
        "visited_neighbours": [name for name, visited in around if visited],
    }
    if state.dungeon is not None:
        room["dungeon"] = state.dungeon
    return room


def owned_items(state: GameState) -> list[str]:
    """Names of the owned items."""
    return [name for name, bit in NAMED_ITEMS.items() if state.owns(bit)]


def nearby_objects(state: GameState) -> list[tuple[ObjectKind, Entity]]:
    """Objects of the room with their kinds, nearest first, without duplicates.

    An object of several kinds has the first of them: a treasure for sale is talkable.
    """
    kinds: dict[ObjectKind, Iterable[Entity]] = {
        "enemy": state.enemies,
        "talkable": state.talkable,
        "drop": (each for each in state.parts if each.id == PART_ITEM_DROP),
        "treasure": (each for each in state.interactions if each.id == INTERACTION_TREASURE),
    }
    found: dict[int, tuple[ObjectKind, Entity]] = {}
    for kind, entities in kinds.items():
        for entity in entities:
            found.setdefault(entity.slot, (kind, entity))
    near = nearest_first([entity for _, entity in found.values()], state.x, state.y)
    return [found[entity.slot] for entity in near]


def _entities(state: GameState) -> list[dict[str, Any]]:
    return [_entity(kind, entity) for kind, entity in nearby_objects(state)[:MAX_ENTITIES]]


def _entity(kind: ObjectKind, entity: Entity) -> dict[str, Any]:
    shown = "item" if kind in ("drop", "treasure") else kind
    described: dict[str, Any] = {"kind": shown, "id": entity.id, "x": entity.x, "y": entity.y}
    if kind == "enemy":
        described["health"] = entity.health
    return described
