"""What the terminal shows: steps that were done, one line that moves, and what went wrong."""

import time

from rich.console import Console
from rich.status import Status

_PLAIN_EVERY_SECONDS = 10.0


class Display:
    """Prints to a terminal, or line by line when the output is not one."""

    def __init__(self, console: Console) -> None:
        """Write to `console`."""
        self._console = console
        self._status: Status | None = None
        self._plain_at = 0.0

    def title(self, text: str) -> None:
        """First line."""
        self._console.print(f"[bold]zelda rlaif[/bold] — {text}", highlight=False)

    def done(self, name: str, what: str, seconds: float | None = None) -> None:
        """A step that came to its end."""
        took = "" if seconds is None else f"{seconds:6.1f} s"
        self._console.print(f" [green]✓[/green] {name:<13} {what:<44} {took}", highlight=False)

    def note(self, text: str) -> None:
        """Something to know."""
        self._console.print(f"   {text}", highlight=False, markup=False)

    def warn(self, text: str) -> None:
        """Something that went wrong and is being mended."""
        self._console.print(f" [yellow]![/yellow] {text}", highlight=False)

    def fail(self, text: str) -> None:
        """Something that ends the run."""
        self._console.print(f"[red]✗[/red] {text}", highlight=False)

    def headline(self, text: str) -> None:
        """The line that all this is for."""
        self._console.print(f"[bold green]{text}[/bold green]", highlight=False, soft_wrap=True)

    def progress(self, text: str) -> None:
        """Replace the moving line; without a terminal, print it every ten seconds."""
        if not self._console.is_terminal:
            now = time.monotonic()
            if now - self._plain_at >= _PLAIN_EVERY_SECONDS:
                self._plain_at = now
                self._console.print(f" · {text}", highlight=False, soft_wrap=True)
            return
        if self._status is None:
            self._status = self._console.status(text)
            self._status.start()
        self._status.update(text)

    def quiet(self) -> None:
        """Take the moving line away."""
        if self._status is not None:
            self._status.stop()
            self._status = None
