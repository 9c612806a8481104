"""Draws rooms of all kinds: passages, requested contents, puzzles that guard a prize."""

import tomllib
from dataclasses import dataclass, field, replace
from random import Random

from rlaif.contracts.game.names import WORLD_NOUNS
from rlaif.game.worlds.canvas import Canvas, NoRoomError, from_edge
from rlaif.game.worlds.layout import Passage
from rlaif.game.worlds.tables import (
    COLUMNS,
    DROP_HEART,
    FREE,
    ROWS,
    STEPS,
    Condition,
    Effect,
    Enemy,
    Key,
    Kind,
    Room,
    Spot,
    Thing,
    Treasure,
    at,
    read_data,
)

ATTEMPTS = 60
WAY_IN = at(6, 4)
"""Position of the player after entering an indoor room."""
_HEARTS = 0.35
_NARROW = frozenset("k786")
_HAUNTS = frozenset(".,*:_'")
"""Signs of tiles on which enemies and hearts can be placed."""


@dataclass(frozen=True)
class Style:
    """How rooms look; the fields are explained in styles.toml."""

    wall: str
    walls: str
    ground: str
    paths: str
    scattered: dict[str, float]
    foes: list[str]
    nouns: tuple[str, ...]  # for names of rooms
    north: tuple[str, ...] = ()
    pillar: str = ""
    ornament: str = ""
    out: str = "E"


STYLES = {
    name: Style(**it, nouns=WORLD_NOUNS.get(name, ()))
    for name, it in tomllib.loads(read_data("styles.toml")).items()
}


def _pictures() -> dict[str, list[tuple[str, ...]]]:
    found: dict[str, list[tuple[str, ...]]] = {}
    _, *blocks = read_data("rooms.txt").split("\n\n")
    for name, *rows in map(str.splitlines, blocks):
        found.setdefault(name, []).append(tuple(rows))
    return found


PICTURES = _pictures()


GUARDS: dict[str, frozenset[str]] = {
    "foes": frozenset({"sword"}),
    "torches": frozenset({"seed_satchel"}),
    "holes": frozenset({"feather"}),
    "buttons": frozenset(),
    "wall": frozenset({"bombs"}),
}
"""Guards of a chest, each with the items that it requires."""
_SHOWN_BY = {
    "foes": Condition.ENEMIES, "torches": Condition.TORCHES, "buttons": Condition.TRIGGERS,
}  # fmt: skip


@dataclass
class Wish:
    """A requested content of a room: a building, person, thing or guarded prize."""

    what: str
    things: tuple[Thing, ...] = ()  # `pos` is set when the position is known
    spot: Spot | None = None

    @property
    def before(self) -> Spot:
        """The tile from which it is used, or on which the player appears after leaving it."""
        assert self.spot is not None
        return self.spot[0] + 1, self.spot[1]


@dataclass
class Site:
    """A room that is not drawn yet."""

    key: Key
    name: str
    style: Style
    exits: dict[int, tuple[Passage, bool]] = field(default_factory=dict)
    wishes: list[Wish] = field(default_factory=list)
    out: tuple[int, int, int] | None = None  # where a way out in the south leads
    foes: tuple[int, int] = (0, 3)
    hearts: int = 0  # permanent ones; without them there may be one
    template: str = ""  # its room in rooms.txt
    things: tuple[Thing, ...] = ()  # of a template

    def holds(self, *kinds: str) -> bool:
        return any(wish.what in kinds for wish in self.wishes)

    def lock_names(self) -> set[str]:
        """Names of the locks in this room."""
        return {it.lock.name for it, owner in self.exits.values() if it.lock and owner}


def draw_room(rng: Random, site: Site) -> Room:
    """Draw a room; sets the positions of its wishes.

    Raises:
        NoRoomError: Not everything fits.
    """
    if site.template:
        things = (*site.things, *_way_out(site.out)) if site.out else site.things
        return Room(*site.key, site.name, rng.choice(PICTURES[site.template]), things)
    for _ in range(ATTEMPTS):
        try:
            return _Drawing(rng, site).room()
        except NoRoomError:
            continue
    guarded = next((wish for wish in site.wishes if wish.what in GUARDS), None)
    if guarded is None:
        raise NoRoomError(f"{site.name} does not fit: {[wish.what for wish in site.wishes]}")
    guarded.what = "chest" if guarded.what == "foes" else "foes"  # these need less room
    return draw_room(rng, site)


def _way_out(to: tuple[int, int, int]) -> list[Thing]:
    """The two warps of an exit."""
    return [Thing(Kind.WARP, at(ROWS - 1, column), *to) for column in (4, 5)]


class _Drawing:
    def __init__(self, rng: Random, site: Site) -> None:
        self.rng, self.site, self.style = rng, site, site.style
        self.canvas = Canvas(rng, self.style.wall, self.style.ground)
        self.things: list[Thing] = []
        for row, signs in enumerate(self.style.north):
            for column in range(1, COLUMNS - 1):
                self.canvas.tiles[row, column] = rng.choice(signs)

    def room(self) -> Room:
        canvas, site = self.canvas, self.site
        if site.out:
            self.things += _way_out(site.out)
            for column in (4, 5):
                canvas.tiles[ROWS - 1, column] = self.style.out
                canvas.keep((ROWS - 2, column))
        for direction, (passage, owner) in sorted(site.exits.items()):
            self._open(direction, passage, owner)
        for wish in sorted(site.wishes, key=lambda wish: wish.what not in PICTURES):
            wish.spot = self._fulfil(wish)
            if wish.what not in GUARDS:
                self.things += [replace(it, pos=at(*wish.spot)) for it in wish.things]
        canvas.connect(self.rng.choice(self.style.paths))
        if len(canvas.anchors) < 2:  # a dead end without anything in it still has a place to stand
            canvas.keep(canvas.free()[0], anchor=False)
        self._decorate()
        self._live()
        return Room(*site.key, site.name, canvas.rows(), tuple(self.things))

    def _open(self, direction: int, passage: Passage, owner: bool) -> None:
        signs = passage.lock.signs if passage.lock else "."
        if signs in _NARROW:
            edge = from_edge(direction, passage.place, 0)
            self.canvas.tiles[edge] = signs if owner else self.style.ground
            self.canvas.keep(from_edge(direction, passage.place, 1))
        else:
            self.canvas.open(direction, passage.place, signs if owner else signs[0])
        if "V" in signs and owner:
            for column in range(1, COLUMNS - 1):
                for row in (1, 2):
                    if self.canvas.tiles.get((row, column)) != "V":
                        self.canvas.tiles[row, column] = "C"

    # --- wishes ------------------------------------------------------------------

    def _fulfil(self, wish: Wish) -> Spot:
        small = {"chest": "$", "sign": "S", "stump": "u", "soil": "~", "lever": "q"}
        if wish.what in GUARDS:
            return self._guard(wish)
        if wish.what in PICTURES:
            return self._build(self.rng.choice(PICTURES[wish.what]))
        return self.canvas.place(small.get(wish.what, self.style.ground))

    def _build(self, picture: tuple[str, ...]) -> Spot:
        """Put a picture at the north edge; returns the middle of its last row."""
        canvas, height = self.canvas, len(picture)
        for left in self.rng.sample(range(1, COLUMNS - 3), COLUMNS - 4):
            front = height + 1, left + 1
            spots = {
                (1 + row, left + i): tile
                for row, line in enumerate(picture)
                for i, tile in enumerate(line)
            }
            if {*spots} & {*canvas.tiles} or (front in canvas.tiles and front not in canvas.kept):
                continue
            canvas.tiles |= spots
            canvas.keep(front)
            for i in range(3 if height == 1 else 0):
                if canvas.tiles[0, left + i] == canvas.wall:
                    canvas.tiles[0, left + i] = picture[0][0]
            return height, left + 1
        raise NoRoomError("no place for a building")

    def _picture(self, name: str) -> dict[Spot, str]:
        """The tiles inside the walls from a picture of rooms.txt, mirrored at random."""
        rows = self.rng.choice(PICTURES[name])
        down, right = self.rng.choice((1, -1)), self.rng.choice((1, -1))
        return {
            (row, column): sign
            for row, line in enumerate(rows[::down], 1)
            for column, sign in enumerate(line[::right], 1)
            if sign != "."
        }

    def _guard(self, wish: Wish) -> Spot:
        """Draw the puzzle that guards a prize; its chest is visible or appears when solved."""
        canvas, condition = self.canvas, _SHOWN_BY.get(wish.what)
        tiles = self._picture(wish.what) if wish.what in PICTURES else {}
        buttons = [spot for spot, sign in tiles.items() if sign in "&*"]
        for spot, sign in tiles.items():
            if sign in "+*":
                canvas.keep(spot)
            else:
                canvas.put(spot, {"_": self.style.ground, "%": self.style.pillar}.get(sign, sign))
        for bit, spot in enumerate(buttons):
            canvas.tiles[spot] = "&"
            self.things.append(Thing(Kind.BUTTON, at(*spot), bit))
        (prize,) = wish.things
        chests = [spot for spot, sign in tiles.items() if sign == "$"]
        spot = chests[0] if chests else canvas.place("$")
        if condition is None:
            canvas.keep((spot[0] + 1, spot[1]), anchor=False)  # the player stands here to open it
            self.things.append(replace(prize, pos=at(*spot)))
        elif (prize.a, condition) == (Treasure.SMALL_KEY, Condition.TORCHES):  # without a chest
            del canvas.tiles[spot]
            canvas.keep(spot)
            self.things.append(Thing(Kind.SOLVE, at(*spot), condition, Effect.KEY))
        else:
            canvas.keep((spot[0] + 1, spot[1]))
            self.things.append(replace(prize, pos=at(*spot), c=1))
            self.things.append(Thing(Kind.SOLVE, 0, condition, Effect.CHEST))
        return spot

    # --- the rest ----------------------------------------------------------------

    def _decorate(self) -> None:
        canvas, rng = self.canvas, self.rng
        ground = self.style.ground
        if self.style.ornament:
            for spot, sign in self._picture(self.style.ornament).items():
                if spot not in canvas.tiles or (canvas.tiles[spot] == ground and sign in FREE):
                    canvas.tiles[spot] = sign
        for wish in self.site.wishes:
            if wish.what == "stump" and wish.spot:  # usable from any side, but not while swimming
                for row, column in STEPS:
                    canvas.tiles.setdefault((wish.spot[0] + row, wish.spot[1] + column), ground)
        canvas.scatter(self.style.scattered)
        for spot, tile in canvas.tiles.items():
            inside = 0 < spot[0] < ROWS - 1 and 0 < spot[1] < COLUMNS - 1
            if tile == self.style.wall and inside:  # the border must stay closed
                canvas.tiles[spot] = rng.choice(self.style.walls)

    def _live(self) -> None:
        """Add enemies, away from used tiles and entrances; sometimes a heart."""
        site, rng = self.site, self.rng
        near = [
            from_edge(direction, passage.place + i, depth)
            for direction, (passage, owner) in site.exits.items()
            for i in range(2)
            for depth in range(1, 2 + len(passage.lock.signs if passage.lock and owner else ""))
        ]
        near += [wish.before for wish in site.wishes] + [(6, 4), (6, 5)] * bool(site.out)
        spots = self.canvas.roomy(_HAUNTS, near)
        if site.out:  # else a shot or a charge could push out a player that just entered
            spots = [spot for spot in spots if spot[1] not in (4, 5)]
        number = rng.randint(*site.foes) if self.style.foes else 0
        if site.holds("foes"):
            number = max(2, number)
            if not spots:
                raise NoRoomError("no place for the foes")
        for spot in spots[:number]:
            self.things.append(Thing(Kind.ENEMY, at(*spot), Enemy[rng.choice(self.style.foes)]))
        hearts = site.hearts or (rng.random() < _HEARTS and bool(self.style.foes))
        for spot in spots[number : number + hearts]:  # these reappear on each visit
            self.things.append(Thing(Kind.PICKUP, at(*spot), DROP_HEART))
