"""The sampling loop's forward pass against RLlib's module."""

from typing import Any

import numpy as np
import pytest
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig

from rlaif.trainer.learner.algorithm.inference import PolicyInference, log_probabilities
from rlaif.trainer.play.zelda_env import ACTION_SPACE, OBSERVATION_SPACE

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

ROWS = 5


def module_of(**model: Any) -> Any:
    config = PPOConfig()
    config.environment(observation_space=OBSERVATION_SPACE, action_space=ACTION_SPACE)
    config.rl_module(model_config=DefaultModelConfig(**model))
    spaces = (OBSERVATION_SPACE, ACTION_SPACE)
    spec = config.get_rl_module_spec(
        spaces={"default_policy": spaces, "__env__": spaces, "__env_single__": spaces},
        inference_only=True,
    )
    return spec.build()


def observations() -> np.ndarray:
    return np.random.default_rng(2).random((ROWS, 128), dtype=np.float32)


def expected(module: Any, rows: np.ndarray) -> np.ndarray:
    with torch.inference_mode():
        out = module.forward_exploration({"obs": torch.from_numpy(rows)})
    return out["action_dist_inputs"].numpy()


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("shared", [True, False], ids=["one encoder", "two encoders"])
def test_the_straight_path_gives_the_logits_of_the_module(activation: str, shared: bool):
    module = module_of(fcnet_hiddens=[32, 16], fcnet_activation=activation, vf_share_layers=shared)
    inference = PolicyInference(module, ROWS)
    assert inference.straight
    assert inference.logits(observations()) == pytest.approx(
        expected(module, observations()), abs=1e-6
    )


def test_new_weights_count_after_a_refresh():
    module = module_of(fcnet_hiddens=[16], fcnet_activation="tanh")
    inference = PolicyInference(module, ROWS)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(1.5).add_(0.1)
    inference.refresh()
    assert inference.logits(observations()) == pytest.approx(
        expected(module, observations()), abs=1e-6
    )


def test_any_other_policy_goes_through_its_module():
    module = module_of(fcnet_hiddens=[16], fcnet_activation="silu")
    inference = PolicyInference(module, ROWS)
    assert not inference.straight
    assert inference.logits(observations()) == pytest.approx(
        expected(module, observations()), abs=1e-6
    )


def test_log_probabilities_are_those_of_the_softmax():
    logits = np.array([[[0.0, 0.0], [100.0, 0.0]]], dtype=np.float32)
    chosen = log_probabilities(logits, np.array([[1, 0]]))
    assert chosen == pytest.approx(np.array([[np.log(0.5), 0.0]]))
