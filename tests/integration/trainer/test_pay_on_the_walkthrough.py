"""On the real cartridge: who walks to the next objective is paid more than who walks back."""

from pathlib import Path

import numpy as np
import pytest

from rlaif.contracts.observation import LAYOUT, OBSERVATION_SIZE
from rlaif.reward_net.pay import paid
from rlaif.testing.data.ways import Way, paid_right, pay_of, ways

INPUTS = Path(__file__).parents[3] / "libs/game/cartridge/walkthrough.json"


@pytest.fixture(scope="module")
def walked() -> list[Way]:
    return ways(INPUTS)


class Guide:
    """The potential that knows each moment of these ways: what a model should come to."""

    def __init__(self, known: list[Way]) -> None:
        self._worth: dict[bytes, float] = {}
        behind = 0.0
        for way in known:
            for row, rise in zip(
                way.observations, np.linspace(0, way.rise, len(way.observations)), strict=True
            ):
                self._worth.setdefault(row.tobytes(), behind + rise)
            behind += way.rise

    def __call__(self, observations: np.ndarray) -> np.ndarray:
        worth = [self._worth[row.tobytes()] for row in observations]
        return np.tanh(np.array(worth) / 18).astype(np.float32)


def test_the_walkthrough_has_ways_to_nearly_all_objectives(walked: list[Way]):
    assert len(walked) > 50
    assert len({way.objective for way in walked}) >= 16


def test_a_potential_that_knows_the_way_pays_nearly_all_of_it_the_right_way_round(
    walked: list[Way],
):
    guide = Guide(walked)
    assert paid_right(guide, walked) > 0.95
    assert paid_right(lambda rows: -guide(rows), walked) < 0.05


def test_no_single_number_of_an_observation_does(walked: list[Way]):
    """So 90 % is not had for counting rooms, hearts or steps to the right."""
    for slot in range(OBSERVATION_SIZE):
        for sign in (1, -1):
            share = paid_right(lambda rows, at=slot, by=sign: by * rows[:, at], walked)
            assert share < 0.6, LAYOUT[slot]


def test_what_the_shaper_pays_for_a_way_is_what_models_are_fitted_by(walked: list[Way]):
    guide = Guide(walked)
    for way in walked[::7]:
        assert pay_of(guide, way.observations) == pytest.approx(
            paid(guide, way.observations), abs=1e-5
        )
