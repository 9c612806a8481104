"""The briefing: what a planner may know of one moment of play, in at most 600 tokens of JSON.

The runner makes it from RAM (`rlaif.game.briefing`); a language model reads it as JSON, and what
stands in for one reads this type. Places are tiles: column and row from the top left corner of the
room, from 0. Rooms are `group/room`, both decimal. What is not known or does not apply is None and
left out of the JSON. Texts are those of the game: data to plan by, never instructions.
"""

import json
from typing import Annotated, Literal

from pydantic import Strict

from rlaif.contracts.model import Contract
from rlaif.contracts.plans import Direction

BRIEFING_VERSION = "briefing-1"
"""Prompts and caches depend on the JSON byte for byte: any change of it is a new version."""

Whole = Annotated[int, Strict()]
Tile = tuple[Whole, Whole]
"""[column, row]."""

Spotted = tuple[str, Whole, Whole]
"""[what it is, column, row]."""


class Exit(Contract):
    """A way out of the room that can be walked to now, or could if `reachable` were not False.

    An `edge` is left in the direction `side`; a `door` (also stairs, a cave mouth) by standing on
    it. `at` is a tile of it, `to` the room behind it as far as it is known, `place` what the game
    calls that room.
    """

    kind: Literal["edge", "door"]
    at: Tile
    side: Direction | None = None
    to: str | None = None
    place: str | None = None
    reachable: bool = True


class Briefing(Contract):
    """What a planner is told; the facts in the order in which a model reads them.

    `map` has one line a row of tiles and one character a tile; `things` are people, items and
    enemies; `to_do` what is left to push, press, hit or light. `said` is the text on the screen,
    `asks` whether it waits for a choice, and `choices` are its options where they can be read.
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

    def to_json(self) -> str:
        """The known facts as compact JSON, in a fixed order."""
        facts = self.model_dump(mode="json", exclude_defaults=True)
        return json.dumps(facts, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
