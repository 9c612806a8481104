"""The slope of the reward on true progress."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rlaif.reward_model.learning.gate.slopes import slopes


def measured(positions, rewards):
    """Slopes `(stage, kind) → slope` of segments in episodes of two."""
    segments = [SimpleNamespace(positions=each) for each in positions]
    side = SimpleNamespace(segments=segments, episode_numbers=np.arange(len(segments)) // 2)
    folds: Any = SimpleNamespace(side=side, statistics=np.array(rewards, float))
    return {(each.stage, each.kind): each for each in slopes(folds, seed=0)}


def test_each_stage_and_kind_has_a_slope_of_its_own():
    """Early walks are rewarded with a tenth, late objectives with a half; standing is left out."""
    found = measured(
        [(0.1, 0.5), (0.5, 0.1), (0.2, 0.21), (8.2, 9.0), (4.1, 4.6), None],
        [0.04, -0.04, 0.9, 0.4, 0.5, 0.3],
    )
    assert {key: each.value for key, each in found.items()} == {
        ("early", "walked"): pytest.approx(0.1),
        ("middle", "walked"): pytest.approx(1.0),
        ("late", "reached"): pytest.approx(0.5),
    }
    assert found["early", "walked"].segments == 2


def test_its_interval_is_over_episodes():
    rng = np.random.default_rng(0)
    positions = [(0.1, 0.3)] * 40
    sure = measured(positions, np.full(40, 0.02))["middle", "walked"]
    alike = np.repeat(rng.normal(0.02, 0.2, 20), 2)
    unsure = measured(positions, alike)["middle", "walked"]
    assert sure.high == pytest.approx(0.1)
    assert unsure.high - unsure.value > 0.2


def test_without_positions_there_is_none():
    assert measured([None, None], [0.1, 0.2]) == {}
