"""A policy of decisions learns: what it saw, what moved, what its runners read it in."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import torch
from ray.rllib.core import DEFAULT_MODULE_ID

from rlaif.game.policy_input.layout import ALLOWED
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO, build_config
from rlaif.trainer.learner.networks.button_networks import module_logits
from rlaif.trainer.learner.networks.decision_module import ADDED, decision_spec
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.zelda_env import OBSERVATION_SPACE, actions_of
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.game import GameSettings

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # Ray's own, on every start
    pytest.mark.timeout(900),
]


def algorithm_of() -> ShapedPPO:
    settings = TrainerSettings.model_validate(
        {
            "actions": "macros",
            "episode_length": 150,
            "noop_start": 0,
            "walk_start": 0,
            "ray_workers": 0,
            "envs_per_worker": 2,
            "batch_size": 80,
            "minibatch_size": 40,
            "epochs": 2,
            "hidden": 32,
        }
    )
    env = EnvConfig(run_id="t", game=settings.game, gamma=settings.ppo.gamma)
    return ShapedPPO(build_config(settings, env))


def weights(algorithm: ShapedPPO) -> dict[str, np.ndarray]:
    state = algorithm.learner_group.get_weights()[DEFAULT_MODULE_ID]
    return {name: np.array(value) for name, value in state.items()}


def network(arrays: dict[str, np.ndarray]) -> Callable[..., np.ndarray]:
    """The forward pass of the learner's network with these weights."""
    spec = decision_spec(32)
    spec.observation_space, spec.action_space = OBSERVATION_SPACE, actions_of(GameSettings())
    module = spec.build()
    module.load_state_dict({name: torch.from_numpy(each) for name, each in arrays.items()})
    return partial(module_logits, module.forward_inference)


def test_it_learns_from_what_its_runner_saw():
    algorithm = algorithm_of()
    try:
        at_first = weights(algorithm)
        algorithm.train()
        (fragment,) = algorithm.fragments
        assert fragment.policy_inputs is not None
        inputs = fragment.policy_inputs[:-1].reshape(80, -1)
        chosen = np.take_along_axis(inputs[:, ALLOWED], fragment.actions.reshape(80, 1), axis=1)
        assert (chosen == 1).all(), "only what was allowed"
        assert len(set(fragment.actions.ravel().tolist())) > 15
        logits = network(at_first)(
            fragment.transitions.observations[:-1].reshape(80, 128), policy_inputs=inputs
        ).reshape(fragment.action_dist_inputs.shape)
        assert np.allclose(logits, fragment.action_dist_inputs, atol=1e-5)
        after = weights(algorithm)
        still = {name for name in after if np.array_equal(after[name], at_first[name])}
        assert still == set(ADDED), "which no shaping and no deadline moved"
        assert after["scale.count"] == 80, "the figures of what it reads"
    finally:
        algorithm.stop()


def test_a_runner_reads_in_the_figures_that_the_learner_sent():
    algorithm = algorithm_of()
    try:
        algorithm.train()
        (played,) = algorithm.fragments
        rows = played.transitions.observations[0]
        assert played.policy_inputs is not None
        inputs = played.policy_inputs[0]
        runner = algorithm.runners.local
        assert runner is not None
        learned = network(weights(algorithm))(rows, policy_inputs=inputs)
        found = runner.policy.logits(rows, policy_inputs=inputs)
        np.testing.assert_allclose(found, learned, rtol=1e-6, atol=1e-6)
        assert not np.allclose(found, played.action_dist_inputs[0], atol=1e-5), "it has learned"
    finally:
        algorithm.stop()
