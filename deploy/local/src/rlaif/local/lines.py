"""Text layout for a terminal: progress lines without the least important parts, and wrapping."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

_BETWEEN = " · "


@dataclass(frozen=True)
class Part:
    """A part of the progress line; the highest rank is dropped first if space is short."""

    text: str
    rank: int = 0


def fit(parts: Sequence[Part], width: int | None = None) -> str:
    """The parts in one line of at most `width` characters; all of them with None.

    A single remaining part is truncated with an ellipsis.
    """
    kept = list(parts)
    while True:
        line = _BETWEEN.join(part.text for part in kept)
        if width is None or len(line) <= width:
            return line
        if len(kept) < 2:
            return line[: max(0, width - 1)] + "…"
        # Of equal ranks the later one is dropped first.
        kept.pop(max(range(len(kept)), key=lambda n: (kept[n].rank, n)))


def wrap(text: str, width: int, indent: int) -> str:
    """Wrap each line of a text between words and indent its continuation lines.

    Words longer than a line, such as paths, are not broken.
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
