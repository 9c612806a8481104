"""Answers of a planner: a plan of macros or one button.

The text is untrusted: its single JSON object is accepted as a whole or rejected, with bounds on all
values. A plan can contain only tiles, rooms, items and choices.
"""

import contextlib
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self, TypeVar, get_args

from pydantic import (
    BeforeValidator,
    Field,
    Strict,
    ValidationError,
    model_validator,
)

from rlaif.contracts.model import Contract
from rlaif.contracts.planning.model_answers import NoAnswerError, read_answer_object, whole_number

Mode = Literal["vision", "dialog", "puzzle"]
"""Route of the planner: pictures, texts, or reasoning."""

Direction = Literal["UP", "DOWN", "LEFT", "RIGHT"]

Button = Literal["UP", "DOWN", "LEFT", "RIGHT", "A", "B", "START", "NOP"]
"""Names of the actions in `rlaif.game.machine.actions`."""

COLUMNS, ROWS = 15, 11
"""Tiles of a large room; a small one has 10 by 8."""

MAX_MACROS = 8
MAX_CHOICES = 4
REASON_CHARACTERS = 200

USABLE_ITEMS: tuple[str, ...] = (
    "sword", "shield", "bombs", "bombchus", "boomerang", "rod_of_seasons", "magnet_gloves",
    "slingshot", "shovel", "bracelet", "feather", "flute", "biggoron_sword", "fools_ore",
    "seed_satchel", "ember_seeds", "scent_seeds", "pegasus_seeds", "gale_seeds", "mystery_seeds",
)  # fmt: skip
"""Items that can be assigned to a button, by name in descriptions; seeds mean the satchel."""

_ROOM_PATTERN = r"^[0-7]/(0|[1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-5])$"
KINDS: tuple[str, ...] = ("MOVE_TO", "PUSH_BLOCK", "USE_ITEM", "TALK", "CUT", "TAKE", "ANSWER")
_REASON_SCHEMA = {"type": "string", "maxLength": REASON_CHARACTERS}


def _number(value: object) -> object:
    """The number of a numeric string; any other value unchanged."""
    with contextlib.suppress(ValueError):
        return float(value) if isinstance(value, str) else value
    return value


def _cut(value: object) -> object:
    return value[:REASON_CHARACTERS] if isinstance(value, str) else value


# Strict: true is not accepted as a number. A model may write 3 as 3.0 or "3".
_Whole = Annotated[int, Strict(), BeforeValidator(whole_number)]
Column = Annotated[_Whole, Field(ge=0, lt=COLUMNS)]
Row = Annotated[_Whole, Field(ge=0, lt=ROWS)]
ChoiceNumber = Annotated[_Whole, Field(ge=0, lt=MAX_CHOICES)]
Confidence = Annotated[float, Strict(), BeforeValidator(_number), Field(ge=0, le=1)]
Reason = Annotated[str, Strict(), BeforeValidator(_cut), Field(max_length=REASON_CHARACTERS)]

RoomName = Annotated[str, Strict(), Field(pattern=_ROOM_PATTERN)]
"""`group/room`, both decimal, as in the evidence: `5/161`."""


class InvalidPlanError(ValueError):
    """The text is not a valid plan or suggestion; the message names the place."""


class MoveTo(Contract):
    """Walk to a tile, a room, or a tile of another room; without `room`, in the current one."""

    kind: Literal["MOVE_TO"] = "MOVE_TO"
    room: RoomName | None = None
    column: Column | None = None
    row: Row | None = None

    @model_validator(mode="after")
    def _somewhere(self) -> Self:
        _both_or_none(self.column, self.row)
        if self.room is None and self.column is None:
            raise ValueError("no room or tile to walk to")
        return self


class PushBlock(Contract):
    """Push the block at a tile by one tile."""

    kind: Literal["PUSH_BLOCK"] = "PUSH_BLOCK"
    column: Column
    row: Row
    direction: Direction


class UseItem(Contract):
    """Use an item facing a direction, beside a tile if one is given."""

    kind: Literal["USE_ITEM"] = "USE_ITEM"
    item: str
    direction: Direction | None = None
    column: Column | None = None
    row: Row | None = None

    @model_validator(mode="after")
    def _usable(self) -> Self:
        _both_or_none(self.column, self.row)
        if self.item not in USABLE_ITEMS:
            raise ValueError("not a usable item")
        return self


class Talk(Contract):
    """Talk to the person, or read the sign, on a tile, until the text ends."""

    kind: Literal["TALK"] = "TALK"
    column: Column
    row: Row


class Cut(Contract):
    """Strike at a tile with the sword, such as at a bush, grass or an enemy."""

    kind: Literal["CUT"] = "CUT"
    column: Column
    row: Row


class Take(Contract):
    """Take an object at a tile: step onto an item, open a chest, lift a pot or stone."""

    kind: Literal["TAKE"] = "TAKE"
    column: Column
    row: Row


class Answer(Contract):
    """In an open text: advance to its question, choose, and read to the end."""

    kind: Literal["ANSWER"] = "ANSWER"
    choice: ChoiceNumber


Macro = Annotated[
    MoveTo | PushBlock | UseItem | Talk | Cut | Take | Answer, Field(discriminator="kind")
]


class Plan(Contract):
    """Up to eight macros; the reason comes first, so that it is generated first."""

    reason: Reason
    macros: Annotated[tuple[Macro, ...], Field(min_length=1, max_length=MAX_MACROS)]
    confidence: Confidence


class Suggestion(Contract):
    """One button to press now."""

    reason: Reason
    button: Button


def plan_schema() -> dict[str, Any]:
    """JSON schema of a plan, for constrained decoding.

    A macro has all keys, null where its kind does not use them: strict modes of servers require
    every key and no `oneOf`, and deep grammars are slow.
    """
    macro = {
        "kind": {"type": "string", "enum": list(KINDS)},
        "room": {"type": ["string", "null"], "pattern": _ROOM_PATTERN},
        "column": {"type": ["integer", "null"], "minimum": 0, "maximum": COLUMNS - 1},
        "row": {"type": ["integer", "null"], "minimum": 0, "maximum": ROWS - 1},
        "direction": {"type": ["string", "null"], "enum": [*get_args(Direction), None]},
        "item": {"type": ["string", "null"], "enum": [*USABLE_ITEMS, None]},
        "choice": {"type": ["integer", "null"], "minimum": 0, "maximum": MAX_CHOICES - 1},
    }
    macros = {"type": "array", "items": _closed(macro), "minItems": 1, "maxItems": MAX_MACROS}
    return _closed(
        {
            "reason": _REASON_SCHEMA,
            "macros": macros,
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        }
    )


def suggestion_schema() -> dict[str, Any]:
    """JSON schema of a suggestion, for constrained decoding."""
    buttons = {"type": "string", "enum": list(get_args(Button))}
    return _closed({"reason": _REASON_SCHEMA, "button": buttons})


def read_plan(text: str | bytes) -> Plan:
    """Read a plan, without null keys of macros; raises InvalidPlanError."""
    return _read(text, lambda value: Plan.model_validate(_without_nulls(value)))


def read_suggestion(text: str | bytes) -> Suggestion:
    """Read a suggestion; raises InvalidPlanError."""
    return _read(text, Suggestion.model_validate)


def macro_words(macro: Macro) -> str:
    """A macro as text: `PUSH_BLOCK column=3 row=4 direction=UP`."""
    fields = macro.model_dump(exclude_none=True)
    kind = fields.pop("kind")
    return " ".join([str(kind), *(f"{name}={value}" for name, value in fields.items())])


_OUR_WORDS = frozenset(
    {*KINDS, *Plan.model_fields, *Suggestion.model_fields, *UseItem.model_fields, "room", "choice"}
)
_Read = TypeVar("_Read")


def _read(text: str | bytes, validate: Callable[[dict[str, Any]], _Read]) -> _Read:
    try:
        return validate(read_answer_object(text if isinstance(text, str) else text.decode()))
    except (NoAnswerError, UnicodeDecodeError) as error:
        raise InvalidPlanError(str(error)) from error
    except ValidationError as error:
        raise InvalidPlanError(_where(error)) from error


def _where(error: ValidationError) -> str:
    """Place and type of the first error, without the untrusted text of the model."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    place = [str(part) if part in _OUR_WORDS or type(part) is int else "?" for part in first["loc"]]
    return f"{'.'.join(place) or 'plan'}: {first['type']}"


def _without_nulls(plan: dict[str, Any]) -> dict[str, Any]:
    """A copy whose macros have only the keys with a value."""
    macros = plan.get("macros")
    if not isinstance(macros, list):
        return plan
    kept = [
        {key: value for key, value in macro.items() if value is not None}
        if isinstance(macro, dict)
        else macro
        for macro in macros
    ]
    return {**plan, "macros": kept}


def _both_or_none(column: int | None, row: int | None) -> None:
    if (column is None) != (row is None):
        raise ValueError("a tile needs column and row")


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
