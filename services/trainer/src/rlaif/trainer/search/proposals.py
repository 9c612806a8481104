"""Proposals of actions in a room, from the RAM and from counts of earlier attempts.

A proposal is an object or an exit, and a verb: go there and touch it, push it, use an item on it.
Rarely tried proposals are preferred. They are counted by room, kind of object, verb and owned
items, so that a new item makes known objects interesting again, and six bushes are not six times as
interesting as one.
"""

import hashlib
from collections.abc import Generator, Iterable
from typing import NamedTuple

import numpy as np

from rlaif.contracts.game.items import NAMED_ITEMS
from rlaif.game.decisions.catalog import (
    AIMED,
    BUTTON,
    FIGHT,
    INTERACT,
    ITEMS,
    LEAVE,
    WALK,
    go_to,
    item,
)
from rlaif.game.decisions.mask import allowed
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control, is_text_choice
from rlaif.game.motion.grid import OPPOSITE, WALKS, tile_under
from rlaif.game.motion.room_graph import Crossing, RoomGraph, RoomId
from rlaif.game.motion.room_watcher import standing
from rlaif.game.motion.things import Thing, edges, things
from rlaif.trainer.search.cell import coins_of
from rlaif.trainer.search.draws import draw_index

_GROUP, _ROOM = address("wActiveGroup"), address("wActiveRoom")
_SEASON, _GRAB = address("wRoomStateModifier"), address("wLinkGrabState")
_B, _A = address("wInventoryB"), address("wInventoryA")
_STORAGE, _CELLS = address("wInventoryStorage"), 16
_OUTDOORS = 0
_PUSHES = 2
"""Number of walks against the object; one lasts until a block has moved by a tile."""

_FAVOURED = {"leave": 3.0, "enter": 3.0, "take": 3.0, "fight": 2.0}
"""Weights relative to other verbs; without a preference for exits the search would stay near the
start."""

_JUMPER = "feather"

_MAX_DECISIONS = 40
_MAX_CLOSED = 4


class Proposal(NamedTuple):
    """Something to do, and the key under which its attempts are counted."""

    verb: str
    target: int  # decision that walks there, LEAVE or GO_TO; -1: on the spot
    item: str | None
    key: bytes
    way: Action | None = None  # of a push; None: away from where the player stands


class Tries:
    """Number of attempts by key: those of this process, and those of others as far as reported."""

    def __init__(self) -> None:
        self._counts: dict[bytes, int] = {}
        self._unreported: dict[bytes, int] = {}

    def __getitem__(self, key: bytes) -> int:
        return self._counts.get(key, 0)

    def add(self, key: bytes) -> None:
        """Count one more attempt."""
        self._counts[key] = self._counts.get(key, 0) + 1
        self._unreported[key] = self._unreported.get(key, 0) + 1

    def news(self) -> dict[bytes, int]:
        """Return the attempts since the last call."""
        news, self._unreported = self._unreported, {}
        return news

    def learn(self, others: dict[bytes, int]) -> None:
        """Add the attempts of other processes."""
        for key, count in others.items():
            self._counts[key] = self._counts.get(key, 0) + count

    def all(self) -> dict[bytes, int]:
        return dict(self._counts)

    def state_dict(self) -> dict[str, int]:
        return {key.hex(): count for key, count in self._counts.items()}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self._counts = {bytes.fromhex(key): count for key, count in state.items()}


def proposals(ram: RamBlocks) -> list[Proposal]:
    """Return everything that could be tried in a state; never empty."""
    if not has_control(ram):
        return _without_control(ram)
    sign = _Signature(ram)
    found = [
        Proposal("leave", LEAVE.start + way, None, sign.key(f"edge{way}", "leave"))
        for way, leads in enumerate(edges(ram))
        if leads
    ]
    can = allowed(ram, "macros")
    items = [name for name in owned(ram) if can[item(name)]]
    for thing in things(ram):
        if can[go_to(thing.tile)]:
            found += _about(thing, items, sign)
    if can[FIGHT]:
        found.append(Proposal("fight", -1, None, sign.key("enemy", "fight")))
    found += [Proposal("use", -1, name, sign.key("here", name)) for name in items]
    if ram.u8(_GRAB):
        found.append(Proposal("touch", -1, None, sign.key("carried", "touch")))
    return found or [Proposal("walk", -1, None, sign.key("here", "walk"))]


def choose(found: list[Proposal], tries: Tries, rng: np.random.Generator) -> Proposal:
    """Draw a proposal with a weight that decreases with the number of attempts."""
    weights = [_FAVOURED.get(each.verb, 1.0) / (1 + tries[each.key]) for each in found]
    return found[draw_index(rng, weights)]


def untried(found: Iterable[Proposal], tries: Tries) -> int:
    """Return how many distinct keys have no attempt with the present items."""
    return len({each.key for each in found if not tries[each.key]})


def decisions_of(proposal: Proposal, rng: np.random.Generator) -> Generator[int, RamBlocks, None]:
    """Yield the decisions that carry out a proposal; send back the RAM after each of them."""
    ram: RamBlocks | None = None
    if proposal.target >= 0:
        ram = yield proposal.target
    match proposal.verb:
        case "touch":
            yield INTERACT
        case "answer_other":
            yield BUTTON.start + Action.RIGHT
            yield INTERACT
        case "refuse":
            yield BUTTON.start + Action.B
        case "fight":
            yield FIGHT
        case "push" if ram is not None:
            yield from _push(standing(ram).facing, proposal.way, rng)
        case "walk":
            yield WALK.start + int(rng.integers(len(WALKS)))
        case "use":
            yield from _use(str(proposal.item), ram, rng)


def _push(
    facing: Action, way: Action | None, rng: np.random.Generator
) -> Generator[int, RamBlocks, None]:
    """Push what is ahead, or walk around it first, by a tile per walk, to push it another way."""
    around: tuple[Action, ...] = ()
    way = facing if way is None else way
    if way == OPPOSITE[facing]:
        aside = [each for each in WALKS if each not in (facing, way)][int(rng.integers(2))]
        around = (aside, facing, facing, OPPOSITE[aside])
    elif way != facing:
        around = (OPPOSITE[way], facing)
    for walk in (*around, *(way,) * _PUSHES):
        yield WALK.start + WALKS.index(walk)


def _use(
    name: str, ram: RamBlocks | None, rng: np.random.Generator
) -> Generator[int, RamBlocks, None]:
    way = WALKS[int(rng.integers(len(WALKS)))] if ram is None else standing(ram).facing
    yield item(name)
    if name == _JUMPER:
        yield AIMED.start + WALKS.index(way)


def _about(thing: Thing, items: list[str], sign: "_Signature") -> list[Proposal]:
    target = go_to(thing.tile)
    if thing.kind == "door":
        place = f"door{thing.tile.row:x}{thing.tile.column:x}"
        return [Proposal("enter", target, None, sign.key(place, "enter"))]
    if thing.kind == "enemy":
        return []  # fought from where the player is
    if thing.kind == "item":
        return [Proposal("take", target, None, sign.key(thing.kind, "take"))]
    found = [Proposal("use", target, name, sign.key(thing.kind, name)) for name in items]
    if thing.stepped_on:
        return [Proposal("step", target, None, sign.key(thing.kind, "step")), *found]
    pushes = (
        [Proposal("push", target, None, sign.key(thing.kind, f"push {w.name}"), w) for w in WALKS]
        if thing.kind == "block"
        else [Proposal("push", target, None, sign.key(thing.kind, "push"))]
    )
    return [Proposal("touch", target, None, sign.key(thing.kind, "touch")), *pushes, *found]


def _without_control(ram: RamBlocks) -> list[Proposal]:
    sign = _Signature(ram)
    if is_text_choice(ram):
        return [
            Proposal(verb, -1, None, sign.key("question", verb))
            for verb in ("touch", "answer_other", "refuse")
        ]
    return [Proposal("touch", -1, None, sign.key("text", "touch"))]


def owned(ram: RamBlocks) -> list[str]:
    """Return the names of the usable items that the player has."""
    at_hand = {ram.u8(_B), ram.u8(_A), *ram.block(_STORAGE, _CELLS)}
    return [name for name in ITEMS if NAMED_ITEMS[name] in at_hand]


class _Signature:
    """Key of attempts: the room, the owned items and, for people, the money."""

    def __init__(self, ram: RamBlocks) -> None:
        group = ram.u8(_GROUP)
        season = ram.u8(_SEASON) & 3 if group == _OUTDOORS else 0
        self._money = coins_of(ram)
        self._here = f"{group}/{ram.u8(_ROOM)}/{season}/{','.join(owned(ram))}"

    def key(self, kind: str, verb: str) -> bytes:
        """Return a digest of 8 bytes."""
        asks = kind in ("person", "question")
        name = f"{self._here}/{kind}/{verb}/{self._money if asks else ''}"
        return hashlib.blake2b(name.encode(), digest_size=8).digest()


def room_key(ram: RamBlocks, room: RoomId) -> bytes:
    """Return the key under which attempts in a room with the present items are counted."""
    name = f"room {room.group}/{room.room} {','.join(owned(ram))}"
    return hashlib.blake2b(name.encode(), digest_size=8).digest()


def destination(
    ram: RamBlocks, graph: RoomGraph, tries: Tries, rng: np.random.Generator
) -> RoomId | None:
    """Draw a visited room, preferring those with few attempts; None if no other room is known."""
    rooms = sorted(graph.rooms - {standing(ram).room})
    if not rooms:
        return None
    return rooms[draw_index(rng, [1.0 / (1 + tries[room_key(ram, room)]) for room in rooms])]


def trip(ram: RamBlocks, room: RoomId, graph: RoomGraph) -> Generator[int, RamBlocks, None]:
    """Yield the decisions of the trip; send back the RAM after each of them.

    It ends in the room, or where no known crossing is open.
    """
    closed: list[Crossing] = []
    for _ in range(_MAX_DECISIONS):
        here = standing(ram)
        if here.room == room or len(closed) > _MAX_CLOSED:
            return
        route = graph.route(here.room, room, x=here.x, y=here.y, without=closed)
        if not route:
            return
        ram = yield _decision(route[0])
        if not has_control(ram) or standing(ram).room == here.room:
            closed.append(route[0])


def _decision(crossing: Crossing) -> int:
    if crossing.kind == "edge":
        return LEAVE.start + WALKS.index(crossing.direction)
    return go_to(tile_under(crossing.x, crossing.y))
