"""Sampling: N emulators stepped together, one batched forward pass a vector step.

RLlib's own runner builds an episode object for every step; this one fills preallocated arrays
and returns them whole.
"""

from collections.abc import Collection
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import ray
import torch
from ray.rllib.core import COMPONENT_RL_MODULE, DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.env import INPUT_ENV_SINGLE_SPACES, INPUT_ENV_SPACES
from ray.rllib.env.env_runner import EnvRunner
from ray.rllib.utils.checkpoints import Checkpointable
from ray.rllib.utils.metrics import NUM_ENV_STEPS_SAMPLED_LIFETIME, WEIGHTS_SEQ_NO

from rlaif.trainer.env.config import EnvConfig
from rlaif.trainer.env.fragment import Fragment
from rlaif.trainer.env.game_env import GameEnv
from rlaif.trainer.env.recorder import CaptureContext
from rlaif.trainer.env.vector import EmulatorVector
from rlaif.trainer.env.watching import EpisodeWatcher
from rlaif.trainer.env.zelda_env import ACTION_SPACE, OBSERVATION_SPACE
from rlaif.trainer.exploration.explorer import ExploreConfig, Explorer


class EmulatorEnvRunner(EnvRunner, Checkpointable):  # type: ignore[misc]  # ray has no types
    """An RLlib environment runner that returns a `Fragment`.

    `config.env_config["env"]` is the `EnvConfig` of every environment, `["explore"]` the
    `ExploreConfig` of the run or None.
    """

    def __init__(self, *, config: Any, **kwargs: Any) -> None:
        """Build the module, and the emulators unless this is a driver that does not sample."""
        super().__init__(config=config, **kwargs)
        torch.set_num_threads(1)
        self._weights_seq_no = 0
        self._vector: EmulatorVector | None = None
        self._explorer: Explorer | None = None
        self.module: Any = None
        self._policy_rng = np.random.default_rng(
            [self.config.seed or 0, self.worker_index or 0, 0x501]
        )
        samples_here = (self.worker_index or 0) > 0 or self.num_workers == 0
        if samples_here:
            self.make_env()
        self.make_module()

    def make_env(self) -> None:
        """Start the emulators."""
        if self._vector is not None:
            self._vector.close()
        env_config: EnvConfig = self.config.env_config["env"]
        explore: ExploreConfig | None = self.config.env_config.get("explore")
        self._explorer = None
        self._vector = EmulatorVector(
            env_config,
            count=self.config.num_envs_per_env_runner,
            runner=self.worker_index or 0,
            seed=self.config.seed or 0,
            watch=None if explore is None else partial(self._watch, explore, env_config),
        )

    def _watch(
        self, explore: ExploreConfig, env: EnvConfig, game: GameEnv, n: int
    ) -> EpisodeWatcher:
        """What follows environment `n`; all of this runner share one explorer."""
        if self._explorer is None:
            self._explorer = Explorer.of_game(
                explore,
                runner=self.worker_index or 0,
                cartridge=game.cartridge,
                emulator=game.emulator,
                frame_skip=env.frame_skip,
            )
        return self._explorer.environment(n)

    def make_module(self) -> None:
        """Build the policy network; the critic stays with the learner."""
        spec = self.config.get_rl_module_spec(spaces=self.get_spaces(), inference_only=True)
        self.module = spec.build()

    def get_spaces(self) -> dict[str, tuple[gym.Space[Any], gym.Space[Any]]]:
        """Spaces of the environment and of the module."""
        spaces = (OBSERVATION_SPACE, ACTION_SPACE)
        return {
            INPUT_ENV_SPACES: spaces,
            INPUT_ENV_SINGLE_SPACES: spaces,
            DEFAULT_MODULE_ID: spaces,
        }

    def sample(self, *, steps: int, capture_quota: int, context: CaptureContext) -> Fragment:
        """Play `steps` decision steps in every environment.

        Args:
            steps: T of the fragment.
            capture_quota: Segments that may be selected for capture at most.
            context: Goes into the captures.

        Raises:
            RuntimeError: This runner has no environments.
        """
        if self._vector is None:
            raise RuntimeError("this environment runner has no environments: it is the driver's")
        self._vector.begin_fragment(steps, capture_quota=capture_quota, context=context)
        count = self._vector.count
        logits = np.empty((steps, count, int(ACTION_SPACE.n)), dtype=np.float32)
        logp = np.empty((steps, count), dtype=np.float32)
        for t in range(steps):
            logits[t] = self._logits(self._vector.observations)
            actions, logp[t] = _sample_actions(logits[t], self._policy_rng)
            self._vector.step(t, actions)
        self.num_env_steps_sampled_lifetime += steps * count
        if self._explorer is not None:
            self._explorer.end_fragment()
        return self._vector.end_fragment(logits, logp)

    def _logits(self, observations: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """`[N, 128]` observations to `[N, 8]` logits."""
        with torch.inference_mode():
            out = self.module.forward_exploration({Columns.OBS: torch.from_numpy(observations)})
        result: np.ndarray[Any, Any] = out[Columns.ACTION_DIST_INPUTS].numpy()
        return result

    def get_metrics(self) -> dict[str, Any]:
        """Metrics travel inside the fragment."""
        return {}

    def get_state(
        self,
        components: str | Collection[str] | None = None,
        *,
        not_components: str | Collection[str] | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Counters, and the weights when they are asked for."""
        state: dict[str, Any] = {
            NUM_ENV_STEPS_SAMPLED_LIFETIME: self.num_env_steps_sampled_lifetime
        }
        if self._check_component(COMPONENT_RL_MODULE, components, not_components):
            state[COMPONENT_RL_MODULE] = self.module.get_state(**kwargs)
            state[WEIGHTS_SEQ_NO] = self._weights_seq_no
        return state

    def set_state(self, state: dict[str, Any]) -> None:
        """Take over weights and counters; the weights may come as an object reference."""
        if COMPONENT_RL_MODULE in state:
            weights = state[COMPONENT_RL_MODULE]
            if isinstance(weights, ray.ObjectRef):
                weights = ray.get(weights)
            self.module.set_state(weights.get(DEFAULT_MODULE_ID, weights))
            self._weights_seq_no = state.get(WEIGHTS_SEQ_NO, 0)
        if NUM_ENV_STEPS_SAMPLED_LIFETIME in state:
            self.num_env_steps_sampled_lifetime = state[NUM_ENV_STEPS_SAMPLED_LIFETIME]

    def get_ctor_args_and_kwargs(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """How RLlib builds this runner again."""
        return (), {"config": self.config}

    def get_checkpointable_components(self) -> list[tuple[str, Any]]:
        """The parts with a state of their own."""
        return [(COMPONENT_RL_MODULE, self.module)]

    def assert_healthy(self) -> None:
        """Fail unless the constructor came to its end."""
        assert self.module is not None

    def stop(self) -> None:
        """Write what is known of the places, close the emulators."""
        if self._explorer is not None:
            self._explorer.sync()
        if self._vector is not None:
            self._vector.close()


def _sample_actions(
    logits: np.ndarray[Any, Any], rng: np.random.Generator
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Draw one action a row by the Gumbel-max trick; returns (`[N] int64`, log probabilities)."""
    actions = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    top = logits.max(axis=1)
    log_total = np.log(np.exp(logits - top[:, None]).sum(axis=1)) + top
    return actions, logits[np.arange(len(actions)), actions] - log_total
