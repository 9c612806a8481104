"""The guide of a game: part of the prompts of judges and planners.

A page of prose beside this file with the objectives as a numbered list; judges name these numbers.
"""

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

OBJECTIVES_HEADING = "## Objectives"

_GUIDED = ("seedling-vale", "oracle-of-seasons")
_ITEM = re.compile(r"(\d+)\. (\S.*)")

_GENERAL = """\
# An adventure game: a player's guide

No guide of this game is known. In games of its kind a player walks from room to room, talks to
people, finds tools that open new ways, fetches keys, and beats the master of each dungeon.
"""


@dataclass(frozen=True)
class Guide:
    """The guide of `game` (`other` if unknown), with its objectives in order, from number 1."""

    game: str
    text: str
    objectives: tuple[str, ...] = ()


def guide_of(game: str | None) -> Guide:
    """The guide of a game; a general one without objectives when the game has none."""
    return _read(game) if game in _GUIDED else Guide("other", _GENERAL)


def guided_games() -> tuple[str, ...]:
    """Names of the games that have a guide."""
    return _GUIDED


def parse_objectives(text: str) -> tuple[str, ...]:
    """The numbered objectives of a guide, without their numbers.

    Raises:
        ValueError: They are not numbered from 1 upwards, or missing.
    """
    _, _, rest = text.partition(f"\n{OBJECTIVES_HEADING}\n")
    section, _, _ = rest.partition("\n## ")
    items = [item.groups() for line in section.splitlines() if (item := _ITEM.fullmatch(line))]
    if not items or [int(number) for number, _ in items] != list(range(1, len(items) + 1)):
        raise ValueError("a guide numbers its objectives 1, 2, 3 … under '## Objectives'")
    return tuple(objective for _, objective in items)


@cache
def _read(game: str) -> Guide:
    page = resources.files("rlaif.guides") / f"{game}.md"
    text = page.read_text(encoding="utf-8")
    return Guide(game, text, parse_objectives(text))
