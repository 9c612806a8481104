"""The evidence: what a judge may know of one segment, in about 600 tokens of JSON.

The judge makes it from the states; a language model reads it as JSON, and what stands in for one
reads this type. A fact that is missing or odd is None, never 0, and a section that is missing or
odd knows nothing.

Prompts, caches and scores depend on the JSON byte for byte: a fact keeps its name, its place and
its unit for as long as `EVIDENCE_VERSION` stands. Any change is a new version.
"""

import hashlib
import json
from typing import Annotated, Any

from pydantic import (
    Strict,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
)

from rlaif.contracts.model import Contract

EVIDENCE_VERSION = "evidence-3"
"""Part of the judge configuration."""

# Strict: true is no number, and "3" is none either.
Whole = Annotated[int, Strict()]
Number = Whole | Annotated[float, Strict()]
Flag = Annotated[bool, Strict()]
Point = tuple[Whole, Whole]
"""[x, y] in pixels from the top left corner of the room."""


class _Facts(Contract):
    """Some facts, each with a default for what is missing or odd."""

    @field_validator("*", mode="wrap")
    @classmethod
    def _odd_is_unknown(
        cls, value: Any, read: ValidatorFunctionWrapHandler, info: ValidationInfo
    ) -> Any:
        try:
            return read(value)
        except ValidationError:
            return cls.model_fields[str(info.field_name)].default


class Span(_Facts):
    """Seconds in the game, decision steps, and the commonest inputs with their share of these."""

    seconds: Number | None = None
    steps: Whole | None = None
    inputs: dict[str, Number] | None = None


class Moment(_Facts):
    """The game at the start or at the end; outside a dungeon `dungeon` and `keys` are None.

    `game` is the name of the game whose guide fits, `place` what the game calls the room, `where`
    the player's place in it in words, `items` what is owned.
    """

    game: str | None = None
    place: str | None = None
    where: str | None = None
    room: str | None = None
    area: str | None = None
    dungeon: Number | None = None
    at: Point | None = None
    hearts: Number | None = None
    max_hearts: Number | None = None
    rupees: Whole | None = None
    keys: Whole | None = None
    boss_key: Flag | None = None
    essences: Whole | None = None
    season: str | None = None
    items: tuple[str, ...] | None = None


class Rooms(_Facts):
    """The way through rooms, each as `group/room`, and what the game calls them.

    `first_visits` had never been entered before.
    """

    in_order: tuple[str, ...] | None = None
    places: tuple[str, ...] | None = None
    changes: Whole | None = None
    different: Whole | None = None
    first_visits: Whole | None = None


class Movement(_Facts):
    """The way within rooms; `idle_share` is the share of steps in control that moved nothing."""

    pixels: Whole | None = None
    idle_share: Number | None = None
    path: tuple[Point, ...] | None = None

    @property
    def straightness(self) -> float | None:
        """Distance between the ends of the path over the way walked; None when unknown."""
        if self.path is None or len(self.path) < 2 or not self.pixels:
            return None
        (x0, y0), (x1, y1) = self.path[0], self.path[-1]
        return (abs(x1 - x0) + abs(y1 - y0)) / self.pixels


class Changes(_Facts):
    """End minus start. Keys of two dungeons are not compared."""

    hearts: Number | None = None
    max_hearts: Number | None = None
    deaths: Whole | None = None
    rupees: Whole | None = None
    bombs: Whole | None = None
    keys: Whole | None = None
    essences: Whole | None = None
    items_gained: tuple[str, ...] | None = None
    items_lost: tuple[str, ...] | None = None

    @property
    def treasures(self) -> int:
        """Keys and essences gained; what is unknown is not counted."""
        return (self.keys or 0) + (self.essences or 0)


class Dialog(_Facts):
    """Steps with a text on the screen, how often one opened and closed, and how many texts.

    `said` is what they said, in order, each cut short; None where it cannot be read.
    """

    steps: Whole | None = None
    opened: Whole | None = None
    closed: Whole | None = None
    texts: Whole | None = None
    said: tuple[str, ...] | None = None
    open_at_end: Flag | None = None


class Control(_Facts):
    """Steps in which the player could not act, and steps in a menu."""

    steps_without: Whole | None = None
    menu_steps: Whole | None = None


class Enemies(_Facts):
    """Most enemies near at once, those left in the last room, and those defeated."""

    most_near: Whole | None = None
    left_at_end: Whole | None = None
    defeated: Whole | None = None


class Puzzle(_Facts):
    """Parts ever in use → their reading [at the start, highest, at the end]; what the room gave."""

    parts: dict[str, tuple[Number, Number, Number]] | None = None
    events_done: Whole | None = None
    items_taken: Whole | None = None


class Evidence(_Facts):
    """The evidence of one segment; the sections in the order in which a model reads them."""

    segment: Span = Span()
    start: Moment = Moment()
    end: Moment = Moment()
    rooms: Rooms = Rooms()
    movement: Movement = Movement()
    changes: Changes = Changes()
    dialog: Dialog = Dialog()
    control: Control = Control()
    enemies: Enemies = Enemies()
    puzzle: Puzzle = Puzzle()

    @property
    def died(self) -> bool:
        """Whether the player is known to have died."""
        return self.end.hearts == 0 or (self.changes.deaths or 0) > 0

    def share(self, steps: int | None) -> float | None:
        """Share of the segment that so many steps are; None when unknown."""
        return None if steps is None or not self.segment.steps else steps / self.segment.steps

    def sha256(self) -> str:
        """Digest of all facts; segments with equal ones are near-duplicates to a judge."""
        text = json.dumps(self.model_dump(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


class EvidencePair(_Facts):
    """Two segments to compare, in the order in which they are shown."""

    segment_1: Evidence | None = None
    segment_2: Evidence | None = None
