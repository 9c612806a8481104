"""The last rung of the ladder: PPO from end to end, on both cores.

    python benchmarks/ppo_rung.py     runs this rung alone

Two runners of eight environments and the learner, with the settings of the preset, as in a training
run. Every round starts new games at the scenes. After one iteration the next `ITERATIONS` are timed
by the wall clock: sampling and update. Then each runner plays the same on a bare PyBoy, on both
cores at once; the RAM at the end must be that of the training run.

    ppo_ratio        steps per second of the run / steps per second of raw, default preset
    ppo_ratio_seeds  the same with the original PPO numbers: 10 epochs, minibatches of 512
    ppo_cpu_ratio    CPU seconds per step of raw / of the run: the ratio if no core ever waited
"""

import json
import sys
import tempfile
import time
from dataclasses import replace
from operator import methodcaller
from pathlib import Path
from statistics import median
from typing import Any

from outcome import parser_of
from scenes import scenes
from trainers import (
    ENVS,
    WORKERS,
    BenchmarkRunner,
    Replayed,
    Usage,
    environment,
    prepare_runners,
    settings_of,
    told,
)

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO, config_of
from rlaif.trainer.learner.runners.opening import runner_config
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.exploration.explorer import ExploreConfig

TARGETS = {"ppo_ratio": 0.60, "ppo_ratio_seeds": 0.45}
SUFFIX = {"default": "", "seed": "_seeds"}


class PpoRung:
    """One preset's run, measured round by round."""

    def __init__(self, preset: str, env: EnvConfig, directory: Path, iterations: int) -> None:
        settings = settings_of(preset)
        explore = ExploreConfig(directory / preset, settings.explore)
        runner = replace(runner_config(settings, env, explore), by=BenchmarkRunner)
        self._algorithm = ShapedPPO(config_of(settings, runner))
        self._suffix = SUFFIX[preset]
        self._iterations = iterations
        self.same_ram = True

    def round(self) -> dict[str, float]:
        """Figures of one round."""
        algorithm = self._algorithm
        self._on_runners("start_over")
        algorithm.train()
        usage, steps, began = Usage(algorithm), algorithm.env_steps, time.perf_counter()
        for _ in range(self._iterations):
            algorithm.train()
        wall = time.perf_counter() - began
        steps = algorithm.env_steps - steps
        if algorithm.overlaps:
            algorithm.sampler.collect()
        cpu = usage.seconds()
        replayed: list[Replayed] = self._on_runners("replay")
        self.same_ram &= all(each.same_ram for each in replayed)
        # What was played is what was learned from and the fragments on the way.
        played = steps + (
            algorithm.config.train_batch_size_per_learner if algorithm.overlaps else 0
        )
        raw = sum(each.steps / each.wall for each in replayed)
        raw_cpu = sum(each.cpu for each in replayed) / sum(each.steps for each in replayed)
        own_cpu = cpu["runners"] / played + cpu["driver"] / steps
        frames = sum(each.frames for each in replayed) / sum(each.steps for each in replayed)
        end = self._suffix
        return {
            f"ppo_ratio{end}": steps / wall / raw,
            f"ppo_cpu_ratio{end}": raw_cpu / own_cpu,
            f"ppo_steps_per_second{end}": steps / wall,
            f"ppo_raw_steps_per_second{end}": raw,
            f"ppo_frames_per_step{end}": frames,
        }

    def close(self) -> None:
        self._algorithm.stop()

    def _on_runners(self, method: str) -> list[Any]:
        return self._algorithm.runners.ask(methodcaller(method))


def measure(env: EnvConfig, rounds: int, iterations: int) -> dict[str, Any]:
    """Interleaved rounds of both presets; medians, and each round's ratio.

    Episodes start at the scenes that `env` names.
    """
    prepare_runners()
    with tempfile.TemporaryDirectory() as directory:
        rungs = {preset: PpoRung(preset, env, Path(directory), iterations) for preset in SUFFIX}
        rows = []
        for number in range(rounds):
            row: dict[str, float] = {}
            for rung in rungs.values():
                row |= rung.round()
            rows.append(row)
            shown = ", ".join(f"{name} {value:.4g}" for name, value in row.items())
            told(f"ppo round {number + 1}: {shown}")
        for rung in rungs.values():
            rung.close()
    result: dict[str, Any] = {name: round(median(r[name] for r in rows), 4) for name in rows[0]}
    for name in TARGETS:
        result[f"{name}_rounds"] = [round(row[name], 4) for row in rows]
    return {
        **result,
        "ppo_same_ram": all(rung.same_ram for rung in rungs.values()),
        "ppo_setup": {"runners": WORKERS, "envs_per_runner": ENVS, "iterations": iterations},
    }


def met(result: dict[str, Any]) -> bool:
    return all(result[name] >= least for name, least in TARGETS.items())


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds (5)")
    parser.add_argument("--iterations", type=int, default=8, help="timed iterations a round (8)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        env = environment(scenes(load_cartridge(None)), Path(directory))
        result = measure(env, options.rounds, options.iterations)
    print(json.dumps({"benchmark": "ppo_rung", **result, "targets": TARGETS}))
    return 0 if met(result) and result["ppo_same_ram"] else 1


if __name__ == "__main__":
    sys.exit(main())
