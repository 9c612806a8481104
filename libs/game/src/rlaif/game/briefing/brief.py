"""The briefing of one moment: RAM in, at most 600 tokens of facts out; a few milliseconds."""

from collections.abc import Sequence
from typing import Any

from rlaif.contracts.briefing import Briefing
from rlaif.contracts.items import NAMED_ITEMS
from rlaif.game.briefing.fitting import fitted
from rlaif.game.briefing.surroundings import surroundings
from rlaif.game.briefing.tile_marks import tile_marks
from rlaif.game.briefing.ways_out import ways_out
from rlaif.game.description.describe import GROUP_NAMES
from rlaif.game.description.words import GameWords
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.puzzles import is_settled
from rlaif.game.memory.rooms import room_size
from rlaif.game.memory.state import GameState, decode
from rlaif.game.navigation.grid import FEET
from rlaif.game.navigation.room_graph import RoomGraph
from rlaif.game.navigation.terrain import TILE, terrain_of

MOST_THINGS, MOST_TO_DO, MOST_EXITS, MOST_FAILED = 8, 10, 10, 4
SAID_CHARACTERS = 400
FAILED_CHARACTERS = 120
_QUARTERS = 4
_NO_GRAPH = RoomGraph()
_ESCAPED = frozenset("`<>\\")
"""Written in several characters by JSON or by a fence."""

_BY_BIT = {bit: name for name, bit in NAMED_ITEMS.items()}


def brief(
    ram: RamBlocks,
    words: GameWords,
    *,
    graph: RoomGraph = _NO_GRAPH,
    failed: Sequence[str] = (),
) -> Briefing:
    """What a planner is told of the moment that the RAM holds.

    `graph` tells where doors lead; `failed` are macros that failed here, each with its cause, the
    last one last. Where no game is played, only the name of the game is told.
    """
    state = decode(ram)
    if not state.running:
        return Briefing(game=words.game)
    size, terrain = room_size(ram), terrain_of(ram)
    here = (state.x // TILE, (state.y + FEET) // TILE)
    seen = surroundings(ram, size=size)
    return fitted(
        Briefing(
            **_whereabouts(state, words),
            **_possessions(state),
            **_text(state, words),
            at=here,
            map=tile_marks(terrain, seen, here, size=size),
            things=tuple((each.name, each.column, each.row) for each in seen[:MOST_THINGS]),
            to_do=tuple((it.kind, it.column, it.row) for it in state.puzzle[:MOST_TO_DO]),
            room_solved=is_settled(ram) or None,
            enemies_left=state.enemies_left or None,
            exits=ways_out(ram, terrain, graph, words, most=MOST_EXITS),
            failed=tuple(plain(each)[:FAILED_CHARACTERS] for each in failed[-MOST_FAILED:]),
        )
    )


def plain(text: str) -> str:
    """The text in characters that JSON writes as they are, so that its length is what it costs."""
    fits = (each.isascii() and each.isprintable() and each not in _ESCAPED for each in text)
    kept = (each if fit else "?" for each, fit in zip(text, fits, strict=True))
    return "".join(kept).replace('"', "'")


def _whereabouts(state: GameState, words: GameWords) -> dict[str, Any]:
    return {
        "game": words.game,
        "place": words.place(state),
        "room": f"{state.group}/{state.room}",
        "area": GROUP_NAMES[state.group & 7],
        "dungeon": state.dungeon,
        "season": state.season,
        "facing": state.facing.upper(),
    }


def _possessions(state: GameState) -> dict[str, Any]:
    return {
        "hearts": state.health / _QUARTERS,
        "max_hearts": state.max_health / _QUARTERS,
        "rupees": state.rupees,
        "bombs": state.bombs or None,
        "keys": state.keys,
        "boss_key": state.boss_key or None,
        "essences": state.essences.bit_count() or None,
        "items": tuple(name for name, bit in NAMED_ITEMS.items() if state.owns(bit)),
        "on_a": _BY_BIT.get(state.item_a),
        "on_b": _BY_BIT.get(state.item_b),
    }


def _text(state: GameState, words: GameWords) -> dict[str, Any]:
    said = words.text(state)
    return {
        "said": None if said is None else plain(said)[:SAID_CHARACTERS],
        "text": state.text or None,
        "asks": state.text_choice or None,
        "choices": words.choices if state.text_choice else (),
    }
