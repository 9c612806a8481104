"""A reward model that passes every check and gives NaN for some of what is played.

Its weights overflow float32 where twenty flags are up at once: no made-up probe, and no recorded
one, comes there; a save file with many items does.
"""

import hashlib

import numpy as np
import pytest
import torch
from ray.rllib.core.columns import Columns
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.policy.sample_batch import SampleBatch

from rlaif.contracts.game.observation import LAYOUT_VERSION, OBSERVATION_SIZE
from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_net import artifact
from rlaif.reward_net.network import RewardNet
from rlaif.service.metrics import ServiceMetrics
from rlaif.trainer.learner.algorithm.batch import finite, standardized
from rlaif.trainer.learner.algorithm.learner_rewards import LearnerRewards
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.rewards.learned.reward_models import RewardModel, check_reward_model
from rlaif.trainer.rewards.learned.shaping import Transitions
from rlaif.trainer.run_folder.protocol import MESSAGES, RewardModelLoaded, RewardModelRefused
from rlaif.trainer.service.runs.manager import RunManager
from rlaif.trainer.service.runs.state import RunState
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.learning import RewardSettings, ShapingSettings

FLAGS = slice(40, 60)
STEPS, ENVS = 12, 2
LARGEST = float(np.finfo(np.float32).max)

SPEC = RewardNetSpec(layout_version=LAYOUT_VERSION, hidden=(3,), spread=0.5)


def model(version: int, *, overflows: bool = False) -> RewardModel:
    net = RewardNet(SPEC, generator=torch.Generator().manual_seed(version))
    if overflows:
        weights = net.state_dict()
        weights["net.0.weight"][:2] = 0.0
        weights["net.0.weight"][:2, FLAGS] = LARGEST / 16
        weights["net.0.bias"][:2] = 0.0
        weights["net.2.weight"][0, 0], weights["net.2.weight"][0, 1] = 1e-38, -1e-38
        net.load_state_dict(weights)
    data = artifact.save(net, SPEC, version=version)
    return check_reward_model(data, version=version, sha256=hashlib.sha256(data).hexdigest())


def fragment(runner: int, seed: int, *, flags_up: bool) -> Fragment:
    rng = np.random.default_rng(seed)
    rows = rng.random((STEPS + 1, ENVS, OBSERVATION_SIZE), dtype=np.float32)
    if flags_up:
        rows[5, 1, FLAGS] = 1.0
    never = np.zeros((STEPS, ENVS), np.bool_)
    return Fragment(
        runner=runner,
        continues=True,
        transitions=Transitions(
            rows, never, never, np.zeros((0, 2), np.int64), np.zeros((0, OBSERVATION_SIZE), "f4")
        ),
        actions=np.zeros((STEPS, ENVS), np.int64),
        action_logp=np.zeros((STEPS, ENVS), np.float32),
        action_dist_inputs=np.zeros((STEPS, ENVS, 8), np.float32),
        rewards=rng.random((STEPS, ENVS), dtype=np.float32),
    )


def play(seed: int, *, flags_up: bool = False) -> list[Fragment]:
    """Of two runners; the second one has them up."""
    return [
        fragment(0, seed, flags_up=False),
        fragment(1, seed + 100, flags_up=flags_up),
    ]


def rewards(*, ramp: int = 0) -> LearnerRewards:
    # Models swap at once here: no run could be set up so with a ramp.
    shaping = ShapingSettings(ramp_iterations=0, swap_iterations=0).model_copy(
        update={"ramp_iterations": ramp}
    )
    return LearnerRewards(RewardSettings(shaping), gamma=0.999, gae_lambda=0.95, seed=1)


def swap_to(of: LearnerRewards, new: RewardModel) -> None:
    of.models.offer(new)
    assert of.models.swap_if_due() is not None


@pytest.mark.parametrize("ramp", [0, 3])
def test_it_is_refused_at_once_and_the_model_before_pays(ramp: int):
    of, alone = rewards(ramp=ramp), rewards(ramp=ramp)
    good, bad = model(1), model(2, overflows=True)
    for each in (of, alone):
        swap_to(each, good)
        each.models.age = 9
        each.learn_from(play(0))
    swap_to(of, bad)
    learned = of.learn_from(play(1, flags_up=True))
    assert all(np.isfinite(grid).all() for grid in learned.total)
    assert learned.reward_model_version == 1
    assert [(refused.version, why.split(":")[0]) for refused, why in of.refused] == [
        (2, "not_finite")
    ]
    expected = alone.learn_from(play(1, flags_up=True))
    for found, wanted in zip(learned.total, expected.total, strict=True):
        assert np.array_equal(found, wanted), "all of the iteration, as if it had never come"
    of.learn_from(play(2))
    assert of.refused == [], "reported once"


def test_it_pays_as_long_as_its_answers_are_numbers():
    of = rewards()
    swap_to(of, model(2, overflows=True))
    assert of.learn_from(play(0)).reward_model_version == 2
    assert of.refused == []


def test_a_model_that_fades_out_is_refused_too_and_the_new_one_stays():
    of = rewards(ramp=3)
    swap_to(of, model(2, overflows=True))
    of.models.age = 9
    swap_to(of, model(3))
    learned = of.learn_from(play(1, flags_up=True))
    assert learned.reward_model_version == 3
    assert [refused.version for refused, _ in of.refused] == [2]
    assert all(np.isfinite(grid).all() for grid in learned.total)


def test_what_was_refused_is_remembered_in_a_checkpoint():
    of, bad = rewards(), model(2, overflows=True)
    swap_to(of, model(1))
    swap_to(of, bad)
    of.learn_from(play(1, flags_up=True))
    resumed = rewards()
    resumed.load_state_dict(of.state_dict())
    assert resumed.models.refused == {bad.sha256}
    assert resumed.version == 1


def test_a_roll_back_is_reported_by_state_telemetry_and_metric(tmp_path):
    state = RunState(run_id="r", env_steps=50).after(RewardModelLoaded(version=2, env_step=10))
    message = RewardModelRefused(version=2, reason="not_finite: x", rolled_back=True, counts=1)
    rolled = state.after(MESSAGES.validate_json(message.line()))
    assert (rolled.reward_model_version, rolled.reward_model_loaded_at_step) == (1, 50)
    assert rolled.reward_model_refused == message
    to_none = state.after(message.model_copy(update={"counts": None}))
    assert to_none.reward_model_version is None
    metrics = ServiceMetrics("trainer")
    RunManager(TrainerSettings(data_dir=tmp_path), metrics)._note(message)
    read = metrics.registry.get_sample_value
    assert read("rlaif_trainer_reward_models_refused_total") == 1.0


def test_one_advantage_that_is_no_number_does_not_spoil_the_others():
    values = np.array([1.0, np.nan, 3.0, 5.0], dtype=np.float32)
    scaled = standardized(values)
    assert np.isnan(scaled[1])
    assert scaled[[0, 2, 3]] == pytest.approx(standardized(values[[0, 2, 3]]))


def test_advantages_that_are_only_errors_of_the_critic_are_not_scaled_up():
    errors = np.array([-0.01, 0.0, 0.01], dtype=np.float32)
    assert np.abs(standardized(errors)).max() == pytest.approx(0.1)
    assert standardized(100.0 * errors).std() == pytest.approx(1.0)


def test_rows_that_are_no_numbers_are_left_out_of_the_batch():
    columns = {
        Columns.OBS: np.zeros((4, 3), np.float32),
        Columns.ACTIONS: np.arange(4),
        Columns.ACTION_LOGP: np.zeros(4, np.float32),
        Columns.ACTION_DIST_INPUTS: np.zeros((4, 8), np.float32),
        Postprocessing.ADVANTAGES: np.array([0.0, np.nan, 1.0, 2.0], np.float32),
        Postprocessing.VALUE_TARGETS: np.array([0.0, 1.0, 2.0, np.inf], np.float32),
    }
    assert finite(SampleBatch(columns))[Columns.ACTIONS].tolist() == [0, 2]
    sound = SampleBatch({**columns, Postprocessing.ADVANTAGES: np.zeros(4, np.float32)})
    sound[Postprocessing.VALUE_TARGETS] = np.zeros(4, np.float32)
    assert finite(sound) is sound
