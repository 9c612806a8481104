"""PPO with RLlib's learner and a separate sampling loop."""

import math
from collections import Counter
from dataclasses import replace
from operator import methodcaller
from pathlib import Path
from typing import Any

import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core import COMPONENT_LEARNER, COMPONENT_RL_MODULE, DEFAULT_MODULE_ID
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env import INPUT_ENV_SINGLE_SPACES, INPUT_ENV_SPACES
from ray.rllib.policy.sample_batch import MultiAgentBatch, SampleBatch
from ray.rllib.utils.metrics import (
    NUM_ENV_STEPS_SAMPLED_LIFETIME,
)
from ray.rllib.utils.metrics.metrics_logger import MetricsLogger

from rlaif.trainer.learner.algorithm.batch import by_policy, columns, finite
from rlaif.trainer.learner.algorithm.demonstrations import CurriculumLearning
from rlaif.trainer.learner.algorithm.learner import NORMALIZE, VALUE_LOSS, ArrayLearner
from rlaif.trainer.learner.algorithm.learner_rewards import LearnedRewards, LearnerRewards
from rlaif.trainer.learner.algorithm.loss import ValueLoss
from rlaif.trainer.learner.exploration import Exploration
from rlaif.trainer.learner.networks.button_networks import mlp_spec, picture_spec
from rlaif.trainer.learner.networks.decision_module import decision_spec
from rlaif.trainer.learner.runners.opening import open_runners, runner_config
from rlaif.trainer.learner.runners.pool import Call, RunnerPool
from rlaif.trainer.learner.runners.runner import RunnerConfig, StopAskedError
from rlaif.trainer.learner.runners.sampler import MAX_AHEAD, FragmentSampler
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.fragment import Fragment, fragment_of, plain
from rlaif.trainer.play.frontier import CurriculumFigures
from rlaif.trainer.play.zelda_env import OBSERVATION_SPACE, ZeldaOracleEnv, actions_of
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.learning import (
    PpoSettings,
)

SAMPLE_SECONDS = 600.0
"""Maximum time for a batch; a runner that needs longer is replaced."""


def build_config(
    settings: TrainerSettings,
    env: EnvConfig,
    *,
    resumes: bool = False,
) -> PPOConfig:
    """Return the configuration of a run, by `config_of` and `runner_config`."""
    return config_of(settings, runner_config(settings, env, resumes=resumes))


def config_of(settings: TrainerSettings, runner: RunnerConfig) -> PPOConfig:
    """Return RLlib's configuration of a run with these runners."""
    env = runner.env
    config = PPOConfig()
    config.environment(
        env=ZeldaOracleEnv,
        env_config={
            "env": env,
            "runner": runner,
            "overlap": settings.overlap,
        },
        observation_space=OBSERVATION_SPACE,
        action_space=actions_of(env.game),
    )
    config.env_runners(
        num_env_runners=settings.ray_workers, num_envs_per_env_runner=settings.envs_per_worker
    )
    config.learners(
        num_learners=0,
        num_gpus_per_learner=0,
        learner_config_dict={
            VALUE_LOSS: value_loss_of(settings.ppo),
            NORMALIZE: settings.ppo.normalize_values,
        },
    )
    config.rl_module(rl_module_spec=network_of(settings))
    config.training(
        learner_class=ArrayLearner,
        gamma=settings.ppo.gamma,
        lr=settings.ppo.learning_rate,
        lambda_=settings.ppo.gae_lambda,
        clip_param=settings.ppo.clip,
        vf_clip_param=settings.ppo.value_clip or math.inf,
        entropy_coeff=settings.ppo.entropy,
        train_batch_size_per_learner=settings.batch_size,
        minibatch_size=min(settings.ppo.minibatch_size, settings.batch_size),
        num_epochs=settings.ppo.epochs,
        use_kl_loss=False,
        grad_clip=0.5,
    )
    config.debugging(seed=settings.seed, log_level="ERROR")
    return config


def network_of(settings: TrainerSettings) -> RLModuleSpec:
    """Return the specification of the policy network and its critic."""
    ppo = settings.ppo
    if settings.by_decisions:
        return decision_spec(
            settings.hidden,
            share_layers=ppo.share_layers,
            seed=settings.seed,
            normalize_inputs=settings.normalize_inputs,
        )
    if settings.policy == "cnn":
        return picture_spec(settings.hidden, normalize_values=ppo.normalize_values)
    return mlp_spec(
        settings.hidden, share_layers=ppo.share_layers, normalize_values=ppo.normalize_values
    )


def value_loss_of(ppo: PpoSettings) -> ValueLoss:
    """Return the loss of the critic."""
    return ValueLoss(ppo.value_loss, ppo.value_clip or None)


class ShapedPPO:
    """PPO by RLlib's learner, with custom runners and a custom training step.

    It is not an RLlib `Algorithm`, which starts Ray even without runner processes.

    Attributes:
        runners: The runners that `env_config` of the configuration describes.
        rewards: Computes the rewards to learn from. Swap reward models between steps only, so that
            the same mix of models shapes a whole iteration.
        capture_quota: Segments that the next step may capture.
        training_iteration: Iterations of the run so far.
        env_steps: Environment steps of the run; set it after a restore.
        fragments: Fragments sampled by the last step.
        learned: Rewards of `fragments`, by part.
        exploration: Visit counts and search of the run.
    """

    capture_quota: int = 0
    training_iteration: int = 0
    env_steps: int = 0

    def __init__(self, config: PPOConfig, runners: RunnerPool | None = None) -> None:
        """Build the learner and wait for the runners, which by default are started locally."""
        self.config = config
        runner: RunnerConfig = config.env_config["runner"]
        self.runners = runners or open_runners(runner, config.num_env_runners)
        torch.set_num_threads(1)  # leaves the other cores to the runners
        self.rewards = LearnerRewards(
            runner.rewards, gamma=config.gamma, gae_lambda=config.lambda_, seed=config.seed
        )
        spaces = (config.observation_space, config.action_space)
        names = (INPUT_ENV_SPACES, INPUT_ENV_SINGLE_SPACES, DEFAULT_MODULE_ID)
        spec = config.get_multi_rl_module_spec(spaces=dict.fromkeys(names, spaces))
        self.learner_group = config.build_learner_group(rl_module_spec=spec)
        curriculum = runner.curriculum
        self.curriculum = None if curriculum is None else CurriculumLearning(curriculum)
        self.exploration = Exploration()
        self.fragments: list[Fragment] = []
        self.learned = LearnedRewards()
        self.runners.wait_until_ready()
        self.sampler = FragmentSampler(self.runners, count=runner.count, timeout=SAMPLE_SECONDS)
        self.send_weights()

    @property
    def overlaps(self) -> bool:
        """Whether the runners sample while the learner updates."""
        return self.runners.local is None and bool(self.config.env_config["overlap"])

    @property
    def course(self) -> CurriculumFigures:
        return CurriculumFigures() if self.curriculum is None else self.curriculum.figures

    def train(self) -> dict[str, float]:
        """Run an iteration: sample, shape, estimate advantages, update, send the weights.

        Returns the learner's metrics; empty without an update.

        Raises:
            StopAskedError: A stop was requested; there was no update.
        """
        back = self.runners.restore(self._new_weights)
        self.sampler.forget(back)
        self.exploration.forget(back)
        if back and self.curriculum is not None:
            self.runners.order_of(dict.fromkeys(back, self._follow()))
        figures = self._training_step()
        self.training_iteration += 1
        return figures

    def stop(self) -> None:
        self.runners.stop()

    def _training_step(self) -> dict[str, float]:
        while self.sampler.ahead < (MAX_AHEAD if self.overlaps else 1):
            self._order()
        self.fragments, self.learned = self.sampler.collect(), LearnedRewards()
        if not self.fragments:
            return {}
        if self.sampler.stop_asked():
            self.sampler.held.appendleft(self.fragments)
            raise StopAskedError
        self.exploration.take_in(self.fragments)
        lag = self._version() - min(fragment.policy_version for fragment in self.fragments)
        self.env_steps += sum(fragment.steps for fragment in self.fragments)
        played = [each.of_policy() for each in self.fragments]
        self.learned = self.rewards.learn_from(played)
        env: EnvConfig = self.config.env_config["env"]
        if env.game.has_many_worlds:
            self.fragments = played = [each.without_room_numbers() for each in played]
        batch = columns(
            played,
            self.learned.total,
            self.learner_group,
            gamma=self.config.gamma,
            lam=self.config.lambda_,
            shaped=self.learned.shaped,
        )
        if self.curriculum is not None:
            self.curriculum.update(self.learner_group, self.fragments)
        batch = by_policy(batch, played)
        whole = finite(batch)
        self.learned = replace(
            self.learned, policy_lag=lag, samples_left_out=len(batch) - len(whole)
        )
        figures = self._update(whole) if len(whole) else {}
        self.send_weights()
        return figures

    def follow_demonstrations(self, path: Path | None = None, *, is_new: bool) -> float | None:
        """Imitate the demonstrations in a folder, or those of the run's curriculum, during PPO.

        A new policy is first trained by imitation only; then its accuracy is returned.

        Raises:
            DemonstrationsError: Demonstrations are missing or do not fit.
        """
        if self.curriculum is None:
            return None
        env: EnvConfig = self.config.env_config["env"]
        accuracy = self.curriculum.follow_demonstrations(
            self.learner_group, env.game, path=path, gamma=self.config.gamma, is_new=is_new
        )
        if path is not None:
            self.runners.order(self._follow())
        if accuracy is not None:
            self.send_weights()
        return accuracy

    def _follow(self) -> Call:
        assert self.curriculum is not None
        return methodcaller("follow", self.curriculum.demonstrations)

    def _order(self) -> None:
        """Order another batch from the runners with their current weights.

        A batch that overlaps another one may use half of the capture quota.
        """
        ahead, size = self.sampler.ahead, self.config.train_batch_size_per_learner
        later = self.capture_quota // 2 if self.overlaps else 0
        self.sampler.order(
            size,
            capture_quota=later if ahead else self.capture_quota - later,
            context=CaptureContext(
                env_step=self.env_steps + ahead * size,
                policy_iteration=self.training_iteration + ahead,
                reward_model_version=self.rewards.version,
            ),
            model=self.rewards.models.live,
            more=self.exploration.order,
        )

    def _update(self, batch: SampleBatch) -> dict[str, float]:
        results = self.learner_group.update(
            batch=MultiAgentBatch({DEFAULT_MODULE_ID: batch}, env_steps=len(batch)),
            timesteps={NUM_ENV_STEPS_SAMPLED_LIFETIME: self.env_steps},
            num_epochs=self.config.num_epochs,
            minibatch_size=self.config.minibatch_size,
            shuffle_batch_per_epoch=True,
        )
        metrics = MetricsLogger(root=True, stats_cls_lookup=self.config.stats_cls_lookup)
        metrics.aggregate(results)
        figures: dict[str, float] = metrics.reduce()[DEFAULT_MODULE_ID]
        return {**figures, "policy_lag": self.learned.policy_lag}

    def send_weights(self) -> None:
        """Send the learner's weights to the runners, which use them from the next batch on."""
        self.runners.order(self._new_weights())

    def _new_weights(self) -> Call:
        state = self.learner_group.get_state(
            components=f"{COMPONENT_LEARNER}/{COMPONENT_RL_MODULE}/{DEFAULT_MODULE_ID}",
            inference_only=True,
        )
        weights = state[COMPONENT_LEARNER][COMPONENT_RL_MODULE][DEFAULT_MODULE_ID]
        return methodcaller("set_weights", weights, self._version())

    def _version(self) -> int:
        count: int = next(iter(self.learner_group.foreach_learner(_updates_of))).get()
        return count

    def state_dict(self, patience: float | None = None) -> dict[str, Any]:
        """Return the state that networks and games do not contain, as plain values.

        Waits for the fragments that are being played, for at most `patience` seconds if given.
        """
        held = self.sampler.hold(patience)
        return {
            "held": [[plain(fragment) for fragment in batch] for batch in held],
            "iteration": self.training_iteration,
            "env_steps": self.env_steps,
            "rewards": self.rewards.state_dict(),
            "places": sorted(self.exploration.places.items()),
        }

    def load_state_dict(self, state: dict[str, Any], *, games_resume: bool = True) -> None:
        """Resume from `state_dict`; raises `RewardNetError` for a damaged reward model.

        Held fragments are dropped unless the games of all runners are resumed.
        """
        self.rewards.load_state_dict(state["rewards"])
        self.training_iteration = state["iteration"]
        self.env_steps = state["env_steps"]
        self.exploration.places = Counter(dict(state.get("places", ())))
        held = state["held"] if games_resume else []
        self.sampler.held.extend([fragment_of(each) for each in batch] for batch in held)
        self.sampler.gap = not games_resume


def _updates_of(learner: Any) -> int:
    count: int = learner._weights_seq_no
    return count
