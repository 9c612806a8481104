"""One line of states.jsonl, typed for judges; missing and malformed values are None.

Words come from the memory of a game, which is not trusted: a word outside a fixed vocabulary
becomes `other`, so that nothing can be injected into a prompt. The only exception is `said`.
"""

import math
import string
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Annotated, Any, Self

from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict, Field

from rlaif.contracts.game.items import DUNGEON_ITEMS, NAMED_ITEMS, SEASON_POWERS
from rlaif.contracts.game.names import NAMED_PLACES, ORACLE_OF_SEASONS, is_named_game
from rlaif.contracts.game.segments import StateRecord

OTHER = "other"
"""Replaces every word that is not in the vocabulary."""

VOCABULARY = frozenset(
    {
        *("UP", "DOWN", "LEFT", "RIGHT", "A", "B", "START", "NOP"),
        *("overworld", "Subrosia", "Maku tree", "indoors", "underground", "side view"),
        *("spring", "summer", "autumn", "winter"),
        *NAMED_ITEMS,
        *DUNGEON_ITEMS,
        *SEASON_POWERS.values(),
    }
)
"""Inputs, areas, seasons and items; games and places have separate sets."""

PUZZLE_PARTS = ("buttons_pressed", "switches_on", "toggles_on", "torches_lit")

MAX_SAID_CHARACTERS = 160

_SAFE_CHARACTERS = frozenset(string.ascii_letters + string.digits + " .,:;!?'\"()-+/&%")
"""Characters of the game's text boxes; none of them is markup in a prompt."""


def _number(value: object) -> int | float | None:
    """A finite number, else None; booleans are not numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def _flag(value: object) -> bool | None:
    """A boolean or one of the integers 0 and 1, else None."""
    return bool(value) if value in (0, 1) and isinstance(value, int) else None


def _count(value: object) -> int | None:
    """An integer, or the length of a list; else None."""
    if isinstance(value, list | tuple):
        return len(value)
    found = _number(value)
    return None if found is None else int(found)


def _word_of(is_known: Callable[[str], bool]) -> Callable[[object], str | None]:
    def word(value: object) -> str | None:
        if not isinstance(value, str) or not value.strip():
            return None
        return value if is_known(value) else OTHER

    return word


_word = _word_of(VOCABULARY.__contains__)


def _words(value: object) -> tuple[str, ...] | None:
    """The words of a list, the names of `{"name": …}` entries, or the true keys of a mapping."""
    if isinstance(value, Mapping):
        value = [name for name, held in value.items() if held]
    if not isinstance(value, list | tuple):
        return None
    names = (_word(entry.get("name") if isinstance(entry, Mapping) else entry) for entry in value)
    return tuple(name for name in names if name is not None)


def _enemies(value: object) -> int | None:
    if not isinstance(value, list):
        return None
    kinds = [entity.get("kind") for entity in value if isinstance(entity, Mapping)]
    return kinds.count("enemy")


def _puzzle(value: object) -> dict[str, int | float] | None:
    if not isinstance(value, Mapping):
        return None
    read = {name: _number(value.get(name)) for name in PUZZLE_PARTS}
    return {name: number for name, number in read.items() if number is not None}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


Number = Annotated[int | float | None, BeforeValidator(_number)]
Count = Annotated[int | None, BeforeValidator(_count)]
Flag = Annotated[bool | None, BeforeValidator(_flag)]
Word = Annotated[str | None, BeforeValidator(_word)]
Words = Annotated[tuple[str, ...] | None, BeforeValidator(_words)]


def _at(*path: str) -> Any:
    return Field(default=None, validation_alias=AliasPath(*path))


class DescribedState(BaseModel):
    """The game after one emulator step."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    frame: int = 0
    action: Word = None
    game: Annotated[str | None, BeforeValidator(_word_of(is_named_game))] = None
    place: Annotated[str | None, BeforeValidator(_word_of(NAMED_PLACES.__contains__))] = _at(
        "room", "name"
    )
    area: Word = _at("room", "area")
    dungeon: Number = _at("room", "dungeon")
    large: Flag = _at("room", "large")
    event_done: Flag = _at("room", "event_done")
    item_taken: Flag = _at("room", "item_taken")
    enemies_left: Count = _at("room", "enemies_left")
    room_group: Number = _at("room", "group")
    room_index: Number = _at("room", "room")
    x: Number = _at("player", "x")
    y: Number = _at("player", "y")
    hearts: Number = _at("player", "hearts")
    max_hearts: Number = _at("player", "max_hearts")
    control: Flag = _at("flags", "control")
    dialog: Flag = _at("flags", "dialog")
    menu: Flag = _at("flags", "menu")
    rupees: Count = None
    keys: Count = None
    bombs: Count = None
    essences: Count = None
    deaths: Count = None
    rooms_visited: Count = None
    enemies_defeated: Count = None
    enemies_near: Annotated[int | None, BeforeValidator(_enemies)] = _at("entities")
    season: Word = None
    owned: Words = _at("items")
    seasons_owned: Words = None
    dungeon_items: Words = None
    text_id: Number = None
    text: Annotated[str | None, BeforeValidator(_text)] = None
    puzzle: Annotated[dict[str, int | float] | None, BeforeValidator(_puzzle)] = None

    @classmethod
    def of(cls, record: StateRecord) -> Self:
        return cls.model_validate({**record.state, "frame": record.frame, "action": record.action})

    @cached_property
    def room(self) -> str | None:
        """`group/room`; None if either is unknown."""
        if self.room_group is None or self.room_index is None:
            return None
        return f"{int(self.room_group)}/{int(self.room_index)}"

    @cached_property
    def position(self) -> tuple[int, int] | None:
        """[x, y] of the player, in pixels from the room's top left corner."""
        return None if self.x is None or self.y is None else (int(self.x), int(self.y))

    @cached_property
    def items(self) -> tuple[str, ...] | None:
        """Owned items without those of dungeons; in Oracle of Seasons with the rod's powers."""
        if self.owned is None or self.game != ORACLE_OF_SEASONS:
            return self.owned
        powers = (SEASON_POWERS.get(season) for season in self.seasons_owned or ())
        return (*self.owned, *(power for power in powers if power is not None))

    @cached_property
    def said(self) -> str | None:
        """Text of the text box, for known games only: one line of safe characters, truncated."""
        known = self.game is not None and is_named_game(self.game)
        if not known or self.text is None or self.dialog is not True:
            return None
        start = self.text[: 4 * MAX_SAID_CHARACTERS]
        shown = "".join(letter if letter in _SAFE_CHARACTERS else " " for letter in start)
        return " ".join(shown.split())[:MAX_SAID_CHARACTERS].rstrip() or None


def described(records: Iterable[StateRecord]) -> tuple[DescribedState, ...]:
    """States in the order of their records."""
    return tuple(map(DescribedState.of, records))
