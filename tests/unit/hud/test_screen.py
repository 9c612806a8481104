from datetime import datetime, timedelta

import pytest

from rlaif.contracts.telemetry.frames import ScreenFrame
from rlaif.hud.read_model.screen import Screen
from rlaif.testing.data.events import NOON


def frame(microseconds: int = 0, *, sequence: int = 1) -> ScreenFrame:
    captured = int(NOON.timestamp() * 1e6) + microseconds
    return ScreenFrame(sequence, captured, step=7, picture=b"picture")


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def test_frames_get_rising_numbers_whatever_the_trainer_counts() -> None:
    screen = Screen()
    shown = [screen.offer("env-0", frame(n, sequence=99 - n), after(n / 20)) for n in range(3)]
    assert [one.sequence for one in shown if one] == [1, 2, 3]
    assert shown[2] is not None
    assert ScreenFrame.unpack(shown[2].packed).sequence == 3
    assert ScreenFrame.unpack(shown[2].packed).picture == b"picture"


def test_a_late_frame_is_dropped() -> None:
    screen = Screen()
    screen.offer("env-0", frame(1000), NOON)
    assert screen.offer("env-0", frame(500), after(0.1)) is None


def test_the_rate_is_that_of_the_last_two_seconds() -> None:
    screen = Screen()
    for n in range(61):
        screen.offer("env-0", frame(n * 50_000), after(n / 20))
    view = screen.view()
    assert view is not None
    assert view.frames_per_second == pytest.approx(20)


def test_nothing_is_known_before_the_first_frame_and_no_rate_with_one() -> None:
    screen = Screen()
    assert screen.view() is None
    screen.offer("env-0", frame(), NOON)
    view = screen.view()
    assert view is not None
    assert view.frames_per_second is None
    assert view.captured_at == NOON
