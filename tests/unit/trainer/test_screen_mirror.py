"""What a runner on another machine shows is found where the service reads it."""

from pathlib import Path

import numpy as np
import pytest

from rlaif.trainer.run_folder.live_files import (
    PlayerPosition,
    PlayersFile,
    ScreenFile,
    ScreenMirror,
    ScreenSource,
    ScreenUpdate,
    StepReward,
    StepsFile,
    WatchedFile,
)

LINK = PlayerPosition(0, 0x77, 40, 60, 3, 120, -1.5)
HOUR_NS = 3_600 * 10**9


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """The folder on the runner's machine."""
    folder = tmp_path / "there"
    folder.mkdir()
    return folder


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """The folder on the driver's machine, which the mirror makes."""
    return tmp_path / "here"


def show(slot: ScreenFile, shade: int) -> None:
    pixels = np.full((144, 160, 3), shade, dtype=np.uint8)
    slot.write(pixels, env_step=shade, place=(0, 1, 2, 3), rooms_visited=1)


def update_of(source: ScreenSource) -> ScreenUpdate:
    update = source.update()
    assert update is not None
    return update


def test_each_new_picture_arrives_in_the_file_that_a_reader_holds_open(there: Path, here: Path):
    slot, source = ScreenFile.create(there / "2.rgb"), ScreenSource(there, 2)
    mirror = ScreenMirror(here)
    show(slot, 1)
    mirror.write(update_of(source))
    reader = ScreenFile(here / "2.rgb")
    first = reader.read()
    show(slot, 9)
    mirror.write(update_of(source))
    assert first is not None
    second = reader.read(newer_than=first.sequence)
    assert second is not None
    assert (first.env_step, second.env_step, int(second.pixels.max())) == (1, 9, 9)
    assert source.update() is None, "nothing is copied twice"


def test_players_and_signs_of_life_are_reported_by_the_clock_of_the_service(
    there: Path, here: Path, monkeypatch: pytest.MonkeyPatch
):
    clock = [10**18]
    monkeypatch.setattr("rlaif.trainer.run_folder.live_files.time.time_ns", lambda: clock[0])
    standings = PlayersFile.create(there / "1.where", 1)
    standings.write([LINK])
    clock[0] += 2 * 10**9
    standings.beat()
    update = update_of(ScreenSource(there, 1))
    clock[0] += HOUR_NS  # the clock of the service is an hour ahead
    ScreenMirror(here).write(update)
    read = PlayersFile(here / "1.where").read()
    assert read is not None
    assert read.players == (LINK,)
    assert (read.played_at, read.alive_at) == (clock[0] / 1e9 - 2, clock[0] / 1e9)


def test_what_steps_were_paid_arrives(there: Path, here: Path):
    ring = StepsFile.create(there / "1.steps", ("rooms",))
    ring.append([StepReward(1, 10, 0.5, (0.5,)), StepReward(2, 20, 1.5, (1.5,))])
    ScreenMirror(here).write(update_of(ScreenSource(there, 1)))
    steps = StepsFile(here / "1.steps").read(after=0, limit=10)
    assert [each.reward for each in steps or []] == [0.5, 1.5]


def test_a_runner_hears_which_environment_is_watched(there: Path, here: Path):
    slot, source, mirror = (
        ScreenFile.create(there / "1.rgb"), ScreenSource(there, 1), ScreenMirror(here),
    )  # fmt: skip
    show(slot, 1)
    assert mirror.write(update_of(source)) is None
    WatchedFile(here / "watched").env = (1, 3)
    show(slot, 2)
    source.watch(mirror.write(update_of(source)))
    assert WatchedFile(there / "watched").env == (1, 3)


def test_a_replacement_process_is_seen_although_its_counts_start_at_0(
    there: Path, here: Path, tmp_path: Path
):
    mirror = ScreenMirror(here)
    lost, elsewhere = ScreenFile.create(there / "1.rgb"), tmp_path / "elsewhere"
    for shade in range(5):
        show(lost, shade)
    mirror.write(update_of(ScreenSource(there, 1)))
    before = (here / "1.rgb").stat().st_ino
    elsewhere.mkdir()
    show(ScreenFile.create(elsewhere / "1.rgb"), 7)
    mirror.write(update_of(ScreenSource(elsewhere, 1)))
    assert (here / "1.rgb").stat().st_ino != before, "readers open it anew"
    picture = ScreenFile(here / "1.rgb").read()
    assert picture is not None
    assert picture.env_step == 7


def test_what_is_half_written_is_not_copied(there: Path):
    slot = ScreenFile.create(there / "1.rgb")
    slot.data["number"] = 3
    assert ScreenSource(there, 1).update() is None


def test_a_runner_whose_own_disk_takes_no_files_copies_nothing(there: Path):
    assert ScreenSource(there, 1).update() is None
