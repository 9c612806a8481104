"""How often the watched environment is drawn."""

from types import SimpleNamespace

from rlaif.trainer.play.followers import screen_feed
from rlaif.trainer.play.followers.screen_feed import ScreenFeed

STEP = 0.04
"""Seconds of a step; pictures are due every 0.05 s, between two steps."""


def test_pictures_come_as_often_as_asked_for_though_steps_are_long(tmp_path, monkeypatch):
    feed, drawn = ScreenFeed(tmp_path / "screens", 20, runner=1, count=1), 0
    for step in range(250):
        at(monkeypatch, 1000 + step * STEP)
        drawn += feed.is_due()
    feed.close()
    assert 198 <= drawn <= 202, "ten seconds"


def test_what_a_pause_missed_is_not_made_up(tmp_path, monkeypatch):
    feed = ScreenFeed(tmp_path / "screens", 20, runner=1, count=1)
    at(monkeypatch, 1000)
    assert feed.is_due()
    drawn = 0
    for step in range(25):
        at(monkeypatch, 1060 + step * STEP)
        drawn += feed.is_due()
    feed.close()
    assert 20 <= drawn <= 21, "one second after a minute"


def at(monkeypatch, now):
    clock = SimpleNamespace(monotonic=lambda: now)
    monkeypatch.setattr(screen_feed, "time", clock)
