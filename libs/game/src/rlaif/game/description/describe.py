"""A state in words and numbers that a language model reads: small, without reward or policy."""

from typing import Any

from rlaif.contracts.items import DUNGEON_ITEMS, NAMED_ITEMS
from rlaif.game.description.words import NO_WORDS, GameWords
from rlaif.game.memory.entities import INTERACTION_TREASURE, PART_ITEM_DROP, Entity
from rlaif.game.memory.entities import nearest as nearest_first
from rlaif.game.memory.memory_map import ROOM_EVENTS, ROOM_ITEM
from rlaif.game.memory.state import SEASONS, GameState

GROUP_NAMES = (
    "overworld", "Subrosia", "Maku tree", "indoors", "underground", "underground",
    "side view", "side view",
)  # fmt: skip

MOST_ENTITIES = 6
"""So many nearby objects are told, the nearest first; more would crowd a judge's prompt."""

_QUARTERS = 4
_COMPASS = ("N", "E", "S", "W")


def describe(state: GameState, words: GameWords = NO_WORDS) -> dict[str, Any]:
    """What a judge may know of a state, as JSON-able values; at most about 350 tokens.

    Facts only: hearts are full hearts, x and y are pixels in the room, keys are small keys of the
    current dungeon. What does not apply or is not known is left out or null. `words` are those of
    the game; without them neither room nor text is told in words.
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
            "hearts": state.health / _QUARTERS,
            "max_hearts": state.max_health / _QUARTERS,
        },
        "rupees": state.rupees,
        "bombs": state.bombs,
        "keys": state.keys,
        "items": [name for name, bit in NAMED_ITEMS.items() if state.owns(bit)],
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
    """What is owned of the current dungeon; None outside of one."""
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


def _entities(state: GameState) -> list[dict[str, Any]]:
    kinds = {
        **{e.slot: "item" for e in state.parts if e.id == PART_ITEM_DROP},
        **{e.slot: "item" for e in state.interactions if e.id == INTERACTION_TREASURE},
        **{e.slot: "talkable" for e in state.talkable},
        **{e.slot: "enemy" for e in state.enemies},
    }
    known = {
        e.slot: e for e in (*state.parts, *state.interactions, *state.talkable, *state.enemies)
    }
    found = nearest_first([known[slot] for slot in kinds], state.x, state.y)
    return [_told(kinds[entity.slot], entity) for entity in found[:MOST_ENTITIES]]


def _told(kind: str, entity: Entity) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": kind, "id": entity.id, "x": entity.x, "y": entity.y}
    if kind == "enemy":
        told["health"] = entity.health
    return told
