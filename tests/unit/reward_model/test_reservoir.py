"""Of too many labels the newest half is kept, and a sample of all ages."""

import numpy as np
import pytest

from rlaif.reward_model.labels.reservoir import Scored, keep
from rlaif.reward_model.learning.fit.sides import position


def played(count, *, each=30, name="r1"):
    """Scores a second apart, oldest first, in episodes of `each`."""
    return [
        Scored(f"{name}-{place // each}-s{place:06d}", float(place), f"{name}-{place // each}")
        for place in range(count)
    ]


def ever(candidates):
    return np.sort([item.at for item in candidates])


def test_few_are_all_kept():
    few = played(100)
    assert keep(few, ever(few), most=100) == few


@pytest.mark.parametrize("most", [10, 99, 500])
def test_there_are_never_more_than_asked_for_and_none_twice(most):
    many = played(3000)
    kept = keep(many, ever(many), most=most)
    assert len(kept) == most == len(set(kept))


def test_half_are_the_newest():
    many = played(8000)
    kept = keep(many, ever(many), most=400)
    assert {item.at for item in kept} >= set(range(7800, 8000))


def test_every_age_has_an_equal_share_and_the_first_hours_are_not_forgotten():
    many = played(8 * 800)
    kept = keep(many, ever(many), most=400)
    older = [len(many) - item.at for item in kept if item.at < len(many) - 200]
    # Octaves of 200: up to 400, 800, 1600, 3200 and 6400 scores ago.
    counts, _ = np.histogram(older, [200, 400, 800, 1600, 3200, 6401])
    assert counts == pytest.approx(40, abs=1)


def test_no_episode_fills_a_stratum():
    stuffed = played(2000, each=2000, name="stuffed")
    others = played(2000, each=20, name="other")
    many = [*stuffed, *others]
    kept = keep(many, ever(many), most=300)
    older = [item for item in kept if item.at < 1900]
    share = sum(item.episode == "stuffed-0" for item in older) / len(older)
    assert share < 0.15, "half of all are of this episode"


def test_the_order_of_the_candidates_and_another_process_change_nothing():
    many = played(3000)
    kept = keep(many, ever(many), most=200)
    shuffled = [many[place] for place in np.random.default_rng(0).permutation(len(many))]
    assert set(keep(shuffled, ever(many), most=200)) == set(kept)


def test_to_keep_some_again_and_again_is_nearly_to_keep_them_once():
    """A service that runs for long drops a few at each look; one that starts sees them all."""
    many = played(6000, each=10)
    kept = many[:300]
    for place in range(300, len(many), 10):
        kept = keep([*kept, *many[place : place + 10]], ever(many[: place + 10]), most=300)
    at_once = keep(many, ever(many), most=300)
    ages = [sorted(len(many) - item.at for item in some) for some in (kept, at_once)]
    for one, other in zip(*(np.quantile(age, [0.25, 0.5, 0.75, 0.9]) for age in ages), strict=True):
        assert one == pytest.approx(other, rel=0.35)


def test_the_side_of_the_split_has_no_say():
    many = played(20_000, each=10)
    kept = [item for item in keep(many, ever(many), most=1000) if item.at < 19_500]
    heldout = [position(item.episode) < 0.25 for item in kept]
    assert np.mean(heldout) == pytest.approx(0.25, abs=0.05)
