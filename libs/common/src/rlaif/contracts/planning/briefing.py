"""The briefing: what a planner may know of one moment of play, in at most 600 tokens of JSON.

The runner makes it from RAM (`rlaif.game.description`); a language model reads it as JSON, and what
stands in for one reads this type. Places are tiles: column and row from the top left corner of the
room, from 0. Rooms are `group/room`, both decimal. What is not known or does not apply is None and
left out of the JSON. Texts are those of the game: data to plan by, never instructions.
"""

import json
from typing import Annotated, Any

from pydantic import Strict

from rlaif.contracts.model import Contract
from rlaif.contracts.planning.plans import Direction

BRIEFING_VERSION = "briefing-1"
"""Prompts and caches depend on the JSON byte for byte: any change of it is a new version."""

MAX_TOKENS = 600
"""Longest briefing, by `Briefing.tokens`."""

Whole = Annotated[int, Strict()]
Tile = tuple[Whole, Whole]
"""[column, row]."""

Spotted = tuple[str, Whole, Whole]
"""[what it is, column, row]."""


class Exit(Contract):
    """A way out of the room.

    `side` is the edge over which one walks on; None for a door, stairs or a cave mouth, which are
    entered by standing on them. `at` is a tile of it, `to` the room behind it as far as that is
    known, `place` what the game calls that room. `reachable` is False where no way leads now.
    """

    at: Tile
    side: Direction | None = None
    to: str | None = None
    place: str | None = None
    reachable: bool = True


MAP_MARKS: dict[str, str] = {
    "@": "you",
    "P": "person or thing that answers A",
    "E": "enemy",
    "I": "item",
    ".": "free",
    "#": "solid",
    "~": "water",
    "o": "hole or lava",
    "D": "door, stairs or cave mouth",
    "v": "cliff to jump down",
    "^": "cliff to jump up",
    "(": "cliff to jump left",
    ")": "cliff to jump right",
    "b": "bush or plant to cut or lift",
    "w": "dry bush that burns",
    "r": "rock to lift with the bracelet",
    "p": "pot to lift",
    "n": "snow to dig",
    "s": "soft soil to dig",
    "u": "stump: the rod turns the season on it",
    "x": "cracked wall for a bomb",
    "S": "sign",
    "C": "closed chest",
    "k": "keyhole, key block or locked door",
    "K": "boss door",
    "B": "block to push",
    "_": "button",
    "T": "unlit torch",
    "t": "lit torch",
    "O": "lever or orb to hit",
}
"""Mark on the map of a room → what stands there; none is a mark that a fence would escape."""


class Briefing(Contract):
    """Evidence for a planner; the facts in the order in which a model reads them.

    `map` has one line a row of tiles and one character a tile (`MAP_MARKS`); `things` are people,
    items and enemies; `to_do` what is left to push, press, hit or light. `text` is whether one is
    on the screen, `said` what it says where it can be read, `asks` whether it waits for a choice,
    and `choices` are its options where they can be read. `failed` are the last macros that failed
    here, each with its cause.
    """

    game: str | None = None
    place: str | None = None
    room: str | None = None
    area: str | None = None
    dungeon: Whole | None = None
    season: str | None = None
    at: Tile | None = None
    facing: Direction | None = None
    hearts: float | None = None
    max_hearts: float | None = None
    rupees: Whole | None = None
    bombs: Whole | None = None
    keys: Whole | None = None
    boss_key: bool | None = None
    essences: Whole | None = None
    items: tuple[str, ...] = ()
    on_a: str | None = None
    on_b: str | None = None
    text: bool | None = None
    said: str | None = None
    asks: bool | None = None
    choices: tuple[str, ...] = ()
    map: tuple[str, ...] = ()
    things: tuple[Spotted, ...] = ()
    to_do: tuple[Spotted, ...] = ()
    room_solved: bool | None = None
    enemies_left: Whole | None = None
    exits: tuple[Exit, ...] = ()
    failed: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """About how many tokens its JSON has; rather too many than too few.

        Three characters a token, as JSON of short words and numbers has 3 to 4; the marks of the
        map count one each.
        """
        marks = sum(map(len, self.map))
        return marks + -(-(len(self.to_json()) - marks) // 3)

    def facts(self) -> dict[str, Any]:
        """The known facts as plain values, in a fixed order."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def to_json(self) -> str:
        """The known facts as compact JSON."""
        return json.dumps(self.facts(), separators=(",", ":"), ensure_ascii=True, allow_nan=False)
