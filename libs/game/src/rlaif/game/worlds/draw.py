"""From a plan to the tables of a cartridge: rooms, their contents, and texts."""

from collections.abc import Iterable
from random import Random

from rlaif.contracts.game.names import WORLD_NOUNS
from rlaif.game.worlds.graph import LOCKS, Plan, Region, draw_plan
from rlaif.game.worlds.layout import CrampedError, Layout, Passage, beyond, lay_out
from rlaif.game.worlds.rom import engine, read_tables
from rlaif.game.worlds.rooms import (
    GUARDS,
    STYLES,
    WAY_IN,
    Site,
    Style,
    Wish,
    draw_room,
)
from rlaif.game.worlds.tables import (
    CAVES,
    DUNGEON,
    HOUSES,
    OVERWORLD,
    SIDES,
    UP,
    Condition,
    Effect,
    Enemy,
    Flag,
    Key,
    Kind,
    Person,
    Spot,
    Tables,
    Thing,
    Treasure,
    When,
    at,
)
from rlaif.game.worlds.words import WORDS, Script, broken

GRID, DUNGEON_GRID = (16, 16), (4, 8)
"""Rows and columns; for the dungeon, the part that the map of the satchel shows."""
_LANDS = ("wood", "pines", "meadow", "cliffs", "shore", "stones")
_AMOUNTS = {
    "sword": 1,
    "seed_satchel": 0x20,
    "rod_of_seasons": 0x0F,
    "rupees": 0x20,
    "small_key": 1,
}
_PRICES = {"shield": 0x20, "bombs": 0x15, "ember_seeds": 0x10, "heart_refill": 0x10}
_GOODS = (at(3, 3), at(3, 5), at(3, 6))
_KEEPER = at(2, 4)
_BIG = ("house", "shop front", "mouth", "cracked mouth", "keyhole")
_PEOPLE = (Person.GIRL, Person.CHILD, Person.MAN, Person.ELDER, Person.GRANNY)


def draw_world(rng: Random, rooms: int) -> Tables:
    """Draw a world.

    Raises:
        CrampedError, NoRoomError: Something did not fit; another draw may succeed.
    """
    return _Drawing(rng, draw_plan(rng, rooms)).tables()


class _Drawing:
    def __init__(self, rng: Random, plan: Plan) -> None:
        self.rng, self.plan, self.script = rng, plan, Script(rng)
        first = rng.randint(6, 9), rng.randint(5, 10)  # with room for a house
        self.layout = lay_out(
            rng, GRID, plan.regions, first, lambda layout: len(layout.exits(first)) < 4
        )
        self.lands = self._lands()
        self.inner: list[tuple[Site, Wish, Site]] = []  # land, entrance, house or cave
        self.homes: dict[str, str] = {}  # place of each tool, in words

    def tables(self) -> Tables:
        start = self.lands[self.layout.entries[0]]
        for land in self._of(0, 1, 2):
            land.foes = (0, 2)
        start.foes = (0, 0)
        gate = Wish("keyhole")
        gate_land = self._put(self._of(len(self.plan.regions) - 1), gate)
        self._tools()
        self._stumps()
        self._extras()
        self._advice()
        self._signs()
        entrance, deep = self._dungeon()
        gate.things = (Thing(Kind.WARP, 0, *entrance, WAY_IN),)
        rooms = [draw_room(self.rng, land) for land in self.lands.values()]
        for land, wish, site in (*self.inner, (gate_land, gate, deep[0])):
            site.out = (*land.key, at(*wish.before))  # known now
        rooms += [draw_room(self.rng, site) for site in (*deep, *(it for *_, it in self.inner))]
        got = {Treasure[item.upper()]: text for item, text in WORDS["got"].items()}
        script = self.script
        return Tables(
            title=script.title(),
            start=(*start.key, at(*self.inner[0][1].before)),
            rooms=tuple(sorted(rooms, key=lambda room: room.key)),
            seasons=read_tables(engine()).seasons,  # as in the embedded game
            talks=tuple(script.talks),
            gifts=tuple(script.gifts),
            prizes=tuple((treasure, script.new(text)) for treasure, text in got.items()),
            title_map=self._title_map(start.style),
            texts=tuple(script.texts),
            engine_texts=tuple(range(1, 1 + len(WORDS["engine"]["texts"]))),
        )

    # --- places -----------------------------------------------------------------

    def _lands(self) -> dict[Spot, Site]:
        styles: dict[int | None, Style] = {}
        for region in self.plan.regions:
            others = [STYLES[it] for it in _LANDS if STYLES[it] is not styles.get(region.parent)]
            styles[region.index] = self.rng.choice(others)
        return {
            cell: self._site((OVERWORLD, at(*cell)), styles[index], self.layout.exits(cell))
            for cell, index in self.layout.region_of.items()
        }

    def _site(
        self, key: Key, style: Style, exits: dict[int, tuple[Passage, bool]] | None = None
    ) -> Site:
        return Site(key, self.script.place(style.nouns), style, exits or {})

    def _of(self, *regions: int) -> list[Site]:
        return [self.lands[cell] for index in regions for cell in self.layout.cells(index)]

    def _put(self, lands: Iterable[Site], wish: Wish) -> Site:
        """Put a wish into the emptiest of these rooms that can hold it."""
        possible = [land for land in lands if _can_hold(land, wish.what)]
        if not possible:
            raise CrampedError(f"no room for a {wish.what}")
        self.rng.shuffle(possible)
        land = min(possible, key=lambda it: 2 * len(it.wishes) + len(it.exits))
        land.wishes.append(wish)
        return land

    # --- what is found where -----------------------------------------------------

    def _tools(self) -> None:
        for region in self.plan.regions:
            for item in region.gives:
                home = "chest" if item == "shield" else region.home
                if home == "cave" and len(self._caves()) == self.plan.caves:
                    home = "chest"
                lands = self._of(region.index)
                match home:
                    case "gift":
                        self._gift(lands, item)
                    case "scene":
                        text = self.script.new(WORDS["people"]["spirit"])
                        treasure = Treasure[item.upper()]
                        spirit = Thing(Kind.SCENE, 0, text, treasure, _AMOUNTS[item])
                        self.homes[item] = self._put(lands, Wish("spirit", (spirit,))).name
                    case "shop":
                        self._shop(lands, self._of(*range(region.index + 1)))
                    case "cave":
                        self._cave(lands, item, region)
                    case _:
                        self.homes[item] = self._put(lands, _chest(item)).name

    def _gift(self, lands: list[Site], item: str) -> None:
        """Add a person that gives an item: the sword in a house of the first room, else outside."""
        text = self.script.new(WORDS["people"][item])
        self.script.gifts.append((text, Treasure[item.upper()], _AMOUNTS.get(item, 0)))
        if item == "sword":
            self._house(lands[:1], Thing(Kind.NPC, 0, Person.GRANNY, text))
        else:
            gift = Wish("gift", (Thing(Kind.NPC, 0, Person.MAN, text),))
            self.homes[item] = self._put(lands, gift).name

    def _house(self, lands: list[Site], person: Thing) -> None:
        name = f"{self.script.person()}'s Hut"
        wishes = [Wish("person", (person,))]
        self._enter(
            lands, "house", Site((HOUSES, self._number()), name, STYLES["house"], {}, wishes)
        )

    def _number(self) -> int:
        return 0x10 + 0x02 * len(self.inner)

    def _enter(self, lands: Iterable[Site], way_in: str, site: Site) -> Site:
        """Put the entrance of a house or cave on the ground; returns the land."""
        wish = Wish(way_in, (Thing(Kind.WARP, 0, *site.key, WAY_IN),))
        land = self._put(lands, wish)
        self.inner.append((land, wish, site))
        return land

    def _shop(self, lands: list[Site], before: list[Site]) -> None:
        """Add a shop that sells bombs to owners of a shield, and chests with coins for both."""
        script = self.script
        last = "ember_seeds" if "seed_satchel" in self.plan.tools else "heart_refill"
        keeper = script.new(WORDS["people"]["keeper"])
        script.changes(keeper, When.HAS, Treasure.SHIELD, WORDS["people"]["keeper_after"])
        goods = [Thing(Kind.NPC, _KEEPER, Person.KEEPER, keeper)]
        owners = {"bombs": Treasure.SHIELD, "ember_seeds": Treasure.SEED_SATCHEL}
        for item, tile in zip(("shield", "bombs", last), _GOODS, strict=True):
            if item in owners:
                goods.append(Thing(Kind.IF, 0, When.HAS, owners[item]))
            ask = script.new(WORDS["goods"][item])
            goods.append(Thing(Kind.SHOP, tile, Treasure[item.upper()], _PRICES[item], ask))
        name = script.place(WORLD_NOUNS["shop"])
        shop = Site((HOUSES, self._number()), name, STYLES["house"], template="shop")
        shop.things = tuple(goods)
        self._enter(lands, "shop front", shop)
        self.homes["shield"] = self.homes["bombs"] = WORDS["advice"]["shop"]
        for _ in range(2):
            self._put(before, _chest("rupees"))

    def _caves(self) -> list[Site]:
        return [site for _, _, site in self.inner if site.key[0] == CAVES]

    def _cave(self, lands: Iterable[Site], item: str, region: Region) -> None:
        """Hide an item in a cave that can be opened with the tools of the region."""
        owned = {"sword", *(it for each in self.plan.regions[: region.index] for it in each.gives)}
        cave = self._site((CAVES, 0xA1 + 2 * len(self._caves())), STYLES["cave"])
        guards = [name for name, needs in GUARDS.items() if needs <= owned]
        cave.wishes, cave.foes = [_chest(item, self.rng.choice(guards))], (1, 2)
        mouth = self.rng.choice(("mouth", "cracked mouth") if "bombs" in owned else ("mouth",))
        land = self._enter(lands, mouth, cave)
        self.homes.setdefault(item, WORDS["advice"]["cave"].format(place=land.name))

    def _stumps(self) -> None:
        """Add a stump to each region with a lock that opens in one season only."""
        seasonal = {
            self.layout.region_of[passage.cell]
            for passage in self.layout.passages
            if passage.lock and passage.lock.season is not None
        }
        for index in sorted(seasonal):
            self._put(self._of(index), Wish("stump"))

    def _extras(self) -> None:
        """Add extras that no lock needs: whole hearts along the quest, pieces of hearts, coins."""
        every, regions = list(self.lands.values()), self.plan.regions
        hearts = 2 + len(every) // 12
        for i in range(hearts):
            index = 1 + i * (len(regions) - 1) // hearts
            self._put(self._of(index - 1, index), _chest("heart_container"))
        for number in range(self.plan.caves - len(self._caves())):
            self._cave(every, ("heart_piece", "rupees")[number % 2], regions[1])
        for _ in range(len(every) // 8):
            self._put(every, _chest(self.rng.choice(("heart_piece", "rupees"))))
        if "shovel" in self.plan.tools:
            for _ in range(max(1, len(every) // 10)):
                coins = Thing(Kind.DIG, 0, Treasure.RUPEES, Flag.DUG, 0x10)
                self._put(every, Wish("soil", (coins,)))

    # --- words ------------------------------------------------------------------

    def _about(self, step: int) -> str:
        """A text with the place and lock of a step's tool; step 1 comes after the sword."""
        gifts = [(region, item) for region in self.plan.regions for item in region.gives]
        region, advice = self.plan.regions[-1], WORDS["advice"]
        if step < len(gifts):
            region, item = gifts[step]
            found = advice["seek"].format(item=WORDS["items"][item], where=self.homes[item])
        else:
            gate = next(land for land in self.lands.values() if land.holds("keyhole"))
            found = advice["keyhole"].format(place=gate.name)
        return f"{found}|{self._barred(region)}" if region.lock else found

    def _barred(self, region: Region) -> str:
        entry = self.layout.entries[region.index]
        it, lock = next(
            (it, it.lock) for it in self.layout.passages
            if it.lock and beyond(it.cell, it.direction) == entry
        )  # fmt: skip
        side = SIDES[it.direction]
        return f"{lock.hint[0].upper()}{lock.hint[1:]} {side} of {self.lands[it.cell].name}."

    def _advice(self) -> None:
        """Add an elder, who always knows the next step, and people who know one fact each."""
        script, people = self.script, WORDS["people"]
        for text, treasure, _ in script.gifts:
            after = self._about(1) if treasure == Treasure.SWORD else people["shovel_after"]
            script.changes(text, When.HAS, treasure, after)
        gifts = [item for region in self.plan.regions for item in region.gives]
        house = next(site.name for *_, site in self.inner)
        elder = script.new(people["elder"].format(house=house))
        script.changes(elder, When.ESSENCE, 0, people["elder_done"])
        for step in range(len(gifts), 0, -1):
            treasure = Treasure[gifts[step - 1].upper()]
            script.changes(elder, When.HAS, treasure, self._about(step))
        self._house(self._of(0, 1), Thing(Kind.NPC, 0, Person.ELDER, elder))
        every = list(self.lands.values())
        while len(self.inner) - len(self._caves()) < self.plan.houses:
            self._house(every, self._gossip(_PEOPLE))
        for _ in range(len(every) // 6):
            self._put(every, Wish("person", (self._gossip(_PEOPLE[:3]),)))

    def _gossip(self, people: tuple[Person, ...]) -> Thing:
        """A person with a true fact about some room, a new one as long as there are any."""
        known = [
            text.format(place=land.name)
            for land in self.lands.values()
            for what, text in WORDS["gossip"].items()
            if land.holds(what)
        ]
        barred = [self._barred(region) for region in self.plan.regions if region.lock]
        fresh = [
            texts for each in (known, barred)
            if (texts := [text for text in each if broken(text) not in self.script.texts])
        ]  # fmt: skip
        text = self.rng.choice(self.rng.choice(fresh or [barred]))
        return Thing(Kind.NPC, 0, self.rng.choice(people), self.script.new(text))

    def _signs(self) -> None:
        for cell, land in self.lands.items():
            if self.rng.random() > (0.75 if land.lock_names() else 0.2):
                continue
            if not _can_hold(land, "sign"):
                continue
            lines = [f"{land.name}."]
            for direction, (passage, owner) in sorted(land.exits.items()):
                hint = passage.lock.hint if passage.lock and owner else ""
                name = self.lands[beyond(cell, direction)].name
                lines.append(f"{SIDES[direction].title()}: {hint or name}.")
            text = self.script.new("|".join(lines))
            land.wishes.append(Wish("sign", (Thing(Kind.SIGN, 0, text),)))

    # --- below roofs --------------------------------------------------------------

    def _dungeon(self) -> tuple[Key, list[Site]]:
        """The key of the entrance and the rooms, with the entrance first."""
        rng, regions = self.rng, self.plan.dungeon
        rows, columns = DUNGEON_GRID
        last = max(region.index for region in regions if "boss_key" in region.gives)

        def gates(layout: Layout) -> list[Spot]:
            return [
                cell for cell in layout.cells(last)
                if layout.free(beyond(cell, UP)) and layout.free(beyond(beyond(cell, UP), UP))
            ]  # fmt: skip

        first = rows - 1, rng.randrange(columns)
        layout = lay_out(rng, DUNGEON_GRID, regions, first, gates, middle=True)
        gate = rng.choice(gates(layout))
        layout.join(gate, UP, LOCKS["thorn door"])
        sites = {
            cell: self._site((DUNGEON, cell[0] * columns + cell[1]), STYLES["dungeon"], exits)
            for cell in layout.region_of
            if (exits := layout.exits(cell))
        }
        for site in sites.values():
            site.foes = (0, 2)
        sites[gate].foes, sites[gate].hearts = (0, 0), 3
        owned = {"sword", *self.plan.tools}
        taken = {gate, layout.entries[0]}
        for region in regions:
            free = [cell for cell in layout.cells(region.index) if cell not in taken]
            rng.shuffle(free)
            for item in region.gives:
                self._guard(sites[free.pop()], item, owned)
            if not region.index and any(it.lock is LOCKS["lever"] for it in regions):
                sites[free.pop()].wishes.append(Wish("lever", (Thing(Kind.LEVER, 0),)))
        entrance = sites.pop(layout.entries[0])
        return entrance.key, [entrance, *sites.values(), *_boss(sites[gate].key)]

    def _guard(self, site: Site, item: str, owned: set[str]) -> None:
        """Guard an item: keys always, most others not."""
        guards = [name for name, needs in GUARDS.items() if needs <= owned]
        if "cracked wall" in site.lock_names():  # all walls of a room share one flag
            guards = [name for name in guards if name != "wall"]
        if item not in ("small_key", "boss_key") and self.rng.random() < 0.7:
            guards = ["chest", "foes"]
        site.wishes.append(_chest(item, self.rng.choice(guards)))

    def _title_map(self, style: Style) -> str:
        inside = ("".join(self.rng.choices("....,,*:", k=8)) for _ in range(8))
        return style.wall * 10 + "".join(f"{style.wall}{row}{style.wall}" for row in inside)


def _boss(gate: Key) -> list[Site]:
    """The boss's den above the thorn door, and above it the hall of the essence."""
    boss = Thing(Kind.BOSS, at(2, 4), Enemy.BOSS)
    opened = Thing(Kind.SOLVE, 0, Condition.ENEMIES, Effect.SHUTTERS)
    essence = Thing(Kind.ESSENCE, at(1, 4))
    rooms = ("boss", "Gnarl's Den", (boss, opened)), ("hall", "Seed Hall", (essence,))
    return [
        Site(
            (DUNGEON, gate[1] - number * DUNGEON_GRID[1]), name, STYLES["dungeon"],
            template=template, things=things,
        )
        for number, (template, name, things) in enumerate(rooms, 1)
    ]  # fmt: skip


def _can_hold(land: Site, what: str) -> bool:
    locks = land.lock_names()
    if len(land.wishes) > 2 or land.holds(what):
        return False
    if what in _BIG:
        crowded = UP in land.exits and what in ("house", "shop front") and len(land.exits) > 3
        flagged = what in ("cracked mouth", "keyhole") and "dry bushes" in locks
        return not (land.holds(*_BIG) or crowded or flagged or "vines" in locks)
    if what == "stump":
        return all(not it.lock or it.lock.name != "a pond" for it, _ in land.exits.values())
    if what in ("spirit", "soil"):
        return "cracked rocks" not in locks and not land.holds("spirit", "soil")
    return True


def _chest(item: str, guard: str = "chest") -> Wish:
    treasure = Treasure[item.upper()]
    return Wish(guard, (Thing(Kind.CHEST, 0, treasure, _AMOUNTS.get(item, 0)),))
