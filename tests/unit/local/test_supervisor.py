"""Requests to stop."""

import io
import time

from rich.console import Console

from rlaif.local.display import Display
from rlaif.local.stack import Stack
from rlaif.local.supervisor import Supervisor
from rlaif.pacing.pause import SAME_REQUEST_SECONDS


def test_signals_at_once_are_one_request_and_a_later_one_is_another(tmp_path, monkeypatch):
    """`timeout` signals a process, then its group: the training must not be lost by that."""
    written, now = io.StringIO(), 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    stack = Stack(servers=(), services=(), urls={}, api_token="", trainer_dir=tmp_path)
    supervisor = Supervisor(stack, Display(Console(file=written, width=300)))
    supervisor.ask_to_stop()
    supervisor.ask_to_stop()
    assert len(written.getvalue().splitlines()) == 1
    now += 2 * SAME_REQUEST_SECONDS
    supervisor.ask_to_stop()
    assert "at once" in written.getvalue().splitlines()[1]
