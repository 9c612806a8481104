"""PPO on finished arrays: RLlib's learner, loss and checkpoints with our own sampling loop."""

import math
from operator import methodcaller
from typing import Any

import numpy as np
import ray
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.policy.sample_batch import MultiAgentBatch, SampleBatch
from ray.rllib.utils.metrics import (
    ENV_RUNNER_RESULTS,
    LEARNER_RESULTS,
    NUM_ENV_STEPS_SAMPLED_LIFETIME,
    NUM_MODULE_STEPS_TRAINED_LIFETIME,
)

from rlaif.trainer.learner.algorithm.batch import by_policy, columns, finite
from rlaif.trainer.learner.algorithm.demonstrations import CurriculumLearning
from rlaif.trainer.learner.algorithm.env_runner import AssistConfig, EmulatorEnvRunner
from rlaif.trainer.learner.algorithm.imitation import TopSegments
from rlaif.trainer.learner.algorithm.learner import NORMALIZE, VALUE_LOSS, ArrayLearner
from rlaif.trainer.learner.algorithm.learner_rewards import LearnedRewards, LearnerRewards
from rlaif.trainer.learner.algorithm.loss import ValueLoss
from rlaif.trainer.learner.algorithm.run_files import RunningArchiveServer
from rlaif.trainer.learner.algorithm.sampler import MAX_AHEAD, FragmentSampler, StopAskedError
from rlaif.trainer.learner.networks.button_networks import mlp_spec, picture_spec
from rlaif.trainer.learner.networks.decision_module import decision_spec
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.exploration.explorer import ExploreConfig
from rlaif.trainer.play.fragment import Fragment, fragment_of, plain
from rlaif.trainer.play.frontier import CurriculumFigures
from rlaif.trainer.play.zelda_env import OBSERVATION_SPACE, ZeldaOracleEnv, actions_of
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.learning import (
    CurriculumSettings,
    ImitationSettings,
    PpoSettings,
    RewardSettings,
)


def build_config(
    settings: TrainerSettings,
    env: EnvConfig,
    explore: ExploreConfig | None = None,
    *,
    resumes: bool = False,
) -> PPOConfig:
    """RLlib's configuration of a run; without `explore` nothing is counted or kept.

    With `resumes` the runners are given saved games before they sample.
    """
    config = PPOConfig(algo_class=ShapedPPO)
    config.environment(
        env=ZeldaOracleEnv,
        env_config={
            "env": env,
            "explore": explore,
            "assist": AssistConfig(settings.planner, settings.takeover, settings.guidance),
            "rewards": settings.rewards,
            "resumes": resumes,
            "overlap": settings.overlap,
            "imitation": settings.imitation,
            "curriculum": settings.curriculum.absolute() if settings.curriculum_counts else None,
        },
        observation_space=OBSERVATION_SPACE,
        action_space=actions_of(env.game),
    )
    config.env_runners(
        env_runner_cls=EmulatorEnvRunner,
        num_env_runners=settings.ray_workers,
        num_envs_per_env_runner=settings.envs_per_worker,
        num_cpus_per_env_runner=1,
        sample_timeout_s=600.0,
        create_env_on_local_worker=False,
        # There are no connectors. Asking the runners for their states would wait for them.
        merge_env_runner_states=False,
        broadcast_env_runner_states=False,
    )
    config.fault_tolerance(restart_failed_env_runners=True)
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
    config.reporting(min_time_s_per_iteration=0, metrics_num_episodes_for_smoothing=100)
    config.debugging(seed=settings.seed, log_level="ERROR")
    return config


def network_of(settings: TrainerSettings) -> RLModuleSpec:
    """The network that plays and its critic, as RLlib builds them."""
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
    """Loss of the critic."""
    return ValueLoss(ppo.value_loss, ppo.value_clip or None)


class ShapedPPO(PPO):  # type: ignore[misc]  # ray has no types
    """PPO whose `training_step` adds to the rewards on the learner's side.

    Attributes:
        rewards: Computes the rewards to learn from. Swap reward models between steps only, so that
            one mix of models shapes a whole iteration.
        capture_quota: Segments that the next step may capture.
        env_steps: Environment steps of the run; set it after a restore.
        fragments: What the last step sampled.
        learned: Rewards of `fragments`, by part.
        policy_lag: Updates between the policy that played `fragments` and the one that learned
            from them; 0 unless sampling overlaps the update, then 1.
        samples_left_out: Number of the policy's steps in `fragments` that were excluded from the
            update because their advantage is not finite.
        archive_server: For runners on other machines; None if all of them share a disk.
    """

    archive_server: RunningArchiveServer | None = None
    capture_quota: int = 0
    samples_left_out: int = 0
    env_steps: int = 0
    policy_lag: int = 0

    def setup(self, config: Any) -> None:
        super().setup(config)
        own = self.config.env_config
        self.rewards = LearnerRewards(
            own.get("rewards", RewardSettings()),
            gamma=self.config.gamma,
            gae_lambda=self.config.lambda_,
            seed=self.config.seed or 0,
        )
        self.sampler = FragmentSampler(self.env_runner_group, timeout=self.config.sample_timeout_s)
        curriculum: CurriculumSettings | None = own.get("curriculum")
        self.curriculum = None if curriculum is None else CurriculumLearning(curriculum)
        imitation: ImitationSettings = own.get("imitation", ImitationSettings())
        self.top = TopSegments(imitation.segments, own["env"].segment_steps)
        self._module_steps = 0
        self.fragments: list[Fragment] = []
        self.learned = LearnedRewards()

    @property
    def overlaps(self) -> bool:
        """Whether the runners sample while the learner updates."""
        return self.sampler.remote and bool(self.config.env_config.get("overlap", False))

    @property
    def course(self) -> CurriculumFigures:
        return CurriculumFigures() if self.curriculum is None else self.curriculum.figures

    def training_step(self) -> None:
        """Sample, shape, estimate advantages, update, send the weights.

        Raises:
            StopAskedError: A stop was requested; nothing of this step was learned.
        """
        while self.sampler.ahead < (MAX_AHEAD if self.overlaps else 1):
            self._order()
        self.fragments, self.learned = self.sampler.collect(), LearnedRewards()
        self.samples_left_out = 0
        if not self.fragments:
            return
        if self.sampler.stop_asked():
            self.sampler.held.appendleft(self.fragments)
            raise StopAskedError
        version = next(iter(self.learner_group.foreach_learner(_updates_of))).get()
        self.policy_lag = version - min(fragment.policy_version for fragment in self.fragments)
        self.env_steps += sum(fragment.steps for fragment in self.fragments)
        self.learned = self.rewards.learn_from(self.fragments)
        batch = columns(
            self.fragments,
            self.learned.total,
            self.learner_group,
            gamma=self.config.gamma,
            lam=self.config.lambda_,
        )
        self._imitate_best_segments(batch)
        if self.curriculum is not None:
            self.curriculum.update(self.learner_group, self.fragments)
        batch = by_policy(batch, self.fragments)
        whole = finite(batch)
        self.samples_left_out = len(batch) - len(whole)
        if len(whole):
            self._update(whole)
        self._send_weights()

    def _imitate_best_segments(self, batch: SampleBatch) -> None:
        weight = self.config.env_config.get("imitation", ImitationSettings()).weight
        if weight <= 0:
            return
        shapes = [fragment.rewards.shape for fragment in self.fragments]
        ends = np.cumsum([steps * envs for steps, envs in shapes])[:-1]
        flat = np.split(batch[Postprocessing.VALUE_TARGETS], ends)
        self.top.add(
            self.fragments,
            self.learned.total,
            [each.reshape(shape) for each, shape in zip(flat, shapes, strict=True)],
            iteration=self.training_iteration,
        )
        self.learner_group.foreach_learner(methodcaller("imitate", self.top.rows(), weight))

    def follow_demonstrations(self, *, is_new: bool) -> float | None:
        """Imitate the demonstrations of the run's curriculum, if it has one, beside PPO.

        A new policy first imitates them alone; returns its accuracy then.

        Raises:
            DemonstrationsError: There are none, or they do not fit.
        """
        if self.curriculum is None:
            return None
        env: EnvConfig = self.config.env_config["env"]
        accuracy = self.curriculum.follow_demonstrations(
            self.learner_group, env.game, gamma=self.config.gamma, is_new=is_new
        )
        if accuracy is not None:
            self._send_weights()
        return accuracy

    def get_auto_filled_metrics(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Tune's, without RLlib's deep copy of the whole configuration in every result: 7 ms."""
        filled: dict[str, Any] = super(Algorithm, self).get_auto_filled_metrics(*args, **kwargs)
        return {**filled, "config": {}}

    def _order(self) -> None:
        """Let the runners play another batch with the weights that they have.

        A batch that overlaps another one may capture half of the quota.
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
        )

    def _update(self, batch: SampleBatch) -> None:
        results = self.learner_group.update(
            batch=MultiAgentBatch({DEFAULT_MODULE_ID: batch}, env_steps=len(batch)),
            timesteps={
                NUM_ENV_STEPS_SAMPLED_LIFETIME: self.env_steps,
                NUM_MODULE_STEPS_TRAINED_LIFETIME: self._module_steps,
            },
            num_epochs=self.config.num_epochs,
            minibatch_size=self.config.minibatch_size,
            shuffle_batch_per_epoch=True,
        )
        self._module_steps += len(batch) * self.config.num_epochs
        self.metrics.aggregate(results, key=LEARNER_RESULTS)
        self.metrics.log_value(
            (LEARNER_RESULTS, DEFAULT_MODULE_ID, "policy_lag"), self.policy_lag, window=1
        )
        self.metrics.log_value(
            (ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME),
            len(batch),
            reduce="lifetime_sum",
        )

    def _send_weights(self) -> None:
        # RLlib drops weights for a runner that has not acknowledged the previous ones. It received
        # those before the fragment that was just collected or right after it: no long wait.
        self.env_runner_group.fetch_ready_async_reqs(
            tags="set_state", timeout_seconds=self.config.sample_timeout_s
        )
        self.env_runner_group.sync_weights(
            from_worker_or_learner_group=self.learner_group,
            policies=[DEFAULT_MODULE_ID],
            inference_only=True,
        )

    def restore_env_runners(self, env_runner_group: Any) -> list[int]:
        """Restore runners that were replaced and return their indices; waits only if none plays.

        RLlib's own method waits for the answer of each lost runner after every iteration. The node
        of one may be gone for hours.
        """
        manager = env_runner_group._worker_manager
        away = [index for index in manager.actor_ids() if not manager.is_actor_healthy(index)]
        if not away:
            return []
        env_runner_group.foreach_env_runner_async(
            "ping", tag="ping", healthy_only=False, remote_worker_ids=away
        )
        none_plays = len(away) == manager.num_actors()
        env_runner_group.fetch_ready_async_reqs(
            tags="ping",
            timeout_seconds=self.config.env_runner_health_probe_timeout_s if none_plays else 0.0,
            mark_healthy=True,
        )
        back = [index for index in away if manager.is_actor_healthy(index)]
        if back:
            env_runner_group.foreach_env_runner(
                "set_state",
                kwargs={"state": ray.put(env_runner_group.local_env_runner.get_state())},
                local_env_runner=False,
                remote_worker_ids=back,
                timeout_seconds=self.config.env_runner_restore_timeout_s,
            )
        return back

    def state_dict(self, patience: float | None = None) -> dict[str, Any]:
        """What determines the next step besides networks and games, as plain values.

        Waits for the fragments that are being played, at most `patience` seconds if given.
        """
        held = self.sampler.hold(patience)
        return {
            "held": [[plain(fragment) for fragment in batch] for batch in held],
            "iteration": self.training_iteration,
            "env_steps": self.env_steps,
            "module_steps": self._module_steps,
            "rewards": self.rewards.state_dict(),
            "top_segments": self.top.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any], *, games_resume: bool = True) -> None:
        """Resume from `state_dict`; raises `RewardNetError` for a damaged reward model.

        Unless the games of all runners resume, the held fragments are dropped.
        """
        self.rewards.load_state_dict(state["rewards"])
        self._iteration = state["iteration"]
        self.env_steps = state["env_steps"]
        self._module_steps = state["module_steps"]
        self.top.load_state_dict(state.get("top_segments", []))
        held = state["held"] if games_resume else []
        self.sampler.held.extend([fragment_of(each) for each in batch] for batch in held)
        self.sampler.gap = not games_resume


def _updates_of(learner: Any) -> int:
    count: int = learner._weights_seq_no
    return count
