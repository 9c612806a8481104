"""Terminal output: finished steps, one progress line, and problems."""

import textwrap
import time

from rich.console import Console, Group
from rich.status import Status
from rich.text import Text

_PLAIN_EVERY_SECONDS = 10.0
_INDENT = 3


class Display:
    """Prints to a terminal or another output.

    On a terminal, messages are wrapped and the progress line is cut at its width. Elsewhere
    each message is one line, so that it can be searched.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status: Status | None = None
        self._plain_at = float("-inf")

    def title(self, text: str) -> None:
        self._print("", f"zelda rlaif — {text}", style="bold")

    def done(self, name: str, what: str, seconds: float | None = None) -> None:
        took = "" if seconds is None else f"{seconds:6.1f} s"
        self._print("✓", f"{name:<13} {what:<44} {took}", style="green")

    def note(self, text: str) -> None:
        self._print(" ", text)

    def resolved(self, text: str) -> None:
        """A resolved problem."""
        self._print("✓", text, style="green")

    def warn(self, text: str) -> None:
        """A problem that is being handled."""
        self._print("!", text, style="yellow")

    def fail(self, text: str) -> None:
        """A problem that ends the run."""
        self._print("✗", text, style="red")

    def headline(self, text: str) -> None:
        self._print("", text, style="bold green")

    def progress(self, line: str) -> None:
        """Update the progress line; without a terminal, print it every ten seconds."""
        if not self._console.is_terminal:
            now = time.monotonic()
            if now - self._plain_at >= _PLAIN_EVERY_SECONDS:
                self._plain_at = now
                self._print("·", line)
            return
        shown = Group(Text(line, no_wrap=True, overflow="ellipsis"))
        if self._status is None:
            self._status = self._console.status(shown)
            self._status.start()
        self._status.update(shown)

    def quiet(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _print(self, sign: str, text: str, *, style: str = "") -> None:
        """Print a message; the style applies to its sign, or to the whole line without one."""
        line = f" {sign} {text}" if sign else text
        if self._console.is_terminal:
            line = "\n".join(wrapped(each, self._console.width) for each in line.split("\n"))
        shown = Text(line.rstrip())
        if sign:
            shown.stylize(style, 0, 2)
        else:
            shown.stylize(style)
        self._console.print(shown, highlight=False, soft_wrap=True)


def wrapped(line: str, width: int) -> str:
    """Wrap a line between words; words longer than a line, such as paths, are not broken."""
    return textwrap.fill(
        line,
        max(width, _INDENT + 20),
        subsequent_indent=" " * _INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
