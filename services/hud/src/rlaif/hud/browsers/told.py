"""The sections as all pages have them, so that a page is told what changed since, and no more."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json, to_json

from rlaif.hud.browsers.deltas import difference


@dataclass(frozen=True)
class News:
    """A section that changed: its value as JSON, and the change that leads there.

    `change` is None where the value itself is shorter.
    """

    whole: str
    change: str | None


class Told:
    """The newest value of each section that was offered to the pages."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._values: dict[str, Any] = {}

    def begin(self, sections: Mapping[str, Any]) -> None:
        """Nobody was told anything yet: begin with these values."""
        self._texts = {name: to_json(value).decode() for name, value in sections.items()}
        self._values = {name: from_json(text) for name, text in self._texts.items()}

    def news(self, sections: Mapping[str, Any]) -> dict[str, News]:
        """Those of `sections` that are not what was told last; told from now on."""
        texts = {name: to_json(value).decode() for name, value in sections.items()}
        changed = {name: text for name, text in texts.items() if self._texts.get(name) != text}
        return {name: self._tell(name, text) for name, text in changed.items()}

    def members(self) -> str:
        """All sections as members of a JSON object."""
        return ",".join(f'"{name}":{text}' for name, text in self._texts.items())

    def _tell(self, name: str, text: str) -> News:
        value = from_json(text)
        change = difference(self._values[name], value) if name in self._values else None
        self._texts[name], self._values[name] = text, value
        if change is None or "v" in change:
            return News(text, None)
        short = to_json(change).decode()
        return News(text, short if len(short) < len(text) else None)
