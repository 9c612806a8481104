"""Moments of a way are the same however the game gets to them, and few of them are saved."""

from collections.abc import Iterator

import numpy as np
import pytest

from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import PyBoyEmulator
from rlaif.trainer.curriculum.moments import MOST_STEPS, Moment, Moments
from rlaif.trainer.curriculum.playing import Player

CARTRIDGE = load_cartridge(None)
RNG = np.random.default_rng(4)
PIECES = ["".join(map(str, RNG.integers(1, 8, 90))) for _ in range(9)]


class CountedPlayer(Player):
    saves = 0

    def save(self) -> bytes:
        self.saves += 1
        return super().save()


@pytest.fixture(scope="module")
def emulator() -> Iterator[PyBoyEmulator]:
    made = PyBoyEmulator(CARTRIDGE.data, sound_emulated=CARTRIDGE.needs_sound)
    yield made
    made.close()


@pytest.fixture(scope="module")
def power_on(emulator: PyBoyEmulator) -> bytes:
    return emulator.save_state()


@pytest.fixture(scope="module")
def digests(emulator: PyBoyEmulator, power_on: bytes) -> list[str]:
    """Of the start and after each piece, played in one go."""
    player = Player(emulator)
    player.begin(power_on)
    found = [player.digest()]
    for digits in PIECES:
        press(player, digits)
        found.append(player.digest())
    return found


def press(player: Player, digits: str) -> None:
    for digit in digits:
        player.step(Action(int(digit)))


def test_a_moment_is_that_of_the_way_in_whatever_order_moments_are_asked_for(
    emulator: PyBoyEmulator, power_on: bytes, digests: list[str]
) -> None:
    player = CountedPlayer(emulator)
    moments = Moments(player)
    for number in (4, 9, 0, 5, 4, 1, 8):
        at = moments.after(power_on, PIECES[:number])
        assert at.digest == digests[number]
        assert moments.go_to(at).digest() == digests[number]
        assert player.actions == ""
    assert player.saves <= 9 * 90 // MOST_STEPS + 3


def test_what_is_played_from_a_moment_leads_to_the_next_one(
    emulator: PyBoyEmulator, power_on: bytes, digests: list[str]
) -> None:
    moments = Moments(Player(emulator))
    at: Moment = moments.after(power_on, [])
    for number, digits in enumerate(PIECES, start=1):
        press(moments.go_to(at), digits)
        at = moments.here()
        assert at.digest == digests[number]
        press(moments.player, "777")  # what somebody tried and gave up
    assert len(at.digits) <= MOST_STEPS


def test_a_saved_moment_is_the_same_moment(
    emulator: PyBoyEmulator, power_on: bytes, digests: list[str]
) -> None:
    moments = Moments(Player(emulator))
    saved = moments.saved(moments.after(power_on, PIECES[:1]))
    assert saved.digits == ""
    press(moments.player, "123")
    assert moments.go_to(saved).digest() == digests[1]
    assert moments.saved(saved) is saved
