"""world.json: all facts about a cartridge, derived from its tables and the solution alone.

The format is in libs/game/README.md.
"""

import csv
import hashlib
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from rlaif.contracts.game.names import SEEDLING_VALE, seed_and_size
from rlaif.game.worlds.rom import engine, read_tables
from rlaif.game.worlds.solver import Goal, Leg, Move, Solver, bcd, name_of
from rlaif.game.worlds.tables import (
    DOWN,
    FREE,
    LEFT,
    SEASONS,
    SIDES,
    SIGNS,
    STEPS,
    UP,
    Condition,
    Effect,
    Flag,
    Key,
    Kind,
    Room,
    Sign,
    Thing,
    Treasure,
    neighbour,
    read_data,
)
from rlaif.game.worlds.words import WORDS
from rlaif.guides.guides import guide_of

FORMAT = 1
HEART = "heart_container"
_SHOWN = {
    Kind.NPC: "person", Kind.ENEMY: "enemy", Kind.PICKUP: "heart", Kind.ESSENCE: "essence",
    Kind.SIGN: "sign", Kind.CHEST: "chest", Kind.TREASURE: "treasure", Kind.SHOP: "shop",
    Kind.BUTTON: "button", Kind.LEVER: "lever", Kind.DIG: "soil", Kind.BOSS: "boss",
    Kind.SCENE: "spirit",
}  # fmt: skip
_LOCK_DEPTH = 2
"""In tiles from the edge; only a pit can be one tile farther, as a jump needs a tile to start."""


@dataclass(frozen=True)
class Objective:
    """One objective of the guide: the legs that lead to it, the last of which ends it."""

    legs: tuple[Leg, ...]
    title: str = ""
    text: str = ""


class Facts:
    """The content of a cartridge with a directory, in the terms of world.json."""

    def __init__(self, rom: bytes, legs: list[Leg] | None = None) -> None:
        self.rom, self.tables = rom, read_tables(rom)
        self._solver = solver = Solver(self.tables)
        if rom == engine():
            self._objectives = guide_objectives(solver)
        else:
            self._objectives = grouped(folded(solver.solve() if legs is None else legs))
        self.legs = [leg for it in self._objectives for leg in it.legs]
        self.rooms = self.tables.rooms
        self._by_key = {room.key: room for room in self.rooms}

    def world(self, game: str) -> dict[str, Any]:
        """The contents of world.json."""
        group, number, pos = self.tables.start
        seed, size = seed_and_size(game) or (None, None)
        drawn = {} if seed is None else {"seed": seed, "size": size, "use": use_of(seed)}
        signs = sorted({sign for room in self.rooms for line in room.rows for sign in line})
        return {
            "format": FORMAT,
            "game": game,
            **drawn,
            "title": " ".join(line.strip() for line in self.tables.title).title(),
            "rom_sha256": hashlib.sha256(self.rom).hexdigest(),
            "start": {"room": _key((group, number)), "tile": divmod(pos, 16), "season": SEASONS[0]},
            "signs": {sign: _sign(SIGNS[sign]) for sign in signs},
            "rooms": [self._room(room) for room in self.rooms],
            "objectives": [
                self._objective(number, it) for number, it in enumerate(self._objectives, 1)
            ],
            "locks": list(self._locks()),
            "distances": self._distances(),
            "milestones": [*self.milestones()],
        }

    # --- rooms ------------------------------------------------------------------

    def _room(self, room: Room) -> dict[str, Any]:
        ways = {
            SIDES[way]: _key(other.key) for way, other in self._beside(room) if passage(room, way)
        }
        doors = [
            {"tile": it.tile, "to": _key((it.a, it.b)), "arrive": divmod(it.c, 16)}
            for it in room.of(Kind.WARP)
        ]
        return {
            "room": _key(room.key), "name": room.name, "map": room.rows, "ways": ways,
            "doors": doors, "solid": [it.tile for it in room.of(Kind.NPC, Kind.SHOP)],
            "objects": [
                self._object(room, it) for it in room.things
                if it.kind in _SHOWN or (it.kind, it.b) == (Kind.SOLVE, Effect.KEY)
            ],
        }  # fmt: skip

    def _beside(self, room: Room) -> Iterator[tuple[int, Room]]:
        for way in range(4):
            if other := self._by_key.get(neighbour(room.key, way)):
                yield way, other

    def _object(self, room: Room, it: Thing) -> dict[str, Any]:
        found: dict[str, Any] = {"kind": _SHOWN.get(Kind(it.kind), "key"), "tile": it.tile}
        match it.kind:
            case Kind.CHEST | Kind.TREASURE | Kind.DIG:
                found["item"] = name_of(it.a)
                found["amount"] = bcd(it.b if it.kind == Kind.CHEST else it.c)
                if it.kind == Kind.CHEST and it.c:
                    found["hidden"] = next(
                        Condition(each.a).name.lower() for each in room.of(Kind.SOLVE)
                    )
            case Kind.SOLVE:
                found["hidden"] = Condition(it.a).name.lower()
            case Kind.SHOP:
                found |= {"item": name_of(it.a), "price": bcd(it.b), "text": self._text(it.c)}
            case Kind.NPC:
                found["text"] = self._text(it.b)
                if gift := next((gift for text, gift, _ in self.tables.gifts if text == it.b), 0):
                    found["item"] = name_of(gift)
                talks = (each for each in self.tables.talks if each[0] == it.b)
                if later := [self._text(said) for *_, said in talks]:
                    found["later"] = later
            case Kind.SCENE:
                found |= {"item": name_of(it.b), "text": self._text(it.a)}
            case Kind.SIGN:
                found["text"] = self._text(it.a)
        return found

    def _text(self, number: int) -> str:
        return " ".join(self.tables.texts[number].split())

    def _distances(self) -> dict[str, int]:
        """Distances through open and locked passages alike."""
        start = self.tables.start[:2]
        found, edge = {start: 0}, [start]
        for here in edge:  # grows while it is read
            room = self._by_key[here]
            exits = [other.key for way, other in self._beside(room) if passage(room, way)]
            for to in (*exits, *((it.a, it.b) for it in room.of(Kind.WARP))):
                if to not in found:
                    found[to] = found[here] + 1
                    edge.append(to)
        return {_key(key): distance for key, distance in found.items()}

    def _locks(self) -> Iterator[dict[str, Any]]:
        known = set()
        for room in self.rooms:
            for way, other in self._beside(room):
                sign, wide = _lock(room, way)
                if not sign or (other.key, room.key, sign) in known:
                    continue
                known.add((room.key, other.key, sign))
                found = _sign(SIGNS[sign])
                ways = [each for each in found["ways"] if not (wide and each["how"] == "jump")]
                yield {
                    "room": _key(room.key), "side": SIDES[way], "to": _key(other.key),
                    "sign": sign, "name": found["name"], "ways": ways,
                }  # fmt: skip

    # --- the solution -------------------------------------------------------------

    def _objective(self, number: int, objective: Objective) -> dict[str, Any]:
        *first, last = objective.legs
        title, done = objective.title or self._title(objective), self._done(number)
        text = objective.text or f"{self._line(objective)} [{self._shown(done)}]"
        found = {"number": number, "text": text, "title": title, **self._step(last)}
        if last.goal.item == "rupees":
            found["places"] = [*self._places(objective)]
        steps = [self._step(leg) for leg in first if not _coins(leg)]
        if steps:
            found["first"] = steps
        moves = [move for leg in objective.legs for move in leg.moves]
        route = {
            "rooms": [_key(move.to) for move in moves if move.to], "steps": len(moves),
            "changes": [
                {"room": _key(move.room), "tile": move.tile, "how": _how(move)}
                for leg in objective.legs for move in leg.changes
            ],
        }  # fmt: skip
        return found | {"done": done, "route": route}

    def _step(self, leg: Leg) -> dict[str, Any]:
        goal = leg.goal
        found: dict[str, Any] = {
            "what": goal.what, "room": _key(self.rooms[goal.room].key), "stands": goal.stands,
        }  # fmt: skip
        if goal.what != "enter":
            found["tile"] = goal.thing.tile
        if goal.item:
            found["item"] = goal.item
        if goal.what == "shop":
            found["price"] = bcd(goal.thing.b)
        return found

    def _places(self, objective: Objective) -> Iterator[dict[str, Any]]:
        """Places of coins, with the total that the solution owns after each."""
        owned = {
            room: max(leg.coins for leg in legs)
            for room, legs in groupby(
                (leg for leg in objective.legs if _coins(leg)),
                key=lambda leg: leg.goal.room,
            )
        }
        for goal in self._solver.goals:
            if goal.room in owned and goal.item == "rupees":
                yield {
                    "room": _key(self.rooms[goal.room].key), "tile": goal.thing.tile,
                    "stands": goal.stands, "rupees": owned[goal.room],
                }  # fmt: skip

    def _done(self, number: int) -> dict[str, Any]:
        objective, later = self._objectives[number - 1], self._objectives[number:]
        leg = objective.legs[-1]
        item = leg.goal.item
        if item == "rupees":
            shops = [it.legs[-1] for it in later if it.legs[-1].goal.what == "shop"]
            coins = min(leg.coins, self._cost(later) or leg.coins)
            return {"rupees": coins, "items": [shop.goal.item for shop in shops]}
        if item == "boss_key":
            return {"boss_key": True}
        if item == "essence":
            return {"essences": 1}
        if item not in ("", "small_key"):
            return {"items": [item]}
        legs = [each for it in later for each in it.legs]
        if item == "small_key":
            while legs[0].goal.what != "door":
                legs.pop(0)
            return {"keys": leg.keys, "rooms": self._opened(legs)}
        return {"rooms": self._opened([*objective.legs, *legs])}

    def _cost(self, later: list[Objective]) -> int:
        """Cost of all purchases before coins are collected again."""
        cost = 0
        for it in later:
            goal = it.legs[-1].goal
            if goal.item == "rupees":
                break
            cost += bcd(goal.thing.b) if goal.what == "shop" else 0
        return cost

    def _opened(self, legs: list[Leg]) -> list[str]:
        """Rooms that the solution first reaches by these legs, in the order of their opening."""
        before = self.legs[: self.legs.index(legs[0])]
        known = {move.to for leg in before for move in leg.moves}
        return [
            _key(key) for key in dict.fromkeys(key for leg in legs for key in sorted(leg.opens))
            if key not in known
        ]  # fmt: skip

    def _shown(self, done: dict[str, Any]) -> str:
        """The evidence that an objective is done, for the guide."""
        shown = [f"{done['rupees']} rupees"] if "rupees" in done else []
        shown += [f"{name} {done[name]}" for name in ("keys", "essences") if name in done]
        shown += ["boss_key"] * ("boss_key" in done) + done.get("items", [])
        if rooms := done.get("rooms"):
            names = [self._by_key[parse_key(key)].name for key in rooms]
            shown.append(f"place {' or '.join(names[:2])}{' or beyond' * (len(names) > 2)}")
        return ", or ".join(shown)

    def _title(self, objective: Objective) -> str:
        goal = objective.legs[-1].goal
        name = self.rooms[goal.room].name
        if goal.item in ("", "rupees", "small_key"):
            return str(WORDS["titles"][goal.item or goal.what].format(place=name))
        return f"the {WORDS['items'][goal.item]}"

    def _line(self, objective: Objective) -> str:
        """An objective as a line of the guide."""
        goal = objective.legs[-1].goal
        how = ", ".join(dict.fromkeys(self._deed(leg.goal) for leg in objective.legs))
        named = goal.item not in ("", "rupees", "essence")
        get = f"Get {self._title(objective)}: " if named else ""
        way = dict.fromkeys(
            f"{WORDS['deeds'][move.how].format(thing=self._name_at(move), season=_how(move))} in "
            f"{self._by_key[move.room].name}"
            for leg in objective.legs
            for move in leg.changes
        )
        return f"{get or ''}{how if get else how[0].upper() + how[1:]}" + (
            f"; on the way {', '.join(way)}." if way else "."
        )

    def _deed(self, goal: Goal) -> str:
        price = bcd(goal.thing.b) if goal.what == "shop" else 0
        words = WORDS["objectives"][goal.what]
        return str(words.format(place=self.rooms[goal.room].name, price=price))

    def _name_at(self, move: Move) -> str:
        return SIGNS[self._by_key[move.room].rows[move.tile[0]][move.tile[1]]].name

    def milestones(self) -> Iterator[dict[str, str]]:
        """Yield the main ones from the solution, then other contents of chests."""
        used = set()
        for leg in self.legs:
            room, test = self.rooms[leg.goal.room], self._test(leg.goal)
            used.add((room.key, leg.goal.thing))
            if test:
                title = self._title(Objective((leg,)))
                yield _milestone(title, title.removeprefix("the "), "main", test)
        for room in self.rooms:
            for it in room.of(Kind.CHEST):
                if (room.key, it) not in used:
                    title = f"{WORDS['items'][name_of(it.a)]} of {room.name}"
                    yield _milestone(title, title, "", _room_flag(room, Flag.ITEM))

    def _test(self, goal: Goal) -> str:
        """A test of the memory, as in `stories`; '' if there is no permanent one."""
        room = self.rooms[goal.room]
        match goal.what, goal.item:
            case "boss", _:
                return _room_flag(room, Flag.OPEN)
            case "door", _:
                stand, tile = goal.stands[0], goal.thing.tile
                way = STEPS.index((tile[0] - stand[0], tile[1] - stand[1]))
                return _room_flag(room, 1 << way)
            case "dig" | "lever" | "enter", _:
                return ""
            case _, "essence" | "boss_key":
                return f"{goal.item} 1"
            case _, "rupees" | "small_key":
                return _room_flag(room, Flag.ITEM)
        return f"treasure {Treasure[goal.item.upper()]:#04x}"


def guide_objectives(solver: Solver) -> list[Objective]:
    """The objectives of Seedling Vale in the order of its guide, which is not the shortest."""
    rows = list(csv.DictReader(read_data("seedling.csv").splitlines()))
    legs = solver.follow([(row["what"], parse_key(row["room"]), row["item"]) for row in rows])
    parts = [
        (title, tuple(leg for _, leg in part))
        for title, part in groupby(zip(rows, legs, strict=True), key=lambda each: each[0]["title"])
    ]
    lines = guide_of(SEEDLING_VALE).objectives
    return [Objective(of, title, text) for (title, of), text in zip(parts, lines, strict=True)]


def grouped(legs: list[Leg]) -> list[Objective]:
    """Each leg as an objective; consecutive ones to coins are merged."""
    found: list[Objective] = []
    for leg in legs:
        before = found.pop().legs if found and _coins(leg) and _coins(found[-1].legs[0]) else ()
        found.append(Objective((*before, leg)))
    return found


def _coins(leg: Leg) -> bool:
    return leg.goal.item == "rupees"


def use_of(seed: int) -> str:
    """Whether worlds of a seed are for development, tuning or testing; else `none`."""
    for use, seeds in tomllib.loads(read_data("seeds.toml")).items():
        first, _, last = seeds.partition("-")
        if int(first) <= seed <= int(last):
            return str(use)
    return "none"


def folded(legs: list[Leg]) -> list[Leg]:
    """The legs that the quest needs, each merged with the preceding detours to whole hearts."""
    found, detour = [], []
    for leg in legs:
        detour += leg.moves
        if leg.goal.item != HEART:
            found.append(replace(leg, moves=detour))
            detour = []
    return found


def _how(move: Move) -> str:
    return SEASONS[move.season] if move.how == "turn" else move.how


def passage(room: Room, way: int, depth: int = 0) -> str:
    """Signs of the tiles `depth` tiles behind the passable ones of an edge."""
    edge, line = _line(room, way, 0), _line(room, way, depth)
    return "".join(tile for outer, tile in zip(edge, line, strict=True) if SIGNS[outer].ways)


def _line(room: Room, way: int, depth: int) -> str:
    lines = (
        room.rows if way in (UP, DOWN) else ["".join(line) for line in zip(*room.rows, strict=True)]
    )
    return lines[depth if way in (UP, LEFT) else -1 - depth]


def _lock(room: Room, way: int) -> tuple[str, bool]:
    """The sign that closes an exit of a room, or '', and whether two of them are in a row."""
    for depth in range(_LOCK_DEPTH + 1):
        signs = passage(room, way, depth)
        closed = len({*signs}) == 1 and signs[0] not in FREE and SIGNS[signs[0]].ways
        if closed and (depth < _LOCK_DEPTH or signs[0] == "j"):
            return signs[0], {signs[0]} == {*passage(room, way, depth + 1)}
    return "", False


def _sign(sign: Sign) -> dict[str, Any]:
    return {
        "name": sign.name,
        "ways": [
            {
                "how": way.how, "needs": sorted(way.needs),
                "season": None if way.season is None else SEASONS[way.season],
            }
            for way in sign.ways
        ],
    }  # fmt: skip


def _milestone(name: str, title: str, quest: str, test: str) -> dict[str, str]:
    words = "".join(letter if letter.isalnum() else " " for letter in name.lower()).split()
    return {
        "name": "_".join(words).removeprefix("the_"), "title": title[0].upper() + title[1:],
        "quest": quest, "test": test,
    }  # fmt: skip


def _room_flag(room: Room, bits: int) -> str:
    return f"room_flag {room.group} {room.id:#04x} {int(bits):#04x}"


def _key(key: Key) -> str:
    return f"{key[0]}/{key[1]}"


def parse_key(key: str) -> Key:
    """Group and id of a room that is named `group/number`."""
    group, _, number = key.partition("/")
    return int(group), int(number)
