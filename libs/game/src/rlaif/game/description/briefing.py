"""The briefing of a planner: at most 600 tokens of facts from RAM, in a few milliseconds."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from rlaif.contracts.game.items import NAMED_ITEMS
from rlaif.contracts.planning.briefing import MAX_TOKENS, Briefing, Exit, Tile
from rlaif.contracts.planning.plans import USABLE_ITEMS, Direction
from rlaif.game.description.describe import GROUP_NAMES, QUARTERS, owned_items
from rlaif.game.description.tile_marks import surroundings, tile_marks
from rlaif.game.description.words import GameWords
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.puzzles import is_settled
from rlaif.game.memory.rooms import Neighbours, neighbours, room_size
from rlaif.game.memory.state import GameState, decode
from rlaif.game.motion.grid import PROBES, VECTORS, WALKS, tile_under
from rlaif.game.motion.ground import ground_of
from rlaif.game.motion.kernels import PAD
from rlaif.game.motion.room_graph import RoomGraph, RoomId
from rlaif.game.motion.room_watcher import standing
from rlaif.game.motion.terrain import TILE, TILE_COLUMNS, Terrain, solid_pixels, terrain_of

MAX_THINGS, MAX_TO_DO, MAX_EXITS, MAX_FAILED = 8, 10, 10, 4
SAID_CHARACTERS = 400
FAILED_CHARACTERS = 120
_FEW, _FEW_CHARACTERS = 4, 160
_NO_GRAPH = RoomGraph()
_ESCAPED = frozenset("`<>\\")
"""Characters that JSON or a fence writes as several."""

_BY_BIT = {bit: name for name, bit in NAMED_ITEMS.items()}


def brief(
    ram: RamBlocks,
    words: GameWords,
    *,
    graph: RoomGraph = _NO_GRAPH,
    failed: Sequence[str] = (),
) -> Briefing:
    """The briefing of the current state; only the name of the game if none is being played.

    Args:
        ram: The RAM.
        words: Names and texts of the game.
        graph: Known crossings, for the targets of doors.
        failed: Macros that failed here, each with its cause, the most recent last.
    """
    state = decode(ram)
    if not state.running:
        return Briefing(game=words.game)
    size, terrain = room_size(ram), terrain_of(ram)
    here = tile_under(state.x, state.y)[::-1]
    seen = surroundings(state, size)
    return fitted(
        Briefing(
            **_position(state, words),
            **_possessions(state),
            **_text(state, words),
            at=here,
            map=tile_marks(terrain, seen, here, size=size),
            things=tuple((each.name, each.column, each.row) for each in seen[:MAX_THINGS]),
            to_do=tuple((it.kind, it.column, it.row) for it in state.puzzle[:MAX_TO_DO]),
            room_solved=is_settled(ram) or None,
            enemies_left=state.enemies_left or None,
            exits=exits_of(ram, terrain, graph, words, limit=MAX_EXITS),
            failed=tuple(plain(each)[:FAILED_CHARACTERS] for each in failed[-MAX_FAILED:]),
        )
    )


def fitted(briefing: Briefing) -> Briefing:
    """The briefing, shortened to `MAX_TOKENS`: the least useful facts are dropped first."""
    for shorten in _reductions():
        if briefing.tokens <= MAX_TOKENS:
            break
        briefing = briefing.model_copy(update=shorten(briefing))
    return briefing


def _reductions() -> Iterator[Callable[[Briefing], dict[str, Any]]]:
    """Reductions in order; after all of them every briefing fits."""
    yield lambda long: {"exits": tuple(each for each in long.exits if each.reachable)}
    yield lambda long: {"things": long.things[:_FEW], "failed": long.failed[-1:]}
    yield lambda long: {"items": tuple(name for name in long.items if name in USABLE_ITEMS)}
    yield lambda long: {"said": None if long.said is None else long.said[:_FEW_CHARACTERS]}
    yield lambda long: {"exits": long.exits[:_FEW], "to_do": long.to_do[:_FEW]}
    yield lambda long: {"failed": (), "things": ()}


def plain(text: str) -> str:
    """The text without characters that JSON escapes, so that its length equals its cost."""
    fits = (each.isascii() and each.isprintable() and each not in _ESCAPED for each in text)
    kept = (each if fit else "?" for each, fit in zip(text, fits, strict=True))
    return "".join(kept).replace('"', "'")


def _position(state: GameState, words: GameWords) -> dict[str, Any]:
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
        "hearts": state.health / QUARTERS,
        "max_hearts": state.max_health / QUARTERS,
        "rupees": state.rupees,
        "bombs": state.bombs or None,
        "keys": state.keys,
        "boss_key": state.boss_key or None,
        "essences": state.essences.bit_count() or None,
        "items": tuple(owned_items(state)),
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


_SIDES: dict[Action, Direction] = {
    Action.UP: "UP",
    Action.DOWN: "DOWN",
    Action.LEFT: "LEFT",
    Action.RIGHT: "RIGHT",
}
_STEP = 8
"""Pixels between two tested positions on an edge."""


def exits_of(
    ram: RamBlocks, terrain: Terrain, graph: RoomGraph, words: GameWords, *, limit: int
) -> tuple[Exit, ...]:
    """At most `limit` exits of the room, reachable ones first, then edges before doors.

    The room behind a door is known after it was entered once; the room behind an edge follows from
    the map of the world or of the floor.
    """
    here = standing(ram)
    trodden = ground_of(ram).reached(here.x, here.y).trodden
    reached = {divmod(at, TILE_COLUMNS)[::-1] for at, reachable in enumerate(trodden) if reachable}
    doors = [
        (int(column), int(row))
        for row, column in np.argwhere(terrain.warps())
        if row * TILE < terrain.size[0] and column * TILE < terrain.size[1]
    ]
    behind = _behind_edges(here.room, neighbours(ram))
    found = [
        Exit(at=at, side=_SIDES[way], reachable=not reached.isdisjoint(gap), **_to(room, words))
        for way, room in behind.items()
        for gap in _gaps(terrain, way)
        if (at := gap[len(gap) // 2]) not in doors
    ]
    through = _behind_doors(graph, here.room)
    found += [
        Exit(at=door, reachable=door in reached, **_to(through.get(door), words)) for door in doors
    ]
    return tuple(sorted(found, key=lambda each: not each.reachable)[:limit])


def _gaps(terrain: Terrain, way: Action) -> Iterator[list[Tile]]:
    """Yield the gaps in an edge: for each the tiles at its positions, eight pixels apart."""
    height, width = terrain.size
    dy, dx = VECTORS[way]
    solid = np.pad(solid_pixels(terrain.collisions), PAD)
    # A player at 8 pixels from the edge walks into the rim, which is 5 pixels wide.
    steps = range(4) if dy + dx < 0 else range(_STEP)
    gap: list[Tile] = []
    for along in range(_STEP, width if dx == 0 else height, _STEP):
        y = along if dy == 0 else (_STEP if dy < 0 else height - _STEP)
        x = along if dx == 0 else (_STEP if dx < 0 else width - _STEP)
        if not any(
            solid[PAD + y + dy * step + probe_y, PAD + x + dx * step + probe_x]
            for step in steps
            for probe_y, probe_x in PROBES[way]
        ):
            row, column = tile_under(x, y)
            gap.append((column, row))
        elif gap:
            yield gap
            gap = []
    if gap:
        yield gap


def _behind_doors(graph: RoomGraph, room: RoomId) -> dict[Tile, RoomId]:
    return {
        tile_under(crossing.x, crossing.y)[::-1]: crossing.end
        for crossing in graph.leaving(room)
        if crossing.kind == "warp"
    }


def _behind_edges(here: RoomId, around: Neighbours) -> dict[Action, RoomId]:
    sides = {
        Action.UP: around.north,
        Action.RIGHT: around.east,
        Action.DOWN: around.south,
        Action.LEFT: around.west,
    }
    return {way: RoomId(here.group, room) for way in WALKS if (room := sides[way]) is not None}


def _to(room: RoomId | None, words: GameWords) -> dict[str, str | None]:
    if room is None:
        return {"to": None}
    return {"to": f"{room.group}/{room.room}", "place": words.rooms.get(room)}
