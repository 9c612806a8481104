import pytest

from rlaif.trainer.play.game_env import FROZEN_FRAMES, SCREEN_OFF_FRAMES, StallDetector


class Machine:
    """An emulator as far as the stall detector looks at it."""

    screen_is_on = True


@pytest.fixture
def machine():
    return Machine()


@pytest.fixture
def detector(machine):
    return StallDetector(machine)


def test_a_screen_that_stays_off_is_a_fault_after_its_frames(detector, machine):
    machine.screen_is_on = False
    found = [detector.check(False, 4) for _ in range(SCREEN_OFF_FRAMES // 4)]
    assert set(found[:-1]) == {None}
    assert found[-1] == "screen_off"


def test_memory_that_stands_still_is_a_fault_after_its_frames(detector):
    found = [detector.check(True, 100) for _ in range(FROZEN_FRAMES // 100)]
    assert set(found[:-1]) == {None}
    assert found[-1] == "frozen"


def test_one_changed_byte_counts_from_nothing(detector):
    for _ in range(3):
        assert {detector.check(True, 100) for _ in range(FROZEN_FRAMES // 100 - 1)} == {None}
        assert detector.check(False, 100) is None


def test_waited_frames_count_too(detector, machine):
    machine.screen_is_on = False
    assert detector.check(False, SCREEN_OFF_FRAMES) == "screen_off"
