"""Our learner, layers and advantages against RLlib's own, on the same transitions."""

import copy
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.env.single_agent_episode import SingleAgentEpisode
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.policy.sample_batch import MultiAgentBatch, SampleBatch
from ray.rllib.utils.metrics import NUM_ENV_STEPS_SAMPLED_LIFETIME

from rlaif.testing.made_fragments import End, made_fragment
from rlaif.trainer.learner.algorithm.batch import columns, standardized
from rlaif.trainer.learner.algorithm.learner import ArrayLearner
from rlaif.trainer.learner.networks.button_networks import MlpModule
from rlaif.trainer.learner.runners.inference import log_probabilities
from rlaif.trainer.play.fragment import Fragment

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

OBSERVATIONS = gym.spaces.Box(0.0, 1.0, shape=(128,), dtype=np.float32)
ACTIONS: gym.spaces.Discrete = gym.spaces.Discrete(8)
GAMMA, LAM = 0.97, 0.9
STEPS, ENVS = 40, 3
ENDS: dict[tuple[int, int], End] = {
    (11, 0): "terminated", (30, 2): "terminated", (20, 0): "truncated", (25, 1): "truncated",
}  # fmt: skip

MakeLearner = Callable[[type[PPOTorchLearner]], Any]


@pytest.fixture
def learner_of() -> MakeLearner:
    """Makes learners of a class; all start with the same weights."""
    torch.manual_seed(3)
    config = PPOConfig()
    config.environment(observation_space=OBSERVATIONS, action_space=ACTIONS)
    layers = DefaultModelConfig(fcnet_hiddens=[16, 16], fcnet_activation="tanh")
    config.rl_module(model_config=layers)
    config.training(
        gamma=GAMMA, lambda_=LAM, lr=1e-3, use_kl_loss=False, grad_clip=0.5, entropy_coeff=0.01,
        vf_clip_param=10.0,
    )  # fmt: skip
    spaces = (OBSERVATIONS, ACTIONS)
    names = (DEFAULT_MODULE_ID, "__env__", "__env_single__")
    spec = config.get_multi_rl_module_spec(spaces=dict.fromkeys(names, spaces))
    first = PPOTorchLearner(config=config, module_spec=copy.deepcopy(spec))
    first.build()

    def make(kind: type[PPOTorchLearner]) -> Any:
        own = copy.deepcopy(spec)
        if kind is ArrayLearner:
            own.rl_module_specs[DEFAULT_MODULE_ID].module_class = MlpModule
        learner = kind(config=config, module_spec=own)
        learner.build()
        learner.set_state(first.get_state())
        return learner

    return make


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


def parameters(learner: Any) -> np.ndarray:
    module = learner.module[DEFAULT_MODULE_ID]
    return torch.cat([each.detach().flatten() for each in module.parameters()]).numpy()


def update(learner: Any, batch: Any, **options: Any) -> Any:
    return learner.update(
        batch=MultiAgentBatch({DEFAULT_MODULE_ID: SampleBatch(batch)}, env_steps=len(batch)),
        timesteps={NUM_ENV_STEPS_SAMPLED_LIFETIME: 0},
        **options,
    )


def random_batch(rows: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(rows, 8)).astype(np.float32)
    actions = rng.integers(0, 8, rows)
    return {
        Columns.OBS: rng.random((rows, 128), dtype=np.float32),
        Columns.ACTIONS: actions,
        Columns.ACTION_LOGP: log_probabilities(logits, actions),
        Columns.ACTION_DIST_INPUTS: logits,
        Postprocessing.ADVANTAGES: rng.normal(size=rows).astype(np.float32),
        Postprocessing.VALUE_TARGETS: rng.normal(size=rows).astype(np.float32),
    }


@pytest.mark.parametrize("rows", [192, 200], ids=["whole minibatches", "a rest in every pass"])
def test_an_update_is_rllibs_own_on_the_same_minibatches(learner_of: MakeLearner, rows: int):
    stock, ours = learner_of(PPOTorchLearner), learner_of(ArrayLearner)
    before = parameters(ours)
    for _ in range(2):
        for learner in (stock, ours):
            update(learner, random_batch(rows), num_epochs=3, minibatch_size=64)
    assert np.abs(parameters(ours) - before).max() > 1e-3, "it learned at all"
    assert np.allclose(parameters(ours), parameters(stock), atol=1e-6)


def test_a_learner_goes_on_from_the_state_of_the_other(learner_of: MakeLearner):
    stock, ours = learner_of(PPOTorchLearner), learner_of(ArrayLearner)
    update(ours, random_batch(128), num_epochs=2, minibatch_size=64)
    stock.set_state(ours.get_state())
    for learner in (stock, ours):
        update(learner, random_batch(128), num_epochs=2, minibatch_size=64)
    assert np.allclose(parameters(ours), parameters(stock), atol=1e-6)


def test_the_order_of_a_shuffled_update_depends_on_its_number_alone(learner_of: MakeLearner):
    first, second = learner_of(ArrayLearner), learner_of(ArrayLearner)
    np.random.seed(1)  # noqa: NPY002  # RLlib would shuffle with it
    options = {"num_epochs": 2, "minibatch_size": 32, "shuffle_batch_per_epoch": True}
    update(first, random_batch(128), **options)
    np.random.seed(2)  # noqa: NPY002  # as above
    update(second, random_batch(128), **options)
    assert np.array_equal(parameters(first), parameters(second))
    calm = learner_of(ArrayLearner)
    update(calm, random_batch(128), num_epochs=2, minibatch_size=32)
    assert not np.array_equal(parameters(first), parameters(calm)), "it is shuffled"


def test_a_step_that_is_not_finite_is_left_out_and_told(learner_of: MakeLearner):
    learner, batch = learner_of(ArrayLearner), random_batch(64)
    batch[Postprocessing.ADVANTAGES][5] = np.nan
    before = parameters(learner)
    figures = update(learner, batch, num_epochs=1, minibatch_size=32)[DEFAULT_MODULE_ID]
    assert figures["steps_left_out"].peek() == 1
    after = parameters(learner)
    assert np.isfinite(after).all()
    assert not np.array_equal(after, before), "the other minibatch counts"


def test_advantages_and_first_update_are_those_of_rllibs_connectors(learner_of: MakeLearner):
    fragment = made_fragment(STEPS, ENVS, seed=5, ends=ENDS)
    stock, ours = learner_of(PPOTorchLearner), learner_of(ArrayLearner)
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
    before = parameters(ours)
    update(stock, theirs, num_epochs=1)
    update(ours, own, num_epochs=1)
    assert np.abs(parameters(ours) - before).max() > 5e-4, "it learned at all"
    assert np.allclose(parameters(ours), parameters(stock), atol=1e-6)
