"""Texts of a world: names, lines of people and signs, and line breaks that fit the text box."""

import tomllib
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

from rlaif.contracts.game.names import WORLD_FIRST_WORDS, WORLD_PEOPLE
from rlaif.game.worlds.tables import (
    LINE_LETTERS,
    NAME_LETTERS,
    PAGE_LINES,
    TEXT_LETTERS,
    TITLE_LETTERS,
    When,
    read_data,
)

WORDS: dict[str, Any] = tomllib.loads(read_data("words.toml"))


def broken(text: str) -> str:
    r"""Break text into lines (`\n`) and pages (`\f`) that fit the box; `|` starts a new page."""
    pages: list[str] = []
    for part in text.split("|"):
        lines: list[str] = []
        for word in part.split():
            if lines and len(lines[-1]) + 1 + len(word) <= LINE_LETTERS:
                lines[-1] += f" {word}"
            else:
                lines.append(word)
        pages += ["\n".join(lines[i : i + PAGE_LINES]) for i in range(0, len(lines), PAGE_LINES)]
    found = "\f".join(pages)
    if len(found) > TEXT_LETTERS:
        raise ValueError(f"a text is too long with {len(found)} characters: {text!r}")
    return found


class Script:
    """All texts of one world: names, each used once, texts by number, and rules."""

    def __init__(self, rng: Random) -> None:
        self._rng, self._names = rng, {"Gnarl's Den", "Seed Hall"}
        self.texts: list[str] = ["", *map(broken, WORDS["engine"]["texts"])]
        self.gifts: list[tuple[int, ...]] = []
        self.talks: list[tuple[int, ...]] = []

    def place(self, nouns: Iterable[str]) -> str:
        """The name of a place."""
        return self._name(WORLD_FIRST_WORDS, [f" {noun}" for noun in nouns])

    def person(self) -> str:
        """The name of a person with a house."""
        return self._name(WORLD_PEOPLE, [""])

    def _name(self, first: Sequence[str], second: Sequence[str]) -> str:
        while True:
            name = self._rng.choice(first) + self._rng.choice(second)
            if len(name) <= NAME_LETTERS and name not in self._names:
                self._names.add(name)
                return name

    def title(self) -> tuple[str, str]:
        """The two lines of the title screen."""
        names = [name for name in WORLD_FIRST_WORDS if 3 < len(name) <= 8]
        first, second = self._rng.choice(names).upper(), self._rng.choice(WORDS["lands"]["names"])
        return first.center(TITLE_LETTERS).rstrip(), second.center(TITLE_LETTERS).rstrip()

    def new(self, text: str) -> int:
        """Add a text; returns its number."""
        self.texts.append(broken(text))
        return len(self.texts) - 1

    def changes(self, number: int, when: When, value: int, text: str) -> None:
        """Replace a text once a condition holds; the first rule that holds applies."""
        self.talks.append((number, when, value, self.new(text)))
