"""Where the players of all runners stand, whose screens people see, and who gives signs of life."""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from rlaif.trainer.play.followers.screen_feed import ScreenFeed
from rlaif.trainer.run_folder.live_files import (
    PlayerPosition,
    PlayersFile,
    ScreenFile,
    WatchedFile,
    env_name,
    named_env,
)
from rlaif.trainer.service.live import RunnerScreens

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
LINK = PlayerPosition(0, 0x77, 40, 60, 3, 120, -1.5)
PIXELS = np.zeros((144, 160, 3), dtype=np.uint8)


def feed(folder: Path, runner: int, count: int = 2) -> ScreenFeed:
    return ScreenFeed(folder, 20.0, runner=runner, count=count)


def shown_by(folder: Path, runner: int, env: int = 0) -> None:
    slot = ScreenFile.create(folder / f"{runner}.rgb")
    slot.write(PIXELS, env_step=9, env=env, place=(0, 1, 2, 3), rooms_visited=1)


def test_what_a_runner_writes_of_its_players_is_read_whole(tmp_path: Path) -> None:
    writer = PlayersFile.create(tmp_path / "1.where", 2)
    reader = PlayersFile(tmp_path / "1.where")
    first = reader.read()
    assert first is not None
    assert (first.alive_at, first.played_at, first.players) == (None, None, ())
    writer.write([LINK, LINK._replace(room=0x78, steps=2**40)])
    read = reader.read()
    assert read is not None
    assert read.players == (LINK, LINK._replace(room=0x78, steps=2**40))
    assert read.played_at is not None
    assert read.alive_at is None, "it played, but gave no sign of life"
    writer.beat()
    again = reader.read()
    assert again is not None
    assert again.alive_at is not None
    assert again.players == read.players


@pytest.mark.parametrize("data", [b"", b"short", b"\xff" * 28, b"\xff" * 24])
def test_a_file_that_is_none_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "1.where").write_bytes(data)
    with pytest.raises(ValueError, match=r"live file|empty|multiple"):
        PlayersFile(tmp_path / "1.where")


def test_names_of_environments_are_read_back_and_nothing_else() -> None:
    assert named_env(env_name(12, 3)) == (12, 3)
    for other in ("env-0", "1", "1-", "-1", "1-x", "1-2-3", "9999999-1", "٣-1"):
        assert named_env(other) is None, other


def test_the_first_runner_is_displayed_until_another_is_selected(tmp_path: Path) -> None:
    first, second = feed(tmp_path, 1), feed(tmp_path, 2)
    assert not first.turned()
    assert (first.is_wanted, first.measured, second.is_wanted, second.measured) == (
        True, 0, False, None,
    )  # fmt: skip
    WatchedFile(tmp_path / "watched").env = (2, 1)
    assert second.turned(), "its meter has another environment to follow"
    assert not first.turned()
    assert (first.is_wanted, first.watched, second.is_wanted, second.watched) == (
        False, 0, True, 1,
    )  # fmt: skip
    assert not second.turned(), "once"
    for each in (first, second):
        each.close()


def test_an_environment_that_a_runner_does_not_have_is_not_shown_by_it(tmp_path: Path) -> None:
    only = feed(tmp_path, 1, count=2)
    WatchedFile(tmp_path / "watched").env = (1, 7)
    only.turned()
    assert (only.is_wanted, only.watched) == (False, 0)
    only.close()


def test_a_hidden_runner_draws_rarely_and_a_selected_one_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr("rlaif.trainer.play.followers.screen_feed.time.monotonic", lambda: clock[0])
    standby = feed(tmp_path, 2)
    standby.turned()
    drawn = []
    for tick in range(100):
        clock[0] = 100.0 + tick / 10
        drawn.append(standby.is_due())
    assert 4 <= sum(drawn) <= 6, "every two seconds"
    WatchedFile(tmp_path / "watched").env = (2, 0)
    standby.turned()
    assert standby.is_due()
    standby.close()


def test_all_runners_are_reported_with_their_signs_of_life(tmp_path: Path) -> None:
    screens = RunnerScreens()
    assert screens.environments("run-1", NOW) is None
    feeds = [feed(tmp_path, 1), feed(tmp_path, 2)]
    screens.update(tmp_path)
    feeds[0]._files.players.write([LINK, LINK])  # type: ignore[union-attr]  # the disk took it
    reading = screens.environments("run-1", NOW)
    assert reading is not None
    assert [sign.runner for sign in reading.runners] == [1, 2]
    assert reading.runners[0].still_seconds is not None
    assert reading.runners[1].still_seconds is None, "it has not played yet"
    assert all(sign.silent_seconds >= 0 for sign in reading.runners)
    assert [each.env for each in reading.environments] == ["1-0", "1-1"]
    assert (reading.environments[0].room, reading.environments[0].episode_return) == (0x77, -1.5)
    assert reading.watched == "1-0"
    for each in feeds:
        each.close()


def test_a_runner_without_a_heartbeat_is_silent(tmp_path: Path) -> None:
    shown_by(tmp_path, 1)
    players = PlayersFile.create(tmp_path / "1.where", 1)
    players.beat()
    players.data["alive"] -= int(60e9)
    screens = RunnerScreens()
    screens.update(tmp_path)
    reading = screens.environments("run-1", NOW)
    assert reading is not None
    assert reading.runners[0].silent_seconds >= 60


def test_newer_pictures_are_given_once_with_the_environment_that_they_show(tmp_path: Path) -> None:
    screens = RunnerScreens()
    shown_by(tmp_path, 1)
    shown_by(tmp_path, 2, env=3)
    screens.update(tmp_path)
    assert [env for env, _ in screens.newer()] == ["1-0", "2-3"]
    assert screens.newer() == []
    shown_by(tmp_path, 1)  # another process re-created the file
    screens.update(tmp_path)
    assert [env for env, _ in screens.newer()] == ["1-0"]


def test_a_selected_screen_outlives_the_run(tmp_path: Path) -> None:
    screens = RunnerScreens()
    screens.request((1, 1))
    for run in ("a", "b"):
        folder = tmp_path / run
        folder.mkdir()
        shown_by(folder, 1)
        screens.update(folder)
        assert screens.watched == (1, 1)
        assert WatchedFile(folder / "watched").env == (1, 1)
    screens.update(None)
    assert screens.watched is None
