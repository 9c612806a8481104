"""What settings change of an update: the critic's loss, its layers, the entropy bonus."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.policy.sample_batch import MultiAgentBatch, SampleBatch
from ray.rllib.utils.metrics import NUM_ENV_STEPS_SAMPLED_LIFETIME

from rlaif.trainer.learner.algorithm.learner import NORMALIZE, VALUE_LOSS, ArrayLearner
from rlaif.trainer.learner.algorithm.loss import ValueLoss
from rlaif.trainer.learner.algorithm.ppo import network_of, value_loss_of
from rlaif.trainer.learner.networks.button_networks import ScaledMlpModule
from rlaif.trainer.learner.networks.running_scale import ValueHead
from rlaif.trainer.learner.runners.inference import log_probabilities
from rlaif.trainer.settings import TrainerSettings

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

OBSERVATIONS = gym.spaces.Box(0.0, 1.0, shape=(128,), dtype=np.float32)
ACTIONS: gym.spaces.Discrete = gym.spaces.Discrete(8)
ROWS = 128


def learner_of(kind: type[PPOTorchLearner] = ArrayLearner, **given: Any) -> Any:
    settings = TrainerSettings.model_validate({"hidden": 16, "actions": "seed"} | given)
    ppo = settings.ppo
    config = PPOConfig()
    config.environment(observation_space=OBSERVATIONS, action_space=ACTIONS)
    config.rl_module(rl_module_spec=network_of(settings))
    config.training(
        lr=1e-3,
        use_kl_loss=False,
        grad_clip=0.5,
        entropy_coeff=ppo.entropy,
        vf_clip_param=ppo.value_clip or float("inf"),
    )
    config.learners(
        learner_config_dict={VALUE_LOSS: value_loss_of(ppo), NORMALIZE: ppo.normalize_values}
    )
    names = (DEFAULT_MODULE_ID, "__env__", "__env_single__")
    spec = config.get_multi_rl_module_spec(spaces=dict.fromkeys(names, (OBSERVATIONS, ACTIONS)))
    torch.manual_seed(3)
    learner = kind(config=config, module_spec=spec)
    learner.build()
    return learner


def batch_of(returns: float = 1.0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    logits, actions = rng.normal(size=(ROWS, 8)).astype(np.float32), rng.integers(0, 8, ROWS)
    return {
        Columns.OBS: rng.random((ROWS, 128), dtype=np.float32),
        Columns.ACTIONS: actions,
        Columns.ACTION_LOGP: log_probabilities(logits, actions),
        Columns.ACTION_DIST_INPUTS: logits,
        Postprocessing.ADVANTAGES: rng.normal(size=ROWS).astype(np.float32),
        Postprocessing.VALUE_TARGETS: (returns * rng.normal(size=ROWS)).astype(np.float32),
    }


def update(learner: Any, batch: dict[str, np.ndarray], step: int = 0, **options: Any) -> Any:
    return learner.update(
        batch=MultiAgentBatch({DEFAULT_MODULE_ID: SampleBatch(batch)}, env_steps=ROWS),
        timesteps={NUM_ENV_STEPS_SAMPLED_LIFETIME: step},
        **({"num_epochs": 2, "minibatch_size": 32} | options),
    )[DEFAULT_MODULE_ID]


def weights(learner: Any, *, critic: bool) -> np.ndarray:
    module = learner.module[DEFAULT_MODULE_ID]
    apart = ("vf.", "encoder.critic_encoder.")
    own = [each for name, each in module.named_parameters() if name.startswith(apart) == critic]
    return torch.cat([each.detach().flatten() for each in own]).numpy()


@pytest.mark.parametrize("clip", [10.0, 0.0])
def test_our_squared_loss_is_rllibs(clip: float):
    """The same numbers as RLlib's own loss gives, clip included."""
    given: dict[str, Any] = {"share_layers": True, "normalize_values": False}
    given |= {"value_loss": "squared", "value_clip": clip}
    stock, ours = learner_of(PPOTorchLearner, **given), learner_of(**given)
    ours.set_state(stock.get_state())
    told = [update(learner, batch_of(returns=4.0)) for learner in (stock, ours)]
    for critic in (True, False):
        assert np.allclose(weights(stock, critic=critic), weights(ours, critic=critic), atol=1e-6)
    for name in (
        "policy_loss", "vf_loss", "vf_explained_var", "entropy", "total_loss",
        "gradients_default_optimizer_global_norm", "num_module_steps_trained",
    ):  # fmt: skip
        theirs, own = (float(figures[name].peek()) for figures in told)
        assert own == pytest.approx(theirs, rel=1e-5, abs=1e-6), name


def test_by_default_the_critic_has_layers_of_its_own_and_knows_its_unit():
    learner = learner_of()
    module = learner.module[DEFAULT_MODULE_ID]
    assert isinstance(module, ScaledMlpModule)
    assert hasattr(module.encoder, "critic_encoder")
    update(learner, batch_of(returns=7.0))
    assert module.vf.spread.item() == pytest.approx(7.0, rel=0.2)


def test_with_the_seeds_preset_it_is_rllibs_module_and_loss():
    learner = learner_of(ppo_preset="seed")
    module = learner.module[DEFAULT_MODULE_ID]
    assert not isinstance(module.vf, ValueHead)
    assert not hasattr(module.encoder, "critic_encoder")
    assert learner._loss.of_values == ValueLoss("squared", 10.0)
    assert learner.config.vf_clip_param == 10.0


def test_returns_of_any_size_leave_the_policy_s_steps_as_they_are():
    """Layers and clip apart: what the critic has to learn does not reach the policy."""
    small, large = learner_of(), learner_of()
    large.set_state(small.get_state())
    update(small, batch_of(returns=0.1))
    update(large, batch_of(returns=1000.0))
    assert np.array_equal(weights(small, critic=False), weights(large, critic=False))


def test_the_critic_learns_large_returns_that_the_seeds_clip_hides():
    """Explained variance after ten updates on returns with a deviation of 20."""
    now, seeds = learner_of(), learner_of(ppo_preset="seed")
    for learner in (now, seeds):
        for _ in range(10):
            told = update(learner, batch_of(returns=20.0), num_epochs=8)
        learner.explained = float(told["vf_explained_var"].peek())
    assert now.explained > 0.5
    assert seeds.explained < 0.1


@pytest.mark.parametrize("given", [{}, {"normalize_values": False}, {"share_layers": True}])
def test_a_learner_that_takes_over_the_state_goes_on_as_the_other(given: dict[str, Any]):
    first, second = learner_of(**given), learner_of(**given)
    update(first, batch_of(returns=3.0))
    second.set_state(first.get_state())
    for learner in (first, second):
        update(learner, batch_of(returns=5.0))
    for critic in (True, False):
        assert np.array_equal(weights(first, critic=critic), weights(second, critic=critic))
