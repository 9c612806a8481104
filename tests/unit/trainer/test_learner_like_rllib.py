"""Our learner: updates, layers and advantages are RLlib's own; what settings change of them."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.env.single_agent_episode import SingleAgentEpisode
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.policy.sample_batch import MultiAgentBatch, SampleBatch
from ray.rllib.utils.metrics import NUM_ENV_STEPS_SAMPLED_LIFETIME

from rlaif.testing.made_fragments import End, made_fragment
from rlaif.trainer.learner.algorithm.batch import columns, standardized
from rlaif.trainer.learner.algorithm.learner import NORMALIZE, VALUE_LOSS, ArrayLearner
from rlaif.trainer.learner.algorithm.loss import ValueLoss
from rlaif.trainer.learner.algorithm.ppo import network_of, value_loss_of
from rlaif.trainer.learner.networks.button_networks import ScaledMlpModule
from rlaif.trainer.learner.networks.running_scale import ValueHead
from rlaif.trainer.learner.runners.inference import log_probabilities
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.settings import TrainerSettings

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

OBSERVATIONS = gym.spaces.Box(0.0, 1.0, shape=(128,), dtype=np.float32)
ACTIONS: gym.spaces.Discrete = gym.spaces.Discrete(8)
GAMMA, LAM = 0.97, 0.9
STEPS, ENVS = 40, 3
ENDS: dict[tuple[int, int], End] = {
    (11, 0): "terminated", (30, 2): "terminated", (20, 0): "truncated", (25, 1): "truncated",
}  # fmt: skip


def learner_of(**given: Any) -> Any:
    """Our learner with these settings; equal settings give equal weights."""
    return _learner(ArrayLearner, **given)


def pair_of(**given: Any) -> tuple[Any, Any]:
    """RLlib's learner with its own network, and ours with the same settings and weights."""
    same = {"share_layers": True, "normalize_values": False, "value_loss": "squared"} | given
    stock, ours = (_learner(kind, **same) for kind in (PPOTorchLearner, ArrayLearner))
    ours.set_state(stock.get_state())
    return stock, ours


def _learner(kind: type[PPOTorchLearner], **given: Any) -> Any:
    settings = TrainerSettings.model_validate({"hidden": 16, "actions": "seed"} | given)
    ppo, network = settings.ppo, network_of(settings)
    if kind is PPOTorchLearner:
        network.module_class = DefaultPPOTorchRLModule
    config = PPOConfig()
    config.environment(observation_space=OBSERVATIONS, action_space=ACTIONS)
    config.rl_module(rl_module_spec=network)
    config.training(
        gamma=GAMMA,
        lambda_=LAM,
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


def batch_of(rows: int = 128, returns: float = 1.0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    logits, actions = rng.normal(size=(rows, 8)).astype(np.float32), rng.integers(0, 8, rows)
    return {
        Columns.OBS: rng.random((rows, 128), dtype=np.float32),
        Columns.ACTIONS: actions,
        Columns.ACTION_LOGP: log_probabilities(logits, actions),
        Columns.ACTION_DIST_INPUTS: logits,
        Postprocessing.ADVANTAGES: rng.normal(size=rows).astype(np.float32),
        Postprocessing.VALUE_TARGETS: (returns * rng.normal(size=rows)).astype(np.float32),
    }


def update(learner: Any, batch: dict[str, Any], **options: Any) -> Any:
    return learner.update(
        batch=MultiAgentBatch({DEFAULT_MODULE_ID: SampleBatch(batch)}, env_steps=len(batch)),
        timesteps={NUM_ENV_STEPS_SAMPLED_LIFETIME: 0},
        **({"num_epochs": 2, "minibatch_size": 32} | options),
    )[DEFAULT_MODULE_ID]


def weights(learner: Any, *, critic: bool | None = None) -> np.ndarray:
    """All weights, or those of the critic's or the policy's own layers."""
    module = learner.module[DEFAULT_MODULE_ID]
    apart = ("vf.", "encoder.critic_encoder.")
    own = [
        each
        for name, each in module.named_parameters()
        if critic is None or name.startswith(apart) == critic
    ]
    return torch.cat([each.detach().flatten() for each in own]).numpy()


@pytest.mark.parametrize("rows", [128, 136], ids=["whole minibatches", "a rest in every pass"])
@pytest.mark.parametrize("clip", [10.0, 0.0])
def test_an_update_is_rllibs_own(clip: float, rows: int):
    """On the same minibatches, with the squared loss, with and without a clip."""
    stock, ours = pair_of(value_clip=clip)
    before = weights(ours)
    reported = [update(learner, batch_of(rows, returns=4.0)) for learner in (stock, ours)]
    assert np.abs(weights(ours) - before).max() > 1e-3, "it learned at all"
    assert np.allclose(weights(stock), weights(ours), atol=1e-6)
    for name in (
        "policy_loss", "vf_loss", "vf_explained_var", "entropy", "total_loss",
        "gradients_default_optimizer_global_norm", "num_module_steps_trained",
    ):  # fmt: skip
        theirs, own = (float(figures[name].peek()) for figures in reported)
        assert own == pytest.approx(theirs, rel=1e-5, abs=1e-6), name


def test_the_order_of_a_shuffled_update_depends_on_its_number_alone():
    first, second = learner_of(), learner_of()
    np.random.seed(1)  # noqa: NPY002  # RLlib would shuffle with it
    update(first, batch_of(), shuffle_batch_per_epoch=True)
    np.random.seed(2)  # noqa: NPY002  # as above
    update(second, batch_of(), shuffle_batch_per_epoch=True)
    assert np.array_equal(weights(first), weights(second))
    calm = learner_of()
    update(calm, batch_of())
    assert not np.array_equal(weights(first), weights(calm)), "it is shuffled"


def test_a_step_that_is_not_finite_is_left_out_and_reported():
    learner, batch = learner_of(), batch_of(64)
    batch[Postprocessing.ADVANTAGES][5] = np.nan
    before = weights(learner)
    figures = update(learner, batch, num_epochs=1)
    assert figures["steps_left_out"].peek() == 1
    after = weights(learner)
    assert np.isfinite(after).all()
    assert not np.array_equal(after, before), "the other minibatch counts"


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
            reported = update(learner, batch_of(returns=20.0), num_epochs=8)
        learner.explained = float(reported["vf_explained_var"].peek())
    assert now.explained > 0.5
    assert seeds.explained < 0.1


def as_group(learner: Any) -> Any:
    """What `columns` asks of a learner group."""

    def foreach_learner(function: Callable[[Any], Any]) -> list[Any]:
        return [SimpleNamespace(get=lambda: function(learner))]

    return SimpleNamespace(foreach_learner=foreach_learner)


def episodes_of(fragment: Fragment) -> list[SingleAgentEpisode]:
    """The same transitions as RLlib's runner hands them over, environment by environment."""
    trans = fragment.transitions
    finals = {
        tuple(at): row
        for at, row in zip(trans.final_index.tolist(), trans.final_observations, strict=True)
    }
    episodes = []
    for n in range(ENVS):
        first = 0
        for t in range(STEPS):
            ended = bool(trans.ended[t, n])
            if not ended and t < STEPS - 1:
                continue
            rows = slice(first, t + 1)
            # What the game showed at a terminal state is not kept, and must not matter.
            last = finals.get((t, n), trans.observations[t + 1, n])
            episode = SingleAgentEpisode(
                observations=[*trans.observations[rows, n], last],
                observation_space=OBSERVATIONS,
                action_space=ACTIONS,
                actions=list(fragment.actions[rows, n]),
                rewards=[float(reward) for reward in fragment.rewards[rows, n]],
                terminated=bool(trans.terminated[t, n]),
                truncated=bool(trans.truncated[t, n]),
                extra_model_outputs={
                    Columns.ACTION_LOGP: list(fragment.action_logp[rows, n]),
                    Columns.ACTION_DIST_INPUTS: list(fragment.action_dist_inputs[rows, n]),
                },
                len_lookback_buffer=0,
            )
            episode.to_numpy()
            episodes.append(episode)
            first = t + 1
    return episodes


def test_advantages_and_first_update_are_those_of_rllibs_connectors():
    fragment = made_fragment(STEPS, ENVS, seed=5, ends=ENDS)
    stock, ours = pair_of(value_clip=10.0)
    theirs = stock._learner_connector(
        rl_module=stock.module, batch={}, episodes=episodes_of(fragment), shared_data={},
        metrics=stock.metrics,
    )[DEFAULT_MODULE_ID]  # fmt: skip
    own = columns([fragment], [fragment.rewards], as_group(ours), gamma=GAMMA, lam=LAM)
    # RLlib goes through environments one by one and adds a row to every episode, masked out.
    real = theirs[Columns.LOSS_MASK].numpy()
    by_env = np.arange(STEPS * ENVS).reshape(STEPS, ENVS).T.ravel()
    for name in (Columns.OBS, Columns.ACTIONS, Columns.ACTION_LOGP):
        assert np.array_equal(theirs[name].numpy()[real], own[name][by_env]), name
    targets = theirs[Postprocessing.VALUE_TARGETS].numpy()[real]
    assert own[Postprocessing.VALUE_TARGETS][by_env] == pytest.approx(targets, abs=1e-5)
    # RLlib counts the masked rows when it standardises; without them it gets what we get.
    given = theirs[Postprocessing.ADVANTAGES]
    assert own[Postprocessing.ADVANTAGES][by_env] == pytest.approx(
        standardized(given.numpy()[real]), abs=1e-5
    )

    given[torch.from_numpy(real)] = torch.from_numpy(own[Postprocessing.ADVANTAGES][by_env])
    before = weights(ours)
    update(stock, theirs, num_epochs=1, minibatch_size=None)
    update(ours, own, num_epochs=1, minibatch_size=None)
    assert np.abs(weights(ours) - before).max() > 5e-4, "it learned at all"
    assert np.allclose(weights(ours), weights(stock), atol=1e-6)
