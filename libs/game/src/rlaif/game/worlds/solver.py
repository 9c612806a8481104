"""Solves a cartridge: finds the path to its end from its rooms, objects and rules alone.

A state of the player is a tile, a season and its possessions. Dijkstra's algorithm over (room,
tile, season) finds the nearest useful goal: tools, coins while something must be bought, keys, a
locked door or the lever if nothing else is in reach.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from typing import NamedTuple

from rlaif.game.worlds.tables import (
    COLUMNS,
    DOWN,
    DUNGEON,
    ROWS,
    SEASONS,
    SIGNS,
    STEPS,
    UP,
    Condition,
    Effect,
    Key,
    Kind,
    Spot,
    Tables,
    Thing,
    Treasure,
    When,
    neighbour,
)

Node = tuple[int, int, int, int]  # number of the room, row, column, season

_WALKED = frozenset({"walk", "swim", "lever"})
PASSED = _WALKED | {"jump"}
"""Ways to pass a tile that leave it unchanged."""
COSTS = {"walk": 1, "swim": 1, "lever": 1, "cut": 3, "jump": 4, "lift": 5}
"""Costs of the ways to pass a tile, in tiles; others cost `_OTHERS`, a new room 1 more."""
_OTHERS = 8
_LASTING = frozenset({"burn", "bomb", "unlock"})
"""Changes stored in a flag of the room, for all tiles of their kind in it."""


_SOLID = "#"
_GOALS = {
    Kind.CHEST: ("chest", "below", "a"), Kind.NPC: ("gift", "around", "gift"),
    Kind.SHOP: ("shop", "around", "a"), Kind.TREASURE: ("floor", "on", "a"),
    Kind.SOLVE: ("floor", "on", "key"), Kind.SCENE: ("scene", "anywhere", "b"),
    Kind.DIG: ("dig", "around", "a"), Kind.LEVER: ("lever", "around", ""),
    Kind.BOSS: ("boss", "anywhere", ""), Kind.ESSENCE: ("essence", "two below", "essence"),
}  # fmt: skip
"""Goal of an object, where the player stands for it, and the treasure (none if it is 0)."""


class UnsolvableError(Exception):
    """The essence cannot be reached; the message has the reached progress."""


@dataclass(frozen=True)
class Goal:
    """Something to do: where the player stands for it (none: anywhere in the room) and its kind."""

    what: str  # chest, gift, shop, floor, scene, lever, door, boss, essence, dig, enter
    room: int
    stands: tuple[Spot, ...]
    thing: Thing
    item: str = ""


class Move(NamedTuple):
    """One step of a path: start, passed tile, way of passing, and whether it leaves the room."""

    room: Key
    here: Spot
    how: str
    tile: Spot
    way: int
    to: Key | None
    season: int  # after it


@dataclass
class Leg:
    """One step of the solution, from the end of the previous one."""

    goal: Goal
    stand: Spot  # where it is done
    moves: list[Move] = field(default_factory=list)
    opens: frozenset[Key] = frozenset()  # by a door, lever, boss, its key: out of reach before
    coins: int = 0  # owned after it, as keys
    keys: int = 0

    @property
    def changes(self) -> list[Move]:
        """Moves that change a tile or the season; of consecutive season changes the last."""
        found: list[Move] = []
        for move in self.moves:
            if move.how not in PASSED:
                if found and move.how == "turn" and found[-1][:4] == move[:4]:
                    found.pop()
                found.append(move)
        return found


_Step = tuple[str, Spot, int, bool]
"""A move of the search: way of passing, tile, direction, whether into another room."""
_Came = dict[Node, tuple[Node, _Step] | None]


@dataclass
class _State:
    node: Node
    maps: list[list[list[str]]]  # of all rooms, as opened on the way
    owned: set[str] = field(default_factory=set)
    used: set[str] = field(
        default_factory=lambda: {"sword", "essence", "small_key", "boss_key", "heart_container"}
    )
    keys: int = 0
    coins: int = 0
    switched: bool = False
    done: set[Goal] = field(default_factory=set)

    def copy(self) -> "_State":
        maps = [[[*row] for row in the_map] for the_map in self.maps]
        owned, used, done = {*self.owned}, {*self.used}, {*self.done}
        return replace(self, maps=maps, owned=owned, used=used, done=done)


class Solver:
    """Solves one cartridge."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.rooms = tables.rooms
        self._number = {room.key: i for i, room in enumerate(self.rooms)}
        self._warps = [
            {it.tile: (self._number[it.a, it.b], *divmod(it.c, 16)) for it in room.of(Kind.WARP)}
            for room in self.rooms
        ]
        self._beyond = [
            [self._number.get(neighbour(room.key, way)) for way in range(4)] for room in self.rooms
        ]
        self.goals = [goal for i in range(len(self.rooms)) for goal in self._goals_of(i)]
        self._items = self._useful()
        group, number, pos = tables.start
        maps = [[[*row] for row in room.rows] for room in self.rooms]
        self._state = _State((self._number[group, number], *divmod(pos, 16), 0), maps)
        for room, the_map in zip(self.rooms, maps, strict=True):
            for it in room.of(Kind.NPC, Kind.SHOP):
                the_map[it.tile[0]][it.tile[1]] = _SOLID

    def solve(self) -> list[Leg]:
        """The legs to the essence, without tools that none of them uses.

        Raises:
            UnsolvableError: There is no path.
        """
        legs: list[Leg] = []
        before: list[_State] = []
        while True:
            self._solve(legs, before)
            unused = self._items & {leg.goal.item for leg in legs} - self._state.used
            if not unused:
                return legs
            self._items -= unused
            sold = unused & {goal.item for goal in self.goals if goal.what == "shop"}
            changed = {*unused, *(["rupees"] if sold else [])}
            first = next(i for i, leg in enumerate(legs) if leg.goal.item in changed)
            self._state = before[first]  # nothing changes up to there
            del legs[first:], before[first:]

    def follow(self, steps: Iterable[tuple[str, Key, str]]) -> list[Leg]:
        """The legs to these goals, each by what is done, its room and its item.

        Raises:
            UnsolvableError: One is out of reach.
        """
        legs = []
        for what, key, item in steps:
            number = self._number[key]
            entered = Goal("enter", number, (), Thing(0, 0))
            leg = self._next(
                [
                    goal
                    for goal in (*self.goals, entered)
                    if (goal.what, goal.room, goal.item) == (what, number, item)
                    and goal not in self._state.done
                ]
            )
            if leg is None:
                raise UnsolvableError(f"no way to {what} {item} in {self.rooms[number].name}")
            legs.append(leg)
        return legs

    def _solve(self, legs: list[Leg], before: list[_State]) -> None:
        while "essence" not in self._state.owned:
            before.append(self._state.copy())
            for goals in (self._wanted(), self._doors(), self._levers()):
                if goals and (leg := self._next(goals)):
                    legs.append(leg)
                    break
            else:
                raise UnsolvableError(f"after {len(legs)} steps, with {sorted(self._state.owned)}")

    # --- goals ------------------------------------------------------------------

    def _goals_of(self, number: int) -> Iterator[Goal]:
        room = self.rooms[number]
        gifts = {text: treasure for text, treasure, *_ in self.tables.gifts}
        for it in room.things:
            row, column = it.tile
            stands = {
                "around": tuple((row + y, column + x) for y, x in STEPS),
                "below": ((row + 1, column),), "two below": ((row + 2, column),),
                "on": (it.tile,), "anywhere": (),
            }  # fmt: skip
            what, where, treasure = _GOALS.get(Kind(it.kind), ("", "", ""))
            items: dict[str, int | None] = {
                "": None, "a": it.a, "b": it.b, "gift": gifts.get(it.b, 0),
                "key": Treasure.SMALL_KEY if it.b == Effect.KEY else 0,
                "essence": Treasure.ESSENCE,
            }  # fmt: skip
            item = items[treasure]
            if what and item != 0:
                name = name_of(item) if item else ""
                yield Goal(what, number, stands[where], it, name)
        for row, column in room.spots("k"):
            inside = min(max(row, 1), ROWS - 2), min(max(column, 1), COLUMNS - 2)
            yield Goal("door", number, (inside,), Thing(0, row << 4 | column))

    def _useful(self) -> frozenset[str]:
        """Items that pass a tile of the world, or that a shop requires before it sells another.

        Includes whole hearts, which are taken if they are nearer than required items.
        """
        signs = {sign for room in self.rooms for line in room.rows for sign in line}
        found = {need for sign in signs for way in SIGNS[sign].ways for need in way.needs}
        for goal in self.goals:
            if goal.what == "shop" and goal.item in found and (owner := self._owner(goal)):
                found.add(owner)
        return frozenset({"sword", "essence", "heart_container", *found})

    def _owner(self, goal: Goal) -> str:
        """The item that a shop requires for a purchase; '' if none."""
        things = self.rooms[goal.room].things
        before = things[things.index(goal.thing) - 1]
        return name_of(before.b) if (before.kind, before.a) == (Kind.IF, When.HAS) else ""

    def _wanted(self) -> list[Goal]:
        owned = self._state.owned
        missing = self._items - owned
        cost = sum(bcd(it.thing.b) for it in self.goals if it.what == "shop" and it.item in missing)
        return [
            goal
            for goal in self.goals
            if goal not in self._state.done and self._solvable(goal)
            and (
                self._state.coins < cost if goal.item == "rupees"
                else goal.what == "boss" or goal.item in missing | {"heart_container"}
            )
        ]  # fmt: skip

    def _solvable(self, goal: Goal) -> bool:
        """Whether the goal can be completed with the possessions, once it is reached."""
        owned, solve = self._state.owned, self.hidden_by(goal)
        match goal.what:
            case "shop":
                return self._owner(goal) in ("", *owned) and self._state.coins >= bcd(goal.thing.b)
            case "dig":
                return "shovel" in owned
            case "boss":
                return "sword" in owned
        needs = {Condition.ENEMIES: "sword", Condition.TORCHES: "seed_satchel"}
        return solve is None or needs.get(Condition(solve.a), "sword") in owned

    def hidden_by(self, goal: Goal) -> Thing | None:
        """The puzzle whose solution reveals a chest or a key."""
        if goal.thing.kind == Kind.SOLVE:
            return goal.thing
        solves = self.rooms[goal.room].of(Kind.SOLVE) if goal.thing.c else []
        return next((it for it in solves if goal.what == "chest" and it.b == Effect.CHEST), None)

    def _doors(self) -> list[Goal]:
        keys, done = self._state.keys, self._state.done
        return [it for it in self.goals if keys and it.what == "door" and it not in done]

    def _levers(self) -> list[Goal]:
        usable = "sword" in self._state.owned and not self._state.switched
        return [goal for goal in self.goals if usable and goal.what == "lever"]

    # --- ways -------------------------------------------------------------------

    def _next(self, goals: list[Goal]) -> Leg | None:
        """Go to the nearest goal and do it."""
        at = {(goal.room, *stand): goal for goal in reversed(goals) for stand in goal.stands}
        in_room = {goal.room: goal for goal in reversed(goals) if not goal.stands}
        came: _Came = {self._state.node: None}
        for node in self._explore(came):
            goal = in_room.get(node[0]) or at.get(node[:3])
            if goal is not None and (goal.what == "floor" or not self._swims(node)):
                return self._do(goal, node, came)
        return None

    def _swims(self, node: Node) -> bool:
        """Whether the player is in water, where it can only swim."""
        number, row, column, season = node
        ways = SIGNS[self._state.maps[number][row][column]].ways
        return bool(ways) and not any(
            way.how != "swim" and way.season in (None, season) for way in ways
        )

    def _explore(self, came: _Came, within: tuple[int, int] | None = None) -> Iterator[Node]:
        """Yield all reachable nodes, or only those of a group and a season, by distance.

        `came` gets the predecessor of each.
        """
        start = self._state.node
        queue, least, table = [(0, start)], {start: 0}, self._passable()
        while queue:
            cost, node = heappop(queue)
            if cost > least[node]:
                continue
            yield node
            for to, step in self._steps(node, table):
                if within and within != (self.rooms[to[0]].group, to[3]):
                    continue
                longer = cost + COSTS.get(step[0], _OTHERS) + step[3]
                if longer < least.get(to, longer + 1):
                    least[to], came[to] = longer, (node, step)
                    heappush(queue, (longer, to))

    def _passable(self) -> list[dict[str, str]]:
        """How each sign can be passed, by season; missing signs are closed."""
        found: list[dict[str, str]] = [{} for _ in SEASONS]
        closed = {"shutter", "light", *(() if self._state.switched else ("lever",))}
        for sign, it in SIGNS.items():
            for way in it.ways:
                if way.how in closed or not way.needs <= self._state.owned:
                    continue
                for season in range(4) if way.season is None else (way.season,):
                    found[season].setdefault(sign, way.how)
        return found

    def _steps(self, node: Node, table: list[dict[str, str]]) -> Iterator[tuple[Node, _Step]]:
        number, row, column, season = node
        the_map, passable, warps = self._state.maps[number], table[season], self._warps[number]
        for way, (y, x) in enumerate(STEPS):
            tile = to_row, to_column = row + y, column + x
            if not (0 <= to_row < ROWS and 0 <= to_column < COLUMNS):
                other, entry = self._beyond[number][way], (to_row % ROWS, to_column % COLUMNS)
                beyond = "" if other is None else self._state.maps[other][entry[0]][entry[1]]
                if other is not None and passable.get(beyond) in _WALKED:
                    yield (other, *entry, season), ("walk", tile, way, True)
                continue
            how = passable.get(the_map[to_row][to_column])
            if how is None:
                continue
            if how not in _WALKED and self._swims(node):
                continue
            if tile in warps:
                if how in _WALKED or way == UP:
                    yield (*warps[tile], season), (how, tile, way, True)
            elif how == "turn":
                yield (number, row, column, (season + 1) % 4), (how, tile, way, False)
            elif how != "jump":
                yield (number, to_row, to_column, season), (how, tile, way, False)
            elif (
                0 < to_row < ROWS - 1
                and 0 < to_column < COLUMNS - 1
                and passable.get(the_map[to_row + y][to_column + x]) in _WALKED
            ):
                yield (number, to_row + y, to_column + x, season), (how, tile, way, False)

    # --- doing ------------------------------------------------------------------

    def _do(self, goal: Goal, end: Node, came: _Came) -> Leg:
        opening = goal.what in ("door", "lever", "boss", "enter") or goal.item == "boss_key"
        before = self._reach() if opening else frozenset()
        steps: list[tuple[Node, _Step, Node]] = []
        node = end
        while (step := came[node]) is not None:
            steps.append((*step, node))
            node = step[0]
        leg = Leg(goal, end[1:3], [self._follow(*step) for step in reversed(steps)])
        self._state.node = end
        self._take(goal)
        if goal.what == "shop":  # its offer is decided on entry
            (row, column), to = next(iter(self._warps[goal.room].items()))
            out: _Step = ("walk", (row, column), DOWN, True)
            here, self._state.node = (goal.room, row - 1, column, end[3]), (*to, end[3])
            leg.moves.append(self._follow(here, out, self._state.node))
        leg.coins, leg.keys = self._state.coins, self._state.keys
        leg.opens = self._reach() - before if before else before
        return leg

    def _reach(self) -> frozenset[Key]:
        """Reachable rooms of the group without a change of season."""
        number, *_, season = self._state.node
        group = self.rooms[number].group
        nodes = self._explore({self._state.node: None}, within=(group, season))
        return frozenset(self.rooms[number].key for number, *_ in nodes)

    def _follow(self, here: Node, step: _Step, there: Node) -> Move:
        number, row, column, _ = here
        how, tile, way, leaves = step
        room, to = self.rooms[number], self.rooms[there[0]].key
        if 0 <= tile[0] < ROWS and 0 <= tile[1] < COLUMNS:
            sign = self._state.maps[number][tile[0]][tile[1]]
            ways = (each for each in SIGNS[sign].ways if each.how == how)
            self._state.used.update(need for each in ways for need in each.needs)
            if how in _LASTING:
                self._clear(number, *room.spots(sign))
        self._state.switched &= (room.group == DUNGEON) == (to[0] == DUNGEON)
        return Move(room.key, (row, column), how, tile, way, to if leaves else None, there[3])

    def _take(self, goal: Goal) -> None:
        state = self._state
        state.done.add(goal)
        match goal.what:
            case "door":
                state.keys -= 1
                self._clear(goal.room, goal.thing.tile)
            case "lever":
                state.switched = True
                state.done.discard(goal)
            case "boss":
                self._clear(goal.room, *self.rooms[goal.room].spots("6"))
            case "shop":
                state.coins -= bcd(goal.thing.b)
                self._state.used.add(self._owner(goal))
            case "dig":
                self._state.used.add("shovel")
            case "chest" | "floor" if solve := self.hidden_by(goal):
                self._state.used.add(
                    {Condition.TORCHES: "seed_satchel"}.get(Condition(solve.a), "")
                )
        if goal.item == "small_key":
            state.keys += 1
        elif goal.item == "rupees":
            state.coins += bcd(goal.thing.b if goal.what == "chest" else goal.thing.c)
        elif goal.item:
            state.owned.add(goal.item)

    def _clear(self, number: int, *tiles: Spot) -> None:
        for row, column in tiles:
            self._state.maps[number][row][column] = "."


def name_of(treasure: int) -> str:
    """The name of a treasure, as in the evidence."""
    return Treasure(treasure).name.lower()


def bcd(value: int) -> int:
    """The BCD digits of a value as a number."""
    return (value >> 4) * 10 + (value & 15)
