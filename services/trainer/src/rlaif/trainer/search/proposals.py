"""What to try in a room: RAM and counts of what was tried in, something to do out.

A proposal is a thing or a way out and a verb: go there and touch it, push it, use an item on it.
What was tried least is tried first, counted by room, kind of thing, verb and what is owned. So a
new item makes old things worth another try, and six bushes are not six times as interesting.
"""

import hashlib
from collections.abc import Generator, Iterable
from typing import NamedTuple

import numpy as np

from rlaif.contracts.items import NAMED_ITEMS
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
from rlaif.game.memory.blocks import RamBlocks, bcd16
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control, is_text_choice
from rlaif.game.motion.grid import WALKS
from rlaif.game.motion.room_watcher import standing
from rlaif.game.motion.things import Thing, edges, things

_GROUP, _ROOM = address("wActiveGroup"), address("wActiveRoom")
_SEASON, _GRAB = address("wRoomStateModifier"), address("wLinkGrabState")
_B, _A = address("wInventoryB"), address("wInventoryA")
_STORAGE, _CELLS = address("wInventoryStorage"), 16
_MONEY = address("wNumRupees"), address("wNumOreChunks")
_OUTDOORS = 0
_COINS_A_STEP, _MOST_COINS = 5, 100
_PUSHES = 2
"""Walks against it; one lasts until a block has moved a tile."""

_FAVOURED = {"leave": 3.0, "enter": 3.0, "take": 3.0, "fight": 2.0}
"""How much more often than other verbs; without ways out one would never come far."""

_JUMPER = "feather"


class Proposal(NamedTuple):
    """Something to do, and what its tries are counted under."""

    verb: str
    target: int  # decision that goes there, LEAVE or GO_TO; -1 on the spot
    item: str | None
    key: bytes


class Tries:
    """How often what was tried: by this process, and by all of them as far as it was told."""

    def __init__(self) -> None:
        self._counts: dict[bytes, int] = {}
        self._news: dict[bytes, int] = {}

    def __getitem__(self, key: bytes) -> int:
        return self._counts.get(key, 0)

    def add(self, key: bytes) -> None:
        """It is tried once more."""
        self._counts[key] = self._counts.get(key, 0) + 1
        self._news[key] = self._news.get(key, 0) + 1

    def news(self) -> dict[bytes, int]:
        """What was tried since this was asked last."""
        news, self._news = self._news, {}
        return news

    def learn(self, others: dict[bytes, int]) -> None:
        """Others tried this."""
        for key, count in others.items():
            self._counts[key] = self._counts.get(key, 0) + count

    def all(self) -> dict[bytes, int]:
        """All counts."""
        return dict(self._counts)

    def state_dict(self) -> dict[str, int]:
        """All counts."""
        return {key.hex(): count for key, count in self._counts.items()}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Resume with what `state_dict` gave."""
        self._counts = {bytes.fromhex(key): count for key, count in state.items()}


def proposals(ram: RamBlocks) -> list[Proposal]:
    """All that could be tried at a moment; never empty."""
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
    """One of the proposals; what was tried least is likeliest."""
    weights = np.array([_FAVOURED.get(each.verb, 1.0) / (1 + tries[each.key]) for each in found])
    sums = np.cumsum(weights)
    return found[
        min(int(np.searchsorted(sums, rng.random() * sums[-1], side="right")), len(found) - 1)
    ]


def untried(found: Iterable[Proposal], tries: Tries) -> int:
    """How many kinds of proposals nobody has tried with what is owned."""
    return len({each.key for each in found if not tries[each.key]})


def decisions_of(proposal: Proposal, rng: np.random.Generator) -> Generator[int, RamBlocks, None]:
    """The decisions that carry a proposal out; each `yield` wants the RAM after the decision."""
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
            way = WALK.start + WALKS.index(standing(ram).facing)
            for _ in range(_PUSHES):
                yield way
        case "walk":
            yield WALK.start + int(rng.integers(len(WALKS)))
        case "use":
            yield from _use(str(proposal.item), ram, rng)


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
        return []  # they are fought from where he is
    if thing.kind == "item":
        return [Proposal("take", target, None, sign.key(thing.kind, "take"))]
    found = [Proposal("use", target, name, sign.key(thing.kind, name)) for name in items]
    if thing.stepped_on:
        return [Proposal("step", target, None, sign.key(thing.kind, "step")), *found]
    return [
        Proposal("touch", target, None, sign.key(thing.kind, "touch")),
        Proposal("push", target, None, sign.key(thing.kind, "push")),
        *found,
    ]


def _without_control(ram: RamBlocks) -> list[Proposal]:
    sign = _Signature(ram)
    if is_text_choice(ram):
        return [
            Proposal(verb, -1, None, sign.key("question", verb))
            for verb in ("touch", "answer_other", "refuse")
        ]
    return [Proposal("touch", -1, None, sign.key("text", "touch"))]


def owned(ram: RamBlocks) -> list[str]:
    """The usable items that the player has, by name."""
    at_hand = {ram.u8(_B), ram.u8(_A), *ram.block(_STORAGE, _CELLS)}
    return [name for name in ITEMS if NAMED_ITEMS[name] in at_hand]


class _Signature:
    """What tries are counted under: the room, what is owned, and for people the money."""

    def __init__(self, ram: RamBlocks) -> None:
        group = ram.u8(_GROUP)
        season = ram.u8(_SEASON) & 3 if group == _OUTDOORS else 0
        money = max(bcd16(ram.u16(where)) for where in _MONEY)
        self._money = min(money, _MOST_COINS) // _COINS_A_STEP
        self._here = f"{group}/{ram.u8(_ROOM)}/{season}/{','.join(owned(ram))}"

    def key(self, kind: str, verb: str) -> bytes:
        """Eight bytes."""
        asks = kind in ("person", "question")
        name = f"{self._here}/{kind}/{verb}/{self._money if asks else ''}"
        return hashlib.blake2b(name.encode(), digest_size=8).digest()
