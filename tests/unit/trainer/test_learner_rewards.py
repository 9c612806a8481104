"""The rewards to learn from: their parts, their reward model, and resuming from a checkpoint."""

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load, save

from rlaif.contracts.game.observation import LAYOUT_VERSION, OBSERVATION_SIZE
from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_net import artifact
from rlaif.reward_net.errors import RewardNetError
from rlaif.reward_net.network import RewardNet
from rlaif.trainer.learner.algorithm.learner_rewards import LearnerRewards
from rlaif.trainer.learner.progress import RunTally
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.rewards.learned.reward_models import check_reward_model
from rlaif.trainer.rewards.learned.shaping import Transitions
from rlaif.trainer.settings.learning import (
    CuriositySettings,
    RewardSettings,
    ShapingSettings,
)

STEPS, ENVS = 24, 2
SETTINGS = RewardSettings(
    ShapingSettings(ramp_iterations=3, swap_iterations=4),
    CuriositySettings(weight=0.3),
)


def with_shaping(**changes: Any) -> RewardSettings:
    return replace(SETTINGS, shaping=SETTINGS.shaping.model_copy(update=changes))


def model(version: int, *, members: int = 1):
    spec = RewardNetSpec(layout_version=LAYOUT_VERSION, hidden=(8,), spread=0.2, members=members)
    net = RewardNet(spec, generator=torch.Generator().manual_seed(version))
    data = artifact.save(net, spec, version=version)
    return check_reward_model(data, version=version, sha256=hashlib.sha256(data).hexdigest())


class Play:
    """Fragments of two runners, made up: episodes end by chance in both ways."""

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)
        self._last = {runner: self._rows(1)[0] for runner in (0, 1)}

    def iteration(self) -> list[Fragment]:
        return [self._fragment(runner) for runner in (0, 1)]

    def _rows(self, count: int) -> np.ndarray:
        return self._rng.random((count, ENVS, OBSERVATION_SIZE), dtype=np.float32)

    def _fragment(self, runner: int) -> Fragment:
        rows = np.concatenate([self._last[runner][None], self._rows(STEPS)])
        self._last[runner] = rows[-1]
        chance = self._rng.random((STEPS, ENVS))
        truncated = chance > 0.96
        index = np.argwhere(truncated).astype(np.int64).reshape(-1, 2)
        finals = self._rng.random((len(index), OBSERVATION_SIZE), dtype=np.float32)
        return Fragment(
            runner=runner,
            continues=True,
            transitions=Transitions(rows, chance < 0.04, truncated, index, finals),
            actions=np.zeros((STEPS, ENVS), np.int64),
            action_logp=np.zeros((STEPS, ENVS), np.float32),
            action_dist_inputs=np.zeros((STEPS, ENVS, 8), np.float32),
            rewards=self._rng.random((STEPS, ENVS), dtype=np.float32),
        )


def rewards(settings: RewardSettings = SETTINGS, seed: int = 5) -> LearnerRewards:
    return LearnerRewards(settings, gamma=0.999, gae_lambda=0.95, seed=seed)


def offer(of: LearnerRewards, version: int, *, members: int = 1) -> None:
    of.models.offer(model(version, members=members))
    of.models.swap_if_due()


def test_the_total_is_the_sum_of_the_parts():
    of, fragments = rewards(), Play().iteration()
    offer(of, 1)
    learned = of.learn_from(fragments)
    assert set(learned.parts) == {"game", "shaping", "curiosity"}
    for number, fragment in enumerate(fragments):
        parts = [grids[number] for grids in learned.parts.values()]
        assert learned.total[number] == pytest.approx(np.sum(parts, axis=0), abs=1e-6)
        assert learned.added[number] == pytest.approx(
            learned.total[number] - fragment.rewards, abs=1e-6
        )
    assert learned.statistics["game"].sum == pytest.approx(
        sum(float(fragment.rewards.sum()) for fragment in fragments), rel=1e-6
    )
    shares = [part.advantage_share for part in learned.statistics.values()]
    assert sum(share for share in shares if share is not None) == pytest.approx(1.0, abs=1e-6)


def test_without_a_model_and_without_curiosity_the_game_pays_all():
    fragments = Play().iteration()
    learned = rewards(RewardSettings()).learn_from(fragments)
    assert set(learned.parts) == {"game", "shaping"}
    for fragment, total in zip(fragments, learned.total, strict=True):
        assert np.array_equal(total, fragment.rewards)
    assert (learned.reward_model_version, learned.reward_model_share) == (None, 0.0)
    assert learned.potential_mean is None


def test_following_suggestions_is_a_part_of_its_own_and_the_parts_still_sum_to_the_total():
    play = Play()
    plain, guided = play.iteration()
    bonus = np.zeros_like(guided.rewards)
    bonus[3, 1] = bonus[7, 0] = 0.05
    learned = rewards(RewardSettings()).learn_from([plain, replace(guided, guidance=bonus)])
    assert set(learned.parts) == {"game", "shaping", "guidance"}
    assert np.array_equal(learned.total[0], plain.rewards)
    assert np.array_equal(learned.total[1], guided.rewards + bonus)
    assert np.array_equal(learned.added[1], bonus)
    assert learned.statistics["guidance"].sum == pytest.approx(0.1)
    tally = RunTally()
    tally.add([plain, replace(guided, guidance=bonus)], learned)
    assert tally.reward_parts["guidance"] == pytest.approx(0.1)


def test_one_version_pays_for_a_whole_iteration_and_is_recorded():
    of, play = rewards(), Play()
    offer(of, 1)
    seen = []
    for number in range(7):
        if number == 1:
            offer(of, 2)
        of.models.swap_if_due()
        learned = of.learn_from(play.iteration())
        seen.append((learned.reward_model_version, round(learned.reward_model_share, 2)))
    assert seen == [(1, 0.33), (1, 0.67), (1, 1.0), (1, 1.0), (2, 0.33), (2, 0.67), (2, 1.0)]


def test_the_mean_potential_is_the_live_models():
    of, fragments = rewards(with_shaping(ramp_iterations=1)), Play().iteration()
    offer(of, 1)
    learned = of.learn_from(fragments)
    rows = [fragment.transitions.observations.reshape(-1, 128) for fragment in fragments]
    rows += [fragment.transitions.final_observations for fragment in fragments]
    expected = model(1).answers(np.concatenate(rows)).mean()
    assert learned.potential_mean == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("saved_after", [1, 2, 4, 6])
def test_it_resumes_from_a_checkpoint_bit_for_bit(saved_after):
    """Saved before, in and after a ramp, and while another model waits."""
    whole, play, state = rewards(), Play(), {}
    resumed = rewards(seed=77)
    for number in range(9):
        if number == saved_after:
            state = load(save(whole.state_dict()))
            resumed.load_state_dict(state)
        if number in (1, 3):
            for each in (whole, resumed) if number >= saved_after else (whole,):
                each.models.offer(model(number))
        fragments = play.iteration()
        for each in (whole, resumed):
            if each is whole or number >= saved_after:
                each.models.swap_if_due()
        expected = whole.learn_from(fragments)
        if number >= saved_after:
            found = resumed.learn_from(fragments)
            assert found.reward_model_version == expected.reward_model_version
            assert found.statistics == expected.statistics
            for a, b in zip(found.total, expected.total, strict=True):
                assert np.array_equal(a, b)
    last, again = whole.state_dict(), resumed.state_dict()
    assert last.keys() == again.keys()
    assert all(np.array_equal(value, again[key]) for key, value in last.items())


def test_a_damaged_model_in_a_checkpoint_is_refused():
    of = rewards()
    offer(of, 1)
    state = of.state_dict()
    state["models/live/data"] = state["models/live/data"].copy()
    state["models/live/data"][-1] ^= 1
    with pytest.raises(RewardNetError, match="hash_mismatch"):
        rewards().load_state_dict(state)


def test_curiosity_that_was_off_at_the_checkpoint_starts_from_0():
    of, play = rewards(replace(SETTINGS, curiosity=CuriositySettings())), Play()
    of.learn_from(play.iteration())
    later = rewards()
    later.load_state_dict(of.state_dict())
    assert "curiosity" in later.learn_from(play.iteration()).parts
