"""A corridor whose returns can be worked out by hand: four steps to the right, the last one pays.

Shaped and unshaped, ended by the game and cut by a limit, against a critic that knows nothing.
"""

import numpy as np
import pytest

from rlaif.trainer.learner.algorithm.gae import advantages
from rlaif.trainer.rewards.learned.shaping import PotentialShaper, Transitions

GAMMA = 0.9
STEPS = 4
PHI = np.array([0.5, -0.25, 1.0, 0.75, 2.0], dtype=np.float32)
"""Of the places 0 to 4. The last one is reached, and its value must not count when that ends it."""
REWARDS = np.array([[0.0], [0.0], [0.0], [1.0]], dtype=np.float32)
VALUE_BEYOND = 7.0
"""What the critic says of place 4."""


def corridor(*, cut: bool) -> Transitions:
    """One episode; after it the environment stands at place 0 again."""
    place = np.array([0, 1, 2, 3, 0], dtype=np.float32)
    last = np.zeros((STEPS, 1), dtype=bool)
    last[-1] = True
    never = np.zeros_like(last)
    return Transitions(
        observations=place[:, None, None],
        terminated=never if cut else last,
        truncated=last if cut else never,
        final_index=np.array([[STEPS - 1, 0]] if cut else [], dtype=np.int64).reshape(-1, 2),
        final_observations=np.array([[4.0]] if cut else [], dtype=np.float32).reshape(-1, 1),
    )


def phi(observations: np.ndarray) -> np.ndarray:
    return PHI[observations[:, 0].astype(int)]


def returns(*, cut: bool, weight: float) -> list[float]:
    """What the critic is taught of each place: advantages with lambda 1, values 0."""
    part = corridor(cut=cut)
    shaping = PotentialShaper(gamma=GAMMA, weight=weight).shape(0, part, phi)
    beyond = np.zeros((STEPS, 1), dtype=np.float32)
    if cut:
        # A critic of shaped rewards: its values are lower by the shaping reward received so far.
        beyond[-1] = VALUE_BEYOND - weight * (PHI[4] - PHI[0])
    targets = advantages(
        REWARDS + shaping, np.zeros_like(beyond), beyond, part.ended, gamma=GAMMA, lam=1.0
    )
    return [float(value) for value in targets[:, 0]]


def test_the_game_ends_it_and_nothing_is_expected_beyond():
    assert returns(cut=False, weight=0.0) == pytest.approx([0.9**3, 0.9**2, 0.9, 1.0])


def test_a_limit_cuts_it_and_what_would_have_come_is_counted():
    expected = [0.9**k * (1.0 + 0.9 * VALUE_BEYOND) for k in (3, 2, 1, 0)]
    assert returns(cut=True, weight=0.0) == pytest.approx(expected)


@pytest.mark.parametrize("cut", [False, True], ids=["ended by the game", "cut by a limit"])
@pytest.mark.parametrize("weight", [0.5, 3.0])
def test_shaping_lowers_every_return_by_the_potentials_rise_since_the_start(
    cut: bool, weight: float
):
    plain = returns(cut=cut, weight=0.0)
    expected = [value - weight * (PHI[place] - PHI[0]) for place, value in enumerate(plain)]
    assert returns(cut=cut, weight=weight) == pytest.approx(expected, abs=1e-5)
    assert expected[0] == plain[0], "the worth of the start is what the game pays, no more, no less"
