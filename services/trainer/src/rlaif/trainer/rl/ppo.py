"""PPO on finished arrays: RLlib's learner, loss and checkpoints with our own sampling loop."""

from functools import partial
from operator import methodcaller
from typing import Any

import numpy as np
import torch
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.core import ALL_MODULES, DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.evaluation.postprocessing import Postprocessing
from ray.rllib.policy.sample_batch import MultiAgentBatch, SampleBatch
from ray.rllib.utils.metrics import (
    ENV_RUNNER_RESULTS,
    LEARNER_RESULTS,
    NUM_ENV_STEPS_SAMPLED_LIFETIME,
    NUM_MODULE_STEPS_TRAINED_LIFETIME,
)

from rlaif.trainer.env.config import EnvConfig
from rlaif.trainer.env.fragment import Fragment
from rlaif.trainer.env.recorder import CaptureContext
from rlaif.trainer.env.zelda_env import ACTION_SPACE, OBSERVATION_SPACE, ZeldaOracleEnv
from rlaif.trainer.exploration.explorer import ExploreConfig
from rlaif.trainer.rewards.shaping import Float32, Potential, PotentialShaper
from rlaif.trainer.rl.env_runner import EmulatorEnvRunner
from rlaif.trainer.rl.gae import advantages, standardized
from rlaif.trainer.settings import TrainerSettings


def build_config(
    settings: TrainerSettings, env: EnvConfig, explore: ExploreConfig | None = None
) -> PPOConfig:
    """RLlib's configuration of a run; without `explore` nothing is counted or kept."""
    config = PPOConfig(algo_class=ShapedPPO)
    config.environment(
        env=ZeldaOracleEnv,
        env_config={"env": env, "explore": explore},
        observation_space=OBSERVATION_SPACE,
        action_space=ACTION_SPACE,
    )
    config.env_runners(
        env_runner_cls=EmulatorEnvRunner,
        num_env_runners=settings.ray_workers,
        num_envs_per_env_runner=settings.envs_per_worker,
        num_cpus_per_env_runner=1,
        sample_timeout_s=600.0,
        create_env_on_local_worker=False,
    )
    config.fault_tolerance(restart_failed_env_runners=True)
    config.learners(num_learners=0, num_gpus_per_learner=0)
    config.rl_module(
        model_config=DefaultModelConfig(
            fcnet_hiddens=[settings.hidden, settings.hidden], fcnet_activation="tanh"
        )
    )
    config.training(
        gamma=settings.gamma,
        lr=settings.learning_rate,
        lambda_=settings.gae_lambda,
        clip_param=settings.clip,
        vf_clip_param=settings.value_clip,
        entropy_coeff=settings.entropy,
        train_batch_size_per_learner=settings.batch_size,
        minibatch_size=min(settings.minibatch_size, settings.batch_size),
        num_epochs=settings.epochs,
        use_kl_loss=False,
        grad_clip=0.5,
    )
    config.reporting(min_time_s_per_iteration=0, metrics_num_episodes_for_smoothing=100)
    config.debugging(seed=settings.seed, log_level="ERROR")
    return config


class ShapedPPO(PPO):  # type: ignore[misc]  # ray has no types
    """PPO whose `training_step` shapes rewards on the learner's side.

    Attributes:
        potential: The live reward model; None until one is loaded. Set it between steps only: one
            version shapes one fragment.
        reward_model_version: Of `potential`.
        capture_quota: Segments that the next step may capture.
        env_steps: Environment steps of the run; set it after a restore.
        fragments: What the last step sampled.
        shaping: Shaping rewards of `fragments`, `[T, N]` each.
    """

    potential: Potential | None = None
    reward_model_version: int | None = None
    capture_quota: int = 0
    env_steps: int = 0

    def setup(self, config: Any) -> None:
        """Build learner and runners."""
        super().setup(config)
        env: EnvConfig = self.config.env_config["env"]
        self._shaper = PotentialShaper(gamma=self.config.gamma, weight=env.shaping_weight)
        self._shuffle = np.random.default_rng([self.config.seed or 0, 0x5F])
        self._module_steps = 0
        self.fragments: list[Fragment] = []
        self.shaping: list[Float32] = []

    def training_step(self) -> None:
        """Sample, shape, estimate advantages, update, send the weights out."""
        self.fragments = self._sample()
        if not self.fragments:
            return
        self.shaping = [
            self._shaper.shape(f.runner, f.transitions, self.potential, continues=f.continues)
            for f in self.fragments
        ]
        batch = self._batch(self.fragments, self.shaping)
        self.env_steps += len(batch)
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
            (ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME),
            len(batch),
            reduce="lifetime_sum",
        )
        self.env_runner_group.sync_weights(
            from_worker_or_learner_group=self.learner_group,
            policies=list(set(results[0]) - {ALL_MODULES}),
            inference_only=True,
        )

    def _sample(self) -> list[Fragment]:
        """One fragment from every healthy runner."""
        group = self.env_runner_group
        runners = max(1, group.num_healthy_remote_env_runners())
        per_step = runners * self.config.num_envs_per_env_runner
        # A function and not a method's name: RLlib passes no arguments on to the local runner.
        sample = methodcaller(
            "sample",
            steps=-(-self.config.train_batch_size_per_learner // per_step),
            capture_quota=self.capture_quota // runners,
            context=CaptureContext(
                env_step=self.env_steps,
                policy_iteration=self.training_iteration,
                reward_model_version=self.reward_model_version,
            ),
        )
        return list(
            group.foreach_env_runner(
                sample,
                local_env_runner=group.num_remote_env_runners() == 0,
                timeout_seconds=self.config.sample_timeout_s,
            )
        )

    def _batch(self, fragments: list[Fragment], shaping: list[Float32]) -> SampleBatch:
        """The columns that RLlib's PPO loss reads, flat and shuffled once.

        RLlib shuffles only after the first pass over a batch, so an unshuffled one would be
        learned in time order first.
        """
        columns: dict[str, list[np.ndarray[Any, Any]]] = {}
        for fragment, extra in zip(fragments, shaping, strict=True):
            values, next_values = self._values(fragment)
            trans = fragment.transitions
            adv = advantages(
                fragment.rewards + extra,
                values,
                next_values,
                trans.terminated | trans.truncated,
                gamma=self.config.gamma,
                lam=self.config.lambda_,
            )
            for name, array in (
                (Columns.OBS, trans.observations[:-1]),
                (Columns.ACTIONS, fragment.actions),
                (Columns.ACTION_LOGP, fragment.action_logp),
                (Columns.ACTION_DIST_INPUTS, fragment.action_dist_inputs),
                (Postprocessing.ADVANTAGES, adv),
                (Postprocessing.VALUE_TARGETS, adv + values),
            ):
                columns.setdefault(name, []).append(array.reshape(-1, *array.shape[2:]))
        flat = {name: np.concatenate(parts) for name, parts in columns.items()}
        flat[Postprocessing.ADVANTAGES] = standardized(flat[Postprocessing.ADVANTAGES])
        order = self._shuffle.permutation(len(flat[Columns.ACTIONS]))
        return SampleBatch({name: array[order] for name, array in flat.items()})

    def _values(self, fragment: Fragment) -> tuple[Float32, Float32]:
        """V of each step's state and of the state after it, `[T, N]` each, in one batch."""
        trans = fragment.transitions
        rows, envs, width = trans.observations.shape
        flat = np.concatenate(
            [trans.observations.reshape(rows * envs, width), trans.final_observations]
        )
        out = next(iter(self.learner_group.foreach_learner(partial(_values_of, flat)))).get()
        grid = out[: rows * envs].reshape(rows, envs).astype(np.float32)
        next_values = grid[1:].copy()
        next_values[trans.terminated] = 0.0
        if len(trans.final_index):
            t, n = trans.final_index.T
            next_values[t, n] = out[rows * envs :]
        return grid[:-1], next_values


def _values_of(observations: Float32, learner: Any) -> Float32:
    """V of `[B, 128]` observations by the learner's critic, `[B]`."""
    module = learner.module[DEFAULT_MODULE_ID]
    with torch.inference_mode():
        values: Float32 = module.compute_values(
            {Columns.OBS: torch.from_numpy(observations)}
        ).numpy()
    return values.astype(np.float32)
