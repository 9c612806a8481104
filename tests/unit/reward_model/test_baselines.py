"""Simpler judges see every number; simpler potentials only what a potential may be paid for."""

from dataclasses import replace

import numpy as np
import pytest

from rlaif.contracts.observation import LAYOUT_VERSION, slot_index
from rlaif.reward_model.labels.preferences import Preference
from rlaif.reward_model.learning.baselines import simple_judges


@pytest.mark.parametrize(("slot", "lasts"), [("menu_open", False), ("has_feather", True)])
def test_only_a_number_that_lasts_makes_a_simple_potential(labels, slot, lasts):
    made, worth = [], []
    for at, item in enumerate(labels(episodes=8, each=4, signal=False)):
        seen = np.array(item.observations)
        seen[:, slot_index(slot)] = 0.0
        seen[-1, slot_index(slot)] = rise = at % 2
        made.append(replace(item, observations=seen, layout_version=LAYOUT_VERSION))
        worth.append(float(rise))
    episodes = sorted({item.episode_id for item in made})
    fold = np.array([episodes.index(item.episode_id) % 4 for item in made])
    known = np.array(worth)
    pairs = [
        Preference(a, b, worth[a] - worth[b], True, 0.5, 1.0)
        for a in range(len(made))
        for b in range(a)
        if fold[a] == fold[b] and worth[a] != worth[b]
    ]

    found = simple_judges(made, known, pairs, fold)

    rose = known == 1.0
    for judged in (found.slot, found.ridge):
        assert judged[rose].min() > judged[~rose].max()
    for paid in (found.paid_slot, found.paid_ridge):
        assert bool(paid[rose].min() > paid[~rose].max()) is lasts
