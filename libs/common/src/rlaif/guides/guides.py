"""The guide of a game: part of the prompts of judges and planners.

A page of prose beside this file with the objectives as a numbered list; judges name these numbers.
"""

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

OBJECTIVES_HEADING = "## Objectives"

_GUIDED = ("seedling-vale", "oracle-of-seasons")
_ITEM = re.compile(r"(\d+)\. (\S.*)")

_GENERAL = """\
# An adventure game: a player's guide

No guide of this game is known. In games of its kind a player walks from room to room, talks to
people, finds tools that open new ways, fetches keys, and beats the master of each dungeon.
"""


_worlds = Path("var/worlds")


def use_worlds(folder: Path) -> None:
    """Look for generated worlds in this folder: `world-7-30/guide.md` and `world.json`."""
    global _worlds
    _worlds = folder


@dataclass(frozen=True)
class Guide:
    """The guide of `game` (`other` if unknown), with its objectives in order, from number 1."""

    game: str
    text: str
    objectives: tuple[str, ...] = ()


def guide_of(game: str | None) -> Guide:
    """The guide of a game; a general one without objectives when the game has none."""
    if game in _GUIDED:
        return _read(
            game, resources.files("rlaif.guides").joinpath(f"{game}.md").read_text("utf-8")
        )
    if game is not None and Path(game).name == game:
        page = _worlds / game / "guide.md"
        if page.exists():
            return _read(game, page.read_text("utf-8"))
    return Guide("other", _GENERAL)


def world_json(game: str | None) -> str | None:
    """The text of a world's `world.json`, its facts; None for any other game."""
    if game is None or Path(game).name != game:
        return None
    shipped, drawn = resources.files("rlaif.guides") / f"{game}.json", _worlds / game / "world.json"
    found = next((file for file in (shipped, drawn) if file.is_file()), None)
    return None if found is None else found.read_text("ascii")


def guided_games() -> tuple[str, ...]:
    """Names of the games that always have a guide."""
    return _GUIDED


def parse_objectives(text: str) -> tuple[str, ...]:
    """The numbered objectives of a guide, without their numbers.

    Raises:
        ValueError: They are missing or not numbered from 1 upwards.
    """
    _, _, rest = text.partition(f"\n{OBJECTIVES_HEADING}\n")
    section, _, _ = rest.partition("\n## ")
    items = [item.groups() for line in section.splitlines() if (item := _ITEM.fullmatch(line))]
    if not items or [int(number) for number, _ in items] != list(range(1, len(items) + 1)):
        raise ValueError("a guide numbers its objectives 1, 2, 3 … under '## Objectives'")
    return tuple(objective for _, objective in items)


@cache
def _read(game: str, text: str) -> Guide:
    return Guide(game, text, parse_objectives(text))
