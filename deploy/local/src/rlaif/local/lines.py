"""Text that fits a terminal: one line from parts, the less telling ones left out; wrapped words."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

_BETWEEN = " · "


@dataclass(frozen=True)
class Part:
    """A piece of the moving line; the highest rank is left out first where the room is small."""

    text: str
    rank: int = 0


def fit(parts: Sequence[Part], width: int | None = None) -> str:
    """The parts in one line of at most `width` characters; all of them with None.

    The last part that is left is cut, with an ellipsis.
    """
    kept = list(parts)
    while True:
        line = _BETWEEN.join(part.text for part in kept)
        if width is None or len(line) <= width:
            return line
        if len(kept) < 2:
            return line[: max(0, width - 1)] + "…"
        # The later of two that are alike goes first.
        kept.pop(max(range(len(kept)), key=lambda n: (kept[n].rank, n)))


def wrap(text: str, width: int, indent: int) -> str:
    """Each line of a text broken between words, what follows a break indented.

    A word that is longer than a line, such as a path, is not cut.
    """
    return "\n".join(
        "\n".join(
            textwrap.wrap(
                line,
                max(width, indent + 20),
                subsequent_indent=" " * indent,
                break_long_words=False,
                break_on_hyphens=False,
            )
        )
        for line in text.split("\n")
    )
