"""What the terminal shows: steps that were done, one line that moves, and what went wrong."""

import time
from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.status import Status
from rich.text import Text

from rlaif.local.lines import Part, fit, wrap

_PLAIN_EVERY_SECONDS = 10.0
_INDENT = 3


class Display:
    """Prints to a terminal, or line by line when the output is not one.

    In a terminal nothing is wider than it: words are wrapped, and the moving line leaves out what
    does not fit. Elsewhere each message is one line, for whoever searches in it.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status: Status | None = None
        self._plain_at = float("-inf")

    def title(self, text: str) -> None:
        """First line."""
        self._print("", f"zelda rlaif — {text}", style="bold")

    def done(self, name: str, what: str, seconds: float | None = None) -> None:
        """A step that came to its end."""
        took = "" if seconds is None else f"{seconds:6.1f} s"
        self._print("✓", f"{name:<13} {what:<44} {took}", style="green")

    def note(self, text: str) -> None:
        """Something to know."""
        self._print(" ", text)

    def mended(self, text: str) -> None:
        """Something that went wrong and is well again."""
        self._print("✓", text, style="green")

    def warn(self, text: str) -> None:
        """Something that went wrong and is being mended."""
        self._print("!", text, style="yellow")

    def fail(self, text: str) -> None:
        """Something that ends the run."""
        self._print("✗", text, style="red")

    def headline(self, text: str) -> None:
        """The line that all this is for."""
        self._print("", text, style="bold green")

    def progress(self, parts: Sequence[Part]) -> None:
        """Replace the moving line; without a terminal, print it every ten seconds."""
        if not self._console.is_terminal:
            now = time.monotonic()
            if now - self._plain_at >= _PLAIN_EVERY_SECONDS:
                self._plain_at = now
                self._print("·", fit(parts))
            return
        if self._status is None:
            self._status = self._console.status(_OneLine(parts))
            self._status.start()
        self._status.update(_OneLine(parts))

    def quiet(self) -> None:
        """Take the moving line away."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _print(self, sign: str, text: str, *, style: str = "") -> None:
        """One message: its sign in the style, or all of it where it has none."""
        line = f" {sign} {text}" if sign else text
        if self._console.is_terminal:
            line = wrap(line, self._console.width, _INDENT)
        shown = Text(line.rstrip())
        if sign:
            shown.stylize(style, 0, 2)
        else:
            shown.stylize(style)
        self._console.print(shown, highlight=False, soft_wrap=True)


class _OneLine:
    """Parts in the room that there is when they are drawn: a terminal may be resized."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = parts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(fit(self._parts, options.max_width), no_wrap=True, overflow="crop", end="")
