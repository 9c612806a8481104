"""Our sampling loop and learner against RLlib's own, at equal settings, in alternation.

Both train with PPO on the same game, rewards, network, numbers, batch, runners and environments per
runner, without coverage map and archive. `stock` is RLlib's `SingleAgentEnvRunner` on
`ZeldaOracle-v1` with its connectors and learner, with one torch thread or one per core, whichever
is faster. `ours` is what `rlaif-train` runs.

    speedup          median over the rounds of `ours` steps per second / stock's, default preset
    speedup_seeds    the same with the original PPO numbers

Exit code 0 if `speedup` is at least 2, else 1.
"""

import argparse
import json
import math
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import torch
from outcome import parser_of
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
from ray.rllib.utils.metrics import ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME
from scenes import scenes
from trainers import ENVS, WORKERS, environment, settings_of, start_ray, told

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO, build_config
from rlaif.trainer.learner.progress import RunTally
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.settings import TrainerSettings

TARGET = 2.0
EPISODE_STEPS = 1_000
"""Short episodes: a curve of some 100,000 steps needs many of them."""


def build_stock_config(settings: TrainerSettings, env: EnvConfig) -> PPOConfig:
    """`build_config` with RLlib's own runner, connectors and learner."""
    config = build_config(settings, env)
    config.algo_class = StockPPO
    config.env_runners(
        env_runner_cls=SingleAgentEnvRunner,
        batch_mode="truncate_episodes",
        sample_timeout_s=600.0,
        create_env_on_local_worker=False,
    )
    config.reporting(min_time_s_per_iteration=0, metrics_num_episodes_for_smoothing=100)
    config.training(learner_class=PPOConfig().get_default_learner_class())
    return config


class StockPPO(PPO):  # type: ignore[misc]  # ray has no types
    """RLlib's own. It has no fragments: no captures, no reward model, no curiosity."""

    env_steps = 0

    def training_step(self) -> None:
        super().training_step()
        sampled: Any = self.metrics.peek(
            (ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME), default=self.env_steps
        )
        self.env_steps = int(sampled)


class Contender:
    """One of the two: its iterations and its curve."""

    def __init__(self, name: str, algorithm: ShapedPPO | StockPPO) -> None:
        self.name, self._algorithm = name, algorithm
        self._threads = 1
        self._figures = RunTally()
        self.curve: list[tuple[int, float | None]] = []

    def run(self, iterations: int) -> float:
        """Environment steps per second of these iterations."""
        torch.set_num_threads(self._threads)
        steps, began = self._algorithm.env_steps, time.perf_counter()
        for _ in range(iterations):
            self._iterate()
        # Samples collected ahead must not slow the other contender.
        if isinstance(self._algorithm, ShapedPPO):
            self._algorithm.sampler.hold()
        return (self._algorithm.env_steps - steps) / (time.perf_counter() - began)

    def try_threads(self) -> None:
        """Warm up; then the learner keeps the number of threads that was faster."""
        self.run(1)
        rates = {}
        for self._threads in (1, os.cpu_count() or 1):
            rates[self.run(1)] = self._threads
        self._threads = rates[max(rates)]
        told(f"{self.name}: {self._threads} torch threads for the learner")

    def close(self) -> None:
        self._algorithm.stop()

    def _iterate(self) -> None:
        result = self._algorithm.train()
        if isinstance(self._algorithm, ShapedPPO):
            self._figures.add(self._algorithm.fragments, self._algorithm.learned)
            reward = self._figures.figures().episode_return_mean
        else:
            stock: Any = result["env_runners"]
            reward = stock.get("episode_return_mean")
        # NaN before the first episode
        known = None if reward is None or math.isnan(reward) else round(reward, 3)
        self.curve.append((self._algorithm.env_steps, known))


def compare(preset: str, env: EnvConfig, options: argparse.Namespace) -> dict[str, Any]:
    """Rounds and curves of one preset."""
    settings = settings_of(preset)
    stock = Contender("stock", StockPPO(build_stock_config(settings, env)))
    ours = Contender("ours", ShapedPPO(build_config(settings, env)))
    stock.try_threads()
    ours.run(3)
    rows = []
    for number in range(options.rounds):
        rates = {each.name: each.run(options.iterations) for each in (stock, ours)}
        rates["speedup"] = rates["ours"] / rates["stock"]
        rows.append(rates)
        shown = ", ".join(f"{name} {value:.4g}" for name, value in rates.items())
        told(f"{preset} round {number + 1}: {shown}")
    curves = {each.name: each.curve for each in (stock, ours)}
    for each in (stock, ours):
        told(f"{preset} curve of {each.name}: {json.dumps(each.curve)}")
        each.close()
    return {
        "speedup": round(median(row["speedup"] for row in rows), 3),
        "speedup_rounds": [round(row["speedup"], 3) for row in rows],
        "stock_steps_per_second": round(median(row["stock"] for row in rows)),
        "ours_steps_per_second": round(median(row["ours"] for row in rows)),
        "steps": curves["ours"][-1][0],
        "last_return": {name: curve[-1][1] for name, curve in curves.items()},
    }


def main() -> int:
    options = parse_options()
    import ray

    start_ray(cpus=2 * WORKERS + 1)
    with tempfile.TemporaryDirectory() as directory:
        env = environment(
            scenes(load_cartridge(None)), Path(directory), episode_length=EPISODE_STEPS
        )
        found = {preset: compare(preset, env, options) for preset in ("seed", "default")}
    ray.shutdown()
    speedup = found["default"]["speedup"]
    print(
        json.dumps(
            {
                "benchmark": "bench_rllib",
                "speedup": speedup,
                "speedup_seeds": found["seed"]["speedup"],
                "target": TARGET,
                "target_met": speedup >= TARGET,
                "presets": found,
                "setup": {"runners": WORKERS, "envs_per_runner": ENVS, "frame_skip": 4},
            }
        )
    )
    return 0 if speedup >= TARGET else 1


def parse_options() -> argparse.Namespace:
    parser = parser_of(__doc__)
    add = parser.add_argument
    add("--rounds", type=int, default=6, help="interleaved rounds of each preset (6)")
    add("--iterations", type=int, default=8, help="iterations of 4,096 steps per round (8)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
