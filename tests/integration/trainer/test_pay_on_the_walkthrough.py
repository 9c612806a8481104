"""On the real cartridge: who walks to the next objective is paid more than who walks back.

What leads to an objective is what the simulated expert says, who reads the guide and the map and
knows no reward model: of the walkthrough's segments three in four. The others fetch a heart,
fight, or go round by a lever. A model passes when `paid_right(model, walked)` is at least 0.9.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from rlaif.contracts.observation import LAYOUT, OBSERVATION_SIZE
from rlaif.contracts.quest import SAME_PLACE
from rlaif.judge.evidence.summary import summarise
from rlaif.mock_llm.expert.standing import standings
from rlaif.reward_net.pay import DISCOUNT, Potential, paid
from rlaif.testing.data.walkthrough import records, segments, walkthrough
from rlaif.trainer.rewards.learned.shaping import PotentialShaper, Transitions

Float32 = npt.NDArray[np.float32]
INPUTS = Path(__file__).parents[3] / "libs/game/cartridge/walkthrough.json"


@dataclass(frozen=True)
class Way:
    """A segment that leads to the next objective.

    Attributes:
        objective: Number of the objective that is next at its start.
        rise: How far it leads, in objectives, by the expert.
        observations: `[75, 128]` float32.
    """

    objective: int
    rise: float
    observations: Float32

    @property
    def back(self) -> Float32:
        """The same observations the other way round."""
        return self.observations[::-1]


def ways() -> list[Way]:
    """All of the walkthrough, in its order; ten seconds."""
    found = []
    for looks in segments(list(walkthrough(INPUTS))):
        start, end = standings(summarise(records(looks)))
        if start is None or end is None:
            continue
        rise = end.position - start.position
        if rise > SAME_PLACE:
            rows = np.stack([look.observation for look in looks])
            found.append(Way(start.objective, rise, rows))
    return found


def pay_of(potential: Potential, observations: Float32) -> float:
    """What the trainer's own shaper pays for `[T, D]` observations that begin an episode."""
    steps = len(observations) - 1
    never = np.zeros((steps, 1), dtype=np.bool_)
    transitions = Transitions(
        observations=np.ascontiguousarray(observations[:, None]),
        terminated=never,
        truncated=never,
        final_index=np.zeros((0, 2), dtype=np.int64),
        final_observations=np.zeros((0, observations.shape[1]), dtype=np.float32),
    )
    shaped = PotentialShaper(gamma=DISCOUNT, weight=1.0).shape(0, transitions, potential)
    return float((DISCOUNT ** np.arange(steps) * shaped[:, 0].astype(np.float64)).sum())


def paid_right(potential: Potential, of: Sequence[Way]) -> float:
    """Share of the ways that are paid more than the same way back; an equal pay is not more."""
    more = [pay_of(potential, way.observations) > pay_of(potential, way.back) for way in of]
    return float(np.mean(more))


@pytest.fixture(scope="module")
def walked() -> list[Way]:
    return ways()


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
