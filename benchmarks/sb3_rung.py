"""Stable-Baselines3's PPO on `ZeldaOracle-v1`, at the settings of a preset.

It is not a dependency of the project: `make ladder` installs only it into `.venv-sb3`; PyTorch,
Gymnasium and all else are the project's own. Every environment is a process (`SubprocVecEnv`).
"""

import os
import sys
import time
import warnings
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from one_run import cpu_seconds
from outcome import ENVS, WORKERS
from trainers import settings_of

from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.zelda_env import ZeldaOracleEnv

FOLDER = Path(__file__).parents[1] / ".venv-sb3"


class CountedEnv(ZeldaOracleEnv):
    """Counts the played frames."""

    frames = 0

    def step(self, action: Any) -> Any:
        assert self._game is not None
        before = self._game.frames
        stepped = super().step(action)
        self.frames += self._game.frames - before
        return stepped


def environment_of(env: EnvConfig) -> CountedEnv:
    torch.set_num_threads(1)
    return CountedEnv({"env": env})


class Sb3Rung:
    """A training run of Stable-Baselines3, measured round by round."""

    def __init__(self, env: EnvConfig, iterations: int) -> None:
        """Start it before this process has threads, as it forks.

        Raises:
            ImportError: It is not installed.
        """
        sys.path.append(str(FOLDER))
        algorithms = import_module("stable_baselines3")
        vectors = import_module("stable_baselines3.common.vec_env")

        settings = settings_of("default")
        ppo, count = settings.ppo, WORKERS * ENVS
        self._envs = vectors.SubprocVecEnv(
            [partial(environment_of, env)] * count, start_method="fork"
        )
        self._batch, self._iterations = settings.batch_size, iterations
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._algorithm = algorithms.PPO(
                "MlpPolicy", self._envs, n_steps=self._batch // count, device="cpu",
                batch_size=ppo.minibatch_size, n_epochs=ppo.epochs, gamma=ppo.gamma,
                gae_lambda=ppo.gae_lambda, clip_range=ppo.clip, ent_coef=ppo.entropy,
                learning_rate=ppo.learning_rate, seed=settings.seed,
                policy_kwargs={"net_arch": [settings.hidden] * 2},
            )  # fmt: skip
        self._learn(1)

    def round(self) -> dict[str, float]:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        pids = [os.getpid(), *(process.pid for process in self._envs.processes)]
        before, frames, began = cpu_seconds(pids), self._frames(), time.perf_counter()
        self._learn(self._iterations)
        wall = time.perf_counter() - began
        cpu = sum(cpu_seconds(pids).values()) - sum(before.values())
        played = self._frames() - frames
        torch.set_num_threads(threads)
        return {
            "sb3_decisions_per_second": self._batch * self._iterations / wall,
            "sb3_frames_per_second": played / wall,
            "sb3_cpu_us_per_frame": 1e6 * cpu / played,
        }

    def close(self) -> None:
        self._envs.close()

    def _learn(self, iterations: int) -> None:
        self._algorithm.learn(self._batch * iterations, reset_num_timesteps=False)

    def _frames(self) -> int:
        return sum(self._envs.get_attr("frames"))
