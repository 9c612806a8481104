"""The terminal's lines on terminals of 80 and 120 columns, and in a file."""

import io

import pytest
from rich.console import Console
from rich.text import Text

from rlaif.contracts.telemetry.run import RunFigures
from rlaif.local.display import Display, wrapped
from rlaif.local.loop_watch import LoopClosed, LoopReading

CLOSED = LoopClosed(12, 1172, 341, 0.82, 1096, 1_141_472).sentence()
BUSY = LoopReading(
    status="training",
    env_steps=1_396_288,
    figures=RunFigures(
        steps_per_second=12_838.4,
        frames_per_second=449_344.2,
        episodes=4462,
        segments_captured=1128,
        episode_return_mean=-10.44,
    ),
    next_model="13 of 20 pairs, 5 of 12 new labels",
    reward_model_version=12,
)


class Screen:
    def __init__(self, *, width: int, terminal: bool) -> None:
        self._file = io.StringIO()
        self.console = Console(
            file=self._file, width=width, force_terminal=terminal, color_system=None
        )
        self.display = Display(self.console)

    def lines(self) -> list[str]:
        text = Text.from_ansi(self._file.getvalue().replace("\r", "\n")).plain
        return [line.rstrip() for line in text.split("\n") if line.strip()]


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that can move its cursor, wherever the tests run."""
    monkeypatch.setenv("TERM", "xterm")


@pytest.fixture(params=[80, 120])
def screen(request: pytest.FixtureRequest) -> Screen:
    return Screen(width=request.param, terminal=True)


def test_no_message_is_wider_than_the_terminal(screen):
    display = screen.display
    display.title("a/rom/with/a/name/of/some/length.gbc, mock judges · Ctrl-C stops")
    display.done("reward-model", "http://127.0.0.1:65535", 112.4)
    display.headline(CLOSED)
    display.warn("judge is not ready: llm vision: " + "the server answers 400 to the model " * 5)
    display.note("stopped after 1234 s, loops closed: 12; " + "everything is kept " * 5)
    assert max(map(len, screen.lines())) <= screen.console.width
    text = " ".join(" ".join(screen.lines()).split())
    assert CLOSED in text


def test_the_moving_line_is_one_line(screen):
    screen.display.progress(BUSY.sentence())
    screen.display.quiet()
    [line] = {line for line in screen.lines() if "training" in line}
    assert len(line) <= screen.console.width
    assert "1,396,288 steps · next model: 13 of 20 pairs" in line
    assert len(screen.lines()) == sum("training" in line for line in screen.lines())


def test_a_narrower_terminal_shows_less():
    shown = {}
    for width in (80, 120):
        screen = Screen(width=width, terminal=True)
        screen.display.progress(BUSY.sentence())
        screen.display.quiet()
        shown[width] = screen.lines()[0]
    assert "1,128 captured" in shown[120]
    assert "captured" not in shown[80]


def test_in_a_file_each_message_is_one_line_and_progress_comes_every_ten_seconds():
    screen = Screen(width=80, terminal=False)
    screen.display.headline(CLOSED)
    screen.display.progress("starting · s3 0 s")
    screen.display.progress("starting · s3 1 s")
    assert screen.lines() == [CLOSED, " · starting · s3 0 s"]


def test_words_are_wrapped_what_follows_is_indented_and_a_path_is_not_cut():
    assert wrapped("one two three four five six", 23) == "one two three four five\n   six"
    path = "/a/very/long/path/that/is/longer/than/the/terminal/is/wide.log"
    assert path in wrapped(f"nats ended; log {path}", 40).splitlines()[-1]
