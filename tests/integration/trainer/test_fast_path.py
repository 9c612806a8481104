"""Sampling that overlaps the update, with runners in processes."""

import numpy as np
import pytest
import ray

from rlaif.trainer.learner.algorithm.ppo import ShapedPPO, build_config
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.game import GameSettings

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # Ray's own, on every start
    pytest.mark.timeout(900),
]

BATCH = 64


def settings_of(workers: int, *, overlap: bool = True) -> TrainerSettings:
    return TrainerSettings.model_validate(
        {
            "ray_workers": workers,
            "envs_per_worker": 2,
            "batch_size": BATCH,
            "minibatch_size": 32,
            "epochs": 1,
            "hidden": 16,
            "overlap": overlap,
            "actions": "seed",
        }
    )


def algorithm_of(workers: int, *, overlap: bool = True) -> ShapedPPO:
    settings = settings_of(workers, overlap=overlap)
    return ShapedPPO(
        build_config(
            settings,
            EnvConfig(run_id="t", game=GameSettings(actions="seed", noop_start=0, walk_start=0)),
        )
    )


def test_the_next_batch_is_played_during_the_update_and_a_lost_runner_is_replaced():
    algorithm = algorithm_of(workers=2)
    try:
        lags, last = [], None
        for _ in range(3):
            algorithm.train()
            lags.append(algorithm.learned.policy_lag)
            first, second = algorithm.fragments
            assert (first.runner, second.runner) == (1, 2)
            if last is not None:
                assert first.continues, "nothing was played in between"
                assert np.array_equal(first.transitions.observations[0], last)
            last = first.transitions.observations[-1]
        assert lags == [0, 1, 1], "one update behind from the second iteration on"
        assert algorithm.env_steps == 3 * BATCH

        algorithm.runners._links[2].kill()
        seen: list[tuple[int, bool]] = []
        looks = 0
        while (2, False) not in seen:  # its games are new ones
            # What it had played by then may still come, once.
            assert looks < 2 or (2, True) not in seen
            before = algorithm.env_steps
            algorithm.train()
            looks += 1
            seen = [(each.runner, each.continues) for each in algorithm.fragments]
            assert algorithm.env_steps > before or not seen, "training continues with the other one"
            assert algorithm.learned.policy_lag <= 1
    finally:
        algorithm.stop()


def test_without_overlap_each_batch_is_played_with_the_newest_policy():
    algorithm = algorithm_of(workers=1, overlap=False)
    try:
        for version in range(3):
            algorithm.train()
            (fragment,) = algorithm.fragments
            assert (fragment.policy_version, algorithm.learned.policy_lag) == (version, 0)
    finally:
        algorithm.stop()


def test_without_runner_processes_nothing_overlaps():
    algorithm = algorithm_of(workers=0)
    try:
        assert not algorithm.overlaps
        assert not ray.is_initialized()
        for _ in range(2):
            algorithm.train()
            assert algorithm.learned.policy_lag == 0
    finally:
        algorithm.stop()
