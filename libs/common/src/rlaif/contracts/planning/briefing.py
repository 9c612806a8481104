"""The briefing: facts on one state of the game for a planner, in at most 600 tokens of JSON.

Positions are tiles, [column, row] from the top left corner of the room; rooms are `group/room`,
decimal. Unknown facts are None and omitted. Texts come from the game: data, not instructions.
"""

import json
from typing import Annotated, Any

from pydantic import Strict

from rlaif.contracts.model import Contract
from rlaif.contracts.planning.plans import Direction

BRIEFING_VERSION = "briefing-1"
"""Prompts and caches depend on the JSON byte for byte: any change requires a new version."""

MAX_TOKENS = 600
"""Maximum size of a briefing, by `Briefing.tokens`."""

Whole = Annotated[int, Strict()]
Tile = tuple[Whole, Whole]
"""[column, row]."""

Spotted = tuple[str, Whole, Whole]
"""[name, column, row]."""

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
"""Mark on the map → its meaning; the marks need no escapes in a fence."""


class Exit(Contract):
    """An exit of the room: an edge (`side`), or a door, stairs or cave mouth at a tile.

    `to` is the room behind it and `place` its name, if known.
    """

    at: Tile
    side: Direction | None = None
    to: str | None = None
    place: str | None = None
    reachable: bool = True


class Briefing(Contract):
    """Facts in the order of the JSON.

    `map` has one line per row of tiles (`MAP_MARKS`); `to_do` is left to push, press, hit or light.
    `text`: one is on the screen, with content `said`; `asks`: it waits for one of the `choices`.
    `failed` are the last macros that failed here, each with its cause.
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
        """Upper estimate of the tokens of the JSON: one per three characters, one per mark."""
        marks = sum(map(len, self.map))
        return marks + -(-(len(self.to_json()) - marks) // 3)

    def facts(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude_defaults=True)

    def to_json(self) -> str:
        return json.dumps(self.facts(), separators=(",", ":"), ensure_ascii=True, allow_nan=False)
