"""The sections of the page, each made independently."""

import logging
from collections.abc import Callable

from rlaif.hud.read_model.views import Section, Snapshot

SECTIONS = tuple(
    name for name in Snapshot.model_fields if name not in ("epoch", "build", "taken_at", "events")
)
"""The fields of a snapshot that are sent again when they change."""

logger = logging.getLogger(__name__)


class Sections:
    """Makes sections by name; one that cannot be made keeps its last content.

    An empty state has all sections, so each has a last content.
    """

    def __init__(self, section: Callable[[str], Section]) -> None:
        self._section = section
        self._last = {name: section(name) for name in SECTIONS}
        self._failures: dict[str, str] = {}

    def make(self, name: str) -> Section:
        try:
            self._last[name] = self._section(name)
        except Exception as error:
            if name not in self._failures:
                logger.exception("section %s of the page cannot be made", name)
            self._failures[name] = f"{type(error).__name__}: {error}"
        else:
            self._failures.pop(name, None)
        return self._last[name]

    def check(self) -> str | None:
        """The sections that cannot be made, with the reason; None if all can."""
        return "; ".join(f"section {name}: {why}" for name, why in self._failures.items()) or None
