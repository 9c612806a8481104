"""Restored states do not depend on the order of requests, and few of them are saved."""

from collections.abc import Iterator

import numpy as np
import pytest

from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.trainer.curriculum.player import Player
from rlaif.trainer.curriculum.state_loader import MAX_REPLAYED_STEPS, GameState, StateLoader

CARTRIDGE = load_cartridge(None)
RNG = np.random.default_rng(4)
PIECES = ["".join(map(str, RNG.integers(1, 8, 90))) for _ in range(9)]


class CountedPlayer(Player):
    saves = 0

    def save(self) -> bytes:
        self.saves += 1
        return super().save()


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    made = Emulator(CARTRIDGE.data, sound_emulated=CARTRIDGE.needs_sound)
    yield made
    made.close()


@pytest.fixture(scope="module")
def power_on(emulator: Emulator) -> bytes:
    return emulator.save_state()


@pytest.fixture(scope="module")
def digests(emulator: Emulator, power_on: bytes) -> list[str]:
    """Digests of the start and after each section, played in one go."""
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


def test_states_are_equal_in_any_order_of_requests(
    emulator: Emulator, power_on: bytes, digests: list[str]
) -> None:
    player = CountedPlayer(emulator)
    loader = StateLoader(player)
    for number in (4, 9, 0, 5, 4, 1, 8):
        at = loader.after(power_on, PIECES[:number])
        assert at.digest == digests[number]
        assert loader.restore(at).digest() == digests[number]
        assert player.actions == ""
    assert player.saves <= 9 * 90 // MAX_REPLAYED_STEPS + 3


def test_play_from_a_state_leads_to_the_next_one(
    emulator: Emulator, power_on: bytes, digests: list[str]
) -> None:
    loader = StateLoader(Player(emulator))
    at: GameState = loader.after(power_on, [])
    for number, digits in enumerate(PIECES, start=1):
        press(loader.restore(at), digits)
        at = loader.capture()
        assert at.digest == digests[number]
        press(loader.player, "777")  # an abandoned trial
    assert len(at.digits) <= MAX_REPLAYED_STEPS


def test_a_state_with_a_save_is_the_same_state(
    emulator: Emulator, power_on: bytes, digests: list[str]
) -> None:
    loader = StateLoader(Player(emulator))
    with_save = loader.with_save(loader.after(power_on, PIECES[:1]))
    assert with_save.digits == ""
    press(loader.player, "123")
    assert loader.restore(with_save).digest() == digests[1]
    assert loader.with_save(with_save) is with_save
