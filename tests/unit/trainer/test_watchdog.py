import pytest

from rlaif.trainer.play.stall_detector import FROZEN_FRAMES, SCREEN_OFF_FRAMES, Watchdog


class Machine:
    """An emulator as far as the watchdog looks at it."""

    screen_is_on = True


@pytest.fixture
def machine():
    return Machine()


@pytest.fixture
def watchdog(machine):
    return Watchdog(machine)


def test_a_game_that_goes_on_has_no_fault(watchdog):
    assert {watchdog.look(False, 4) for _ in range(1000)} == {None}


def test_a_screen_that_stays_off_is_a_fault_after_its_frames(watchdog, machine):
    machine.screen_is_on = False
    found = [watchdog.look(False, 4) for _ in range(SCREEN_OFF_FRAMES // 4)]
    assert set(found[:-1]) == {None}
    assert found[-1] == "screen_off"


def test_a_screen_that_comes_back_is_none(watchdog, machine):
    for step in range(200):
        machine.screen_is_on = step % 50 == 0
        assert watchdog.look(False, 4) is None


def test_memory_that_stands_still_is_a_fault_after_its_frames(watchdog):
    found = [watchdog.look(True, 100) for _ in range(FROZEN_FRAMES // 100)]
    assert set(found[:-1]) == {None}
    assert found[-1] == "frozen"


def test_one_changed_byte_counts_from_nothing(watchdog):
    for _ in range(3):
        assert {watchdog.look(True, 100) for _ in range(FROZEN_FRAMES // 100 - 1)} == {None}
        assert watchdog.look(False, 100) is None


def test_waited_frames_count_too(watchdog, machine):
    machine.screen_is_on = False
    assert watchdog.look(False, SCREEN_OFF_FRAMES) == "screen_off"


def test_another_episode_starts_from_nothing(watchdog, machine):
    machine.screen_is_on = False
    for _ in range(SCREEN_OFF_FRAMES // 4 - 1):
        watchdog.look(False, 4)
    watchdog.begin()
    assert watchdog.look(False, 4) is None
