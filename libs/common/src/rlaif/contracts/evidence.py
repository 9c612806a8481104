"""The evidence: what a judge may know of one segment, in about 400 tokens of JSON.

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

EVIDENCE_VERSION = "evidence-2"
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
    """How long the segment is and what was pressed.

    Attributes:
        seconds: Time in the game, waiting included.
        steps: Decision steps.
        inputs: The commonest inputs → share of the steps, the commonest first.
    """

    seconds: Number | None = None
    steps: Whole | None = None
    inputs: dict[str, Number] | None = None


class Moment(_Facts):
    """The game at the start or at the end.

    Attributes:
        room: `group/room`.
        area: Part of the world.
        dungeon: Index of the dungeon; None outside too.
        at: Where the player is.
        hearts: Of health; in quarters.
        max_hearts: Of full health.
        rupees: Money.
        keys: Small keys for this dungeon; None outside too.
        season: Of the place.
    """

    room: str | None = None
    area: str | None = None
    dungeon: Number | None = None
    at: Point | None = None
    hearts: Number | None = None
    max_hearts: Number | None = None
    rupees: Whole | None = None
    keys: Whole | None = None
    season: str | None = None


class Rooms(_Facts):
    """The way through rooms.

    Attributes:
        in_order: The first rooms of the way, as `group/room`.
        changes: Times that the room changed.
        different: Rooms that were seen.
        first_visits: Rooms that the player had never entered before.
    """

    in_order: tuple[str, ...] | None = None
    changes: Whole | None = None
    different: Whole | None = None
    first_visits: Whole | None = None


class Movement(_Facts):
    """The way within rooms.

    Attributes:
        pixels: Walked in all.
        idle_share: Share of the steps in control that moved nothing.
        path: A few places along the way, first and last among them.
    """

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
    """Texts on the screen.

    Attributes:
        steps: Steps with one open.
        opened: Times that one opened.
        closed: Times that one closed.
        texts: Different texts.
        open_at_end: The last step has one open.
    """

    steps: Whole | None = None
    opened: Whole | None = None
    closed: Whole | None = None
    texts: Whole | None = None
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
    """Parts of puzzles, and what the room gave in return.

    Attributes:
        parts: Part that was ever in use → its reading [at the start, highest, at the end].
        events_done: Times that something gave way in the room.
        items_taken: Times that the item of a room was taken.
    """

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
