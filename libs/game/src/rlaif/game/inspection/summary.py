"""A game state in ten lines that can be compared with the screen."""

from rlaif.game.description.words import NO_WORDS, GameWords
from rlaif.game.memory.names import ITEM_NAMES, TREASURE_NAMES
from rlaif.game.memory.state import SEASONS, GameState

_QUARTERS = 4
_UNARMED = 0x02
"""Treasure that every file has from the start: the bare fist."""


def summary(state: GameState, words: GameWords = NO_WORDS) -> dict[str, str]:
    """What the screen and the inventory should show, by topic, in the words of the game."""
    told = {
        "Place": _place(state, words.place(state)),
        "Player": f"x {state.x} y {state.y} pixels, faces {state.facing}",
        "Hearts": f"{_hearts(state.health)} of {_hearts(state.max_health)}",
        "Carries": f"{state.rupees} rupees, {state.bombs} bombs, {state.ember_seeds} ember seeds",
        "Buttons": f"A {_item(state.item_a)}, B {_item(state.item_b)}",
        "Owns": _owned(state),
        "Essences": str(state.essences.bit_count()),
        "Season": _season(state),
        "Counted": (
            f"{state.rooms_visited} rooms visited, {state.kills} enemies defeated, "
            f"{state.deaths} deaths"
        ),
    }
    if state.dungeon is not None:
        told["Dungeon"] = _dungeon(state)
    if state.text_id is not None:
        told["Text"] = _text(state, words.text(state))
    return told


def _place(state: GameState, name: str | None) -> str:
    size = "15x11" if state.room_large else "10x8"
    place = f"group {state.group} room 0x{state.room:02X}, {size} tiles"
    return f"{place}: {name}" if name else place


def _text(state: GameState, said: str | None) -> str:
    told = f"0x{state.text_id:04X}{', asks for a choice' if state.text_choice else ''}"
    return f"{told}: {said}" if said else told


def _hearts(quarters: int) -> str:
    return f"{quarters / _QUARTERS:g}"


def _item(number: int) -> str:
    return ITEM_NAMES.get(number, f"item 0x{number:02X}") if number else "nothing"


def _owned(state: GameState) -> str:
    # A few bits without a known meaning are set in every file; the symbol itself shows them.
    owned = (name for n, name in TREASURE_NAMES.items() if state.owns(n) and n != _UNARMED)
    return ", ".join(owned) or "nothing"


def _season(state: GameState) -> str:
    owned = [season for bit, season in enumerate(SEASONS) if state.seasons >> bit & 1]
    return f"{state.season}; the rod has {', '.join(owned) or 'none'}"


def _dungeon(state: GameState) -> str:
    things = (("boss key", state.boss_key), ("map", state.dungeon_map), ("compass", state.compass))
    owned = [name for name, is_owned in things if is_owned]
    return f"{state.dungeon}: {', '.join([f'{state.keys} small keys', *owned])}"
