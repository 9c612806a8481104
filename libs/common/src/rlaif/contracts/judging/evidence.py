"""The evidence: facts on one segment for a judge, in about 600 tokens of JSON.

Unknown or malformed facts are None, never 0. Prompts, caches and scores depend on the JSON byte for
byte: any change of a name, order or unit requires a new `EVIDENCE_VERSION`.
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

# Strict: neither true nor "3" is accepted as a number.
Whole = Annotated[int, Strict()]
Number = Whole | Annotated[float, Strict()]
Flag = Annotated[bool, Strict()]
Point = tuple[Whole, Whole]
"""[x, y] in pixels from the top left corner of the room."""


class _Facts(Contract):
    """Facts with a default for missing or malformed values."""

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
    """Seconds in the game, emulator steps, and the shares of the most frequent inputs."""

    seconds: Number | None = None
    steps: Whole | None = None
    inputs: dict[str, Number] | None = None


class Moment(_Facts):
    """State at the start or the end; outside a dungeon `dungeon` and `keys` are None.

    `game` names the guide, `place` the room, `where` describes the position in it.
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
    """Path through rooms, each as `group/room`, and their names."""

    in_order: tuple[str, ...] | None = None
    places: tuple[str, ...] | None = None
    changes: Whole | None = None
    different: Whole | None = None
    first_visits: Whole | None = None


class Movement(_Facts):
    """Path within rooms; `idle_share` is the share of steps in control without movement."""

    pixels: Whole | None = None
    idle_share: Number | None = None
    path: tuple[Point, ...] | None = None

    @property
    def straightness(self) -> float | None:
        """Distance between the ends of the path, divided by its length."""
        if self.path is None or len(self.path) < 2 or not self.pixels:
            return None
        (x0, y0), (x1, y1) = self.path[0], self.path[-1]
        return (abs(x1 - x0) + abs(y1 - y0)) / self.pixels


class Changes(_Facts):
    """End minus start; keys of different dungeons are not compared."""

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
        """Keys and essences gained."""
        return (self.keys or 0) + (self.essences or 0)


class Dialog(_Facts):
    """Steps with a text, texts opened and closed, distinct texts, and their shortened content."""

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
    """Maximum number near at once, number left in the last room, and number defeated."""

    most_near: Whole | None = None
    left_at_end: Whole | None = None
    defeated: Whole | None = None


class Puzzle(_Facts):
    """Parts in use → values [start, maximum, end]; events and items of the room."""

    parts: dict[str, tuple[Number, Number, Number]] | None = None
    events_done: Whole | None = None
    items_taken: Whole | None = None


class Evidence(_Facts):
    """The evidence of one segment, with the sections in prompt order."""

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
        return self.end.hearts == 0 or (self.changes.deaths or 0) > 0

    def share(self, steps: int | None) -> float | None:
        """These steps as a share of the segment; None if unknown."""
        return None if steps is None or not self.segment.steps else steps / self.segment.steps

    def sha256(self) -> str:
        """Digest of all facts; equal for near-duplicates."""
        text = json.dumps(self.model_dump(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


class EvidencePair(_Facts):
    """Two segments to compare, in the order shown."""

    segment_1: Evidence | None = None
    segment_2: Evidence | None = None
