"""world.json: all that is known of a cartridge, derived from its tables and the solution alone.

The format is in the decision record on generated worlds (docs/adr/0038).
"""

import hashlib
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rlaif.contracts.game.names import seed_and_size
from rlaif.game.worlds.rom import read_tables
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

FORMAT = 1
HEART = "heart_container"
_SHOWN = {
    Kind.NPC: "person", Kind.ENEMY: "enemy", Kind.PICKUP: "heart", Kind.ESSENCE: "essence",
    Kind.SIGN: "sign", Kind.CHEST: "chest", Kind.TREASURE: "treasure", Kind.SHOP: "shop",
    Kind.BUTTON: "button", Kind.LEVER: "lever", Kind.DIG: "soil", Kind.BOSS: "boss",
    Kind.SCENE: "spirit",
}  # fmt: skip
_LOCK_DEPTH = 2
"""Of tiles from the edge; only a pit can be one farther, as one needs a place to jump from."""


class Facts:
    """What a cartridge with a directory holds, in the terms of world.json."""

    def __init__(self, rom: bytes, legs: list[Leg] | None = None) -> None:
        self.rom, self.tables = rom, read_tables(rom)
        self._solver = Solver(self.tables)
        self.legs = folded(self._solver.solve() if legs is None else legs)
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
            "objectives": [self._objective(number) for number in range(1, len(self.legs) + 1)],
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
            "objects": [self._object(room, it) for it in room.things if it.kind in _SHOWN],
        }  # fmt: skip

    def _beside(self, room: Room) -> Iterator[tuple[int, Room]]:
        for way in range(4):
            if other := self._by_key.get(neighbour(room.key, way)):
                yield way, other

    def _object(self, room: Room, it: Thing) -> dict[str, Any]:
        found: dict[str, Any] = {"kind": _SHOWN[Kind(it.kind)], "tile": it.tile}
        match it.kind:
            case Kind.CHEST | Kind.TREASURE | Kind.DIG:
                found["item"] = name_of(it.a)
                found["amount"] = bcd(it.b if it.kind == Kind.CHEST else it.c)
                if it.kind == Kind.CHEST and it.c:
                    found["hidden"] = next(
                        Condition(each.a).name.lower() for each in room.of(Kind.SOLVE)
                    )
            case Kind.SHOP:
                found |= {"item": name_of(it.a), "price": bcd(it.b), "text": self._text(it.c)}
            case Kind.NPC:
                found["text"] = self._text(it.b)
            case Kind.SIGN | Kind.SCENE:
                found["text"] = self._text(it.a)
        return found

    def _text(self, number: int) -> str:
        return " ".join(self.tables.texts[number].split())

    def _distances(self) -> dict[str, int]:
        """Through open and locked ways alike."""
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
                sign = _lock(room, way)
                if sign is None or (other.key, room.key, sign) in known:
                    continue
                known.add((room.key, other.key, sign))
                passing = SIGNS[sign].ways[0]
                needs = {*passing.needs, *(() if passing.season is None else {"rod_of_seasons"})}
                yield {
                    "room": _key(room.key), "side": SIDES[way], "to": _key(other.key),
                    "sign": sign, "name": SIGNS[sign].name, "needs": sorted(needs),
                    "season": None if passing.season is None else SEASONS[passing.season],
                }  # fmt: skip

    # --- the solution -------------------------------------------------------------

    def _objective(self, number: int) -> dict[str, Any]:
        leg = self.legs[number - 1]
        goal, room = leg.goal, self.rooms[leg.goal.room]
        done = self._done(number - 1)
        found = {
            "number": number, "title": self._title(goal), "what": goal.what,
            "room": _key(room.key), "tile": goal.thing.tile, "stands": goal.stands,
        }  # fmt: skip
        if goal.item:
            found["item"] = goal.item
        if goal.what == "shop":
            found["price"] = bcd(goal.thing.b)
        route = {
            "rooms": [_key(move.to) for move in leg.moves if move.to], "steps": len(leg.moves),
            "changes": [
                {"room": _key(move.room), "tile": move.tile, "how": _how(move)}
                for move in leg.changes
            ],
        }  # fmt: skip
        text = f"{self._line(leg)} [{self._shown(done)}]"
        return found | {"text": text, "done": done, "route": route}

    def _done(self, index: int) -> dict[str, Any]:
        leg = self.legs[index]
        item = leg.goal.item
        if item == "rupees":
            bought = [each.goal.item for each in self.legs[index:] if each.goal.what == "shop"]
            return {"rupees": leg.coins, "items": bought}
        if item == "small_key":
            doors = (each.opens for each in self.legs[index:] if each.goal.what == "door")
            return {"keys": leg.keys, "rooms": self._keys(next(doors, frozenset()))}
        if item == "boss_key":
            return {"boss_key": True}
        if item == "essence":
            return {"essences": 1}
        return {"items": [item]} if item else {"rooms": self._keys(leg.opens)}

    def _keys(self, rooms: frozenset[Key]) -> list[str]:
        return [_key(room.key) for room in self.rooms if room.key in rooms]

    def _shown(self, done: dict[str, Any]) -> str:
        """What shows that an objective is done, for the guide."""
        shown = [f"{done['rupees']} rupees"] if "rupees" in done else []
        shown += [f"{name} {done[name]}" for name in ("keys", "essences") if name in done]
        shown += ["boss_key"] * ("boss_key" in done) + done.get("items", [])
        if rooms := done.get("rooms"):
            names = [self._by_key[_parse(key)].name for key in rooms]
            shown.append(f"place {' or '.join(names[:2])}{' or beyond' * (len(names) > 2)}")
        return ", or ".join(shown)

    def _title(self, goal: Goal) -> str:
        name = self.rooms[goal.room].name
        if goal.item in ("", "rupees", "small_key"):
            return str(WORDS["titles"][goal.item or goal.what].format(place=name))
        return f"the {WORDS['items'][goal.item]}"

    def _line(self, leg: Leg) -> str:
        """An objective as the guide words it."""
        goal, name = leg.goal, self.rooms[leg.goal.room].name
        how = WORDS["objectives"][goal.what].format(
            place=name, price=bcd(goal.thing.b) if goal.what == "shop" else 0
        )
        get = f"Get {self._title(goal)}: " if goal.item not in ("", "rupees", "essence") else ""
        way = dict.fromkeys(
            f"{WORDS['deeds'][move.how].format(thing=self._name_at(move), season=_how(move))} in "
            f"{self._by_key[move.room].name}"
            for move in leg.changes
        )
        return f"{get or ''}{how if get else how[0].upper() + how[1:]}" + (
            f"; on the way {', '.join(way)}." if way else "."
        )

    def _name_at(self, move: Move) -> str:
        return SIGNS[self._by_key[move.room].rows[move.tile[0]][move.tile[1]]].name

    def milestones(self) -> Iterator[dict[str, str]]:
        """Main ones from the solution, then what else lies in chests."""
        used = set()
        for leg in self.legs:
            room, test = self.rooms[leg.goal.room], self._test(leg.goal)
            used.add((room.key, leg.goal.thing))
            if test:
                title = self._title(leg.goal)
                yield _milestone(title, title.removeprefix("the "), "main", test)
        for room in self.rooms:
            for it in room.of(Kind.CHEST):
                if (room.key, it) not in used:
                    title = f"{WORDS['items'][name_of(it.a)]} of {room.name}"
                    yield _milestone(title, title, "", _room_flag(room, Flag.ITEM))

    def _test(self, goal: Goal) -> str:
        """A condition of the memory, as in `stories`; '' where none stays."""
        room = self.rooms[goal.room]
        match goal.what, goal.item:
            case "boss", _:
                return _room_flag(room, Flag.OPEN)
            case "door", _:
                stand, tile = goal.stands[0], goal.thing.tile
                way = STEPS.index((tile[0] - stand[0], tile[1] - stand[1]))
                return _room_flag(room, 1 << way)
            case "dig" | "lever", _:
                return ""
            case _, "essence" | "boss_key":
                return f"{goal.item} 1"
            case _, "rupees" | "small_key":
                return _room_flag(room, Flag.ITEM)
        return f"treasure {Treasure[goal.item.upper()]:#04x}"


def use_of(seed: int) -> str:
    """Whether worlds of a seed are for development, tuning or testing; else `none`."""
    for use, seeds in tomllib.loads(read_data("seeds.toml")).items():
        first, _, last = seeds.partition("-")
        if int(first) <= seed <= int(last):
            return str(use)
    return "none"


def folded(legs: list[Leg]) -> list[Leg]:
    """The legs to what the quest needs, with the detours to whole hearts before them."""
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
    """Signs of the tiles behind those of an edge that can be passed, `depth` tiles from it."""
    edge, line = _line(room, way, 0), _line(room, way, depth)
    return "".join(tile for outer, tile in zip(edge, line, strict=True) if SIGNS[outer].ways)


def _line(room: Room, way: int, depth: int) -> str:
    lines = (
        room.rows if way in (UP, DOWN) else ["".join(line) for line in zip(*room.rows, strict=True)]
    )
    return lines[depth if way in (UP, LEFT) else -1 - depth]


def _lock(room: Room, way: int) -> str | None:
    """The sign that closes a way out of a room."""
    for depth in range(_LOCK_DEPTH + 1):
        signs = passage(room, way, depth)
        closed = len({*signs}) == 1 and signs[0] not in FREE and SIGNS[signs[0]].ways
        if closed and (depth < _LOCK_DEPTH or signs[0] == "j"):
            return signs[0]
    return None


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


def _parse(key: str) -> Key:
    group, _, number = key.partition("/")
    return int(group), int(number)
