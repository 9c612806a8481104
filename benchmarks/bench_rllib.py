"""Our sampling loop and learner compared with RLlib's, at equal settings, in alternation.

Both train with PPO on the same game, rewards, network, numbers, batch, runners and environments per
runner, with one torch thread, without coverage map and archive. `stock` is RLlib's
`SingleAgentEnvRunner` on `ZeldaOracle-v1` with its connectors and learner. `ours` is what
`rlaif train` runs. A step is a decision of the policy, here a button held for four frames.

    speedup          median over the rounds of `ours` steps per second / stock's, default preset
    cpu_speedup      CPU seconds per step of stock / of `ours`: the speedup if no core ever waited
    …_seeds          the same with the original PPO numbers
    last_return      mean game reward of the last 100 finished episodes, of both alike

Exit code 0 if the lower end of the interval of `speedup` meets the target, else 1.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import deque
from operator import methodcaller
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from outcome import (
    ENVS,
    WORKERS,
    begin,
    finish,
    parser_of,
    print_round,
    say,
    summary,
    verdicts,
)
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
from ray.rllib.utils.metrics import ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME
from scenes import scenes
from trainers import Usage, environment, settings_of, start_ray

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO, build_config
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.settings import TrainerSettings

TARGET = 2.4
EPISODE_STEPS = 1_000
"""Short episodes: a curve of about 100,000 steps needs many of them."""

WINDOW = 100
"""Number of finished episodes per point of a curve."""


class StockRunner(SingleAgentEnvRunner):  # type: ignore[misc]  # ray has no types
    """RLlib's runner, which also stores the return of each finished episode.

    RLlib's mean is over a window that is split over the runners.
    """

    def _log_episode_metrics(self, length: int, ret: float, sec: float) -> None:
        super()._log_episode_metrics(length, ret, sec)
        self.__dict__.setdefault("_returns", []).append(float(ret))

    def take_returns(self) -> list[float]:
        """Return those since the last call."""
        found: list[float] = self.__dict__.pop("_returns", [])
        return found


def build_stock_config(settings: TrainerSettings, env: EnvConfig) -> PPOConfig:
    """`build_config` with RLlib's own runner, connectors and learner."""
    config = build_config(settings, env)
    config.algo_class = StockPPO
    config.env_runners(
        env_runner_cls=StockRunner,
        batch_mode="truncate_episodes",
        sample_timeout_s=600.0,
        create_env_on_local_worker=False,
    )
    config.reporting(min_time_s_per_iteration=0, metrics_num_episodes_for_smoothing=100)
    config.training(learner_class=PPOConfig().get_default_learner_class())
    return config


class StockPPO(PPO):  # type: ignore[misc]  # ray has no types
    """RLlib's learner. It has no fragments: no captures, no reward model, no curiosity."""

    env_steps = 0

    def training_step(self) -> None:
        super().training_step()
        sampled: Any = self.metrics.peek(
            (ENV_RUNNER_RESULTS, NUM_ENV_STEPS_SAMPLED_LIFETIME), default=self.env_steps
        )
        self.env_steps = int(sampled)

    def returns(self) -> list[float]:
        """Returns of the episodes that ended since the last call."""
        of_runners = self.env_runner_group.foreach_env_runner(
            methodcaller("take_returns"), local_env_runner=False
        )
        return [each for found in of_runners for each in found]


class Contender:
    """One of the two contenders: its iterations and its curve."""

    def __init__(self, name: str, algorithm: ShapedPPO | StockPPO) -> None:
        self.name, self._algorithm = name, algorithm
        self._returns: deque[float] = deque(maxlen=WINDOW)
        self.curve: list[tuple[int, float | None]] = []

    def run(self, iterations: int) -> dict[str, float]:
        """Measure steps per second and CPU time of these iterations."""
        algorithm = self._algorithm
        usage, steps, began = Usage(algorithm), algorithm.env_steps, time.perf_counter()
        for _ in range(iterations):
            algorithm.train()
            if not isinstance(algorithm, StockPPO):
                ended = (each for fragment in algorithm.fragments for each in fragment.episodes)
                self._returns.extend(each.reward for each in ended)
        # Samples collected ahead must not slow the other contender.
        if isinstance(algorithm, ShapedPPO):
            algorithm.sampler.hold()
        wall, cpu = time.perf_counter() - began, sum(usage.seconds().values())
        if isinstance(algorithm, StockPPO):
            self._returns.extend(algorithm.returns())
        mean = round(fmean(self._returns), 3) if len(self._returns) == WINDOW else None
        self.curve.append((algorithm.env_steps, mean))
        steps = algorithm.env_steps - steps
        return {
            f"{self.name}_decisions_per_second": steps / wall,
            f"{self.name}_cpu_us_per_decision": 1e6 * cpu / steps,
        }

    def close(self) -> None:
        self._algorithm.stop()


def compare(
    preset: str, env: EnvConfig, options: argparse.Namespace, end: str = ""
) -> dict[str, Any]:
    """Rounds and curves of one preset; all names have the suffix `end`."""
    settings = settings_of(preset)
    stock = Contender("stock", StockPPO(build_stock_config(settings, env)))
    ours = Contender("ours", ShapedPPO(build_config(settings, env)))
    for each in (stock, ours):
        each.run(2)
    rows = []
    for number in range(options.rounds):
        row = stock.run(options.iterations) | ours.run(options.iterations)
        row["speedup"] = row["ours_decisions_per_second"] / row["stock_decisions_per_second"]
        row["cpu_speedup"] = row["stock_cpu_us_per_decision"] / row["ours_cpu_us_per_decision"]
        row = {f"{name}{end}": value for name, value in row.items()}
        rows.append(row)
        print_round(f"{preset} round {number + 1}", row)
    for each in (stock, ours):
        say(f"{preset} curve of {each.name}: {json.dumps(each.curve)}")
        each.close()
    return {
        **summary(rows, (f"speedup{end}", f"cpu_speedup{end}")),
        f"decisions{end}": ours.curve[-1][0],
        f"last_return{end}": {each.name: each.curve[-1][1] for each in (stock, ours)},
    }


def main() -> int:
    parser = parser_of(__doc__)
    add = parser.add_argument
    add("--rounds", type=int, default=24, help="interleaved rounds of each preset (24)")
    add("--iterations", type=int, default=3, help="iterations of 4,096 steps per round (3)")
    options = parser.parse_args()
    import ray

    begin()
    torch.set_num_threads(1)
    start_ray(cpus=2 * WORKERS + 1)
    with tempfile.TemporaryDirectory() as directory:
        env = environment(
            scenes(load_cartridge(None)), Path(directory), episode_length=EPISODE_STEPS
        )
        found = compare("seed", env, options, end="_seeds")
        found |= compare("default", env, options)
    ray.shutdown()
    said = verdicts(found, {"speedup": TARGET})
    figures = {
        "benchmark": "bench_rllib",
        **found,
        "rounds": options.rounds,
        "target": TARGET,
        "verdicts": said,
        "setup": {"runners": WORKERS, "envs_per_runner": ENVS, "frame_skip": 4, "threads": 1},
    }
    return finish(figures, met=said["speedup"] == "met")


if __name__ == "__main__":
    sys.exit(main())
