"""The last rungs of the ladder: end-to-end training on both cores.

Two runners of eight environments and the learner, as in a training run. Every round starts new
games at the scenes. After one iteration the next ones are timed by the wall clock: sampling and
update. Then each runner plays the same on a bare PyBoy, on both cores at once; the RAM at the end
must be that of the training run. A ratio is frames per second of the run / of raw, waits included.

    ppo_ratio          the eight buttons (action set `seed`), preset `default`
    ppo_ratio_seeds    the same with preset `seed`: 10 epochs, minibatches of 512
    ppo_ratio_macros   the default of a run: action set `macros`, preset `default`
    …_cpu_ratio…       CPU time per frame of raw / of the run: the ratio if no core ever waited
    sb3_speedup        frames per second of `ppo` / of Stable-Baselines3's PPO on the same Gymnasium
                       environment with the same numbers (sb3_rung.py); sb3_cpu_speedup: CPU time
"""

import tempfile
import time
from dataclasses import replace
from operator import methodcaller
from pathlib import Path
from typing import Any

from outcome import ENVS, WORKERS, print_round, say, summary
from sb3_rung import Sb3Rung
from trainers import (
    BenchmarkRunner,
    Replayed,
    Usage,
    frames_of,
    prepare_runners,
    settings_of,
)

from rlaif.trainer.learner.algorithm.ppo import ShapedPPO, config_of
from rlaif.trainer.learner.runners.opening import runner_config
from rlaif.trainer.play.config import EnvConfig

TARGETS = {
    "ppo_ratio": 0.60, "ppo_ratio_seeds": 0.45, "ppo_ratio_macros": 0.50, "sb3_speedup": 2.5,
}  # fmt: skip
RUNGS = {"": ("default", "seed"), "_seeds": ("seed", "seed"), "_macros": ("default", "macros")}
"""Suffix of a rung's figures → preset and action set."""

SHORTER = {"_macros": 3}
"""A decision of macros lasts eight times as long; fewer iterations are timed by that factor."""


class PpoRung:
    """One run, measured round by round."""

    def __init__(self, suffix: str, env: EnvConfig, directory: Path, iterations: int) -> None:
        preset, actions = RUNGS[suffix]
        settings = settings_of(preset, actions=actions)
        env = replace(env, game=env.game.model_copy(update={"actions": actions}))
        runner = replace(runner_config(settings, env), by=BenchmarkRunner)
        self._algorithm = ShapedPPO(config_of(settings, runner))
        self._suffix = suffix
        self._iterations = max(1, iterations // SHORTER.get(suffix, 1))
        self.same_ram = True

    def round(self) -> dict[str, float]:
        """Figures of one round."""
        algorithm = self._algorithm
        self._on_runners("start_over")
        algorithm.train()
        usage, steps, began = Usage(algorithm), algorithm.env_steps, time.perf_counter()
        frames = 0
        for _ in range(self._iterations):
            algorithm.train()
            frames += frames_of(algorithm)
        wall = time.perf_counter() - began
        steps = algorithm.env_steps - steps
        if algorithm.overlaps:
            algorithm.sampler.collect()
        cpu = usage.seconds()
        replayed: list[Replayed] = self._on_runners("replay")
        self.same_ram &= all(each.same_ram for each in replayed)
        # The frames played are those learned from and those of pending fragments.
        ahead = algorithm.config.train_batch_size_per_learner if algorithm.overlaps else 0
        played = frames * (1 + ahead / steps)
        raw = sum(each.frames / each.wall for each in replayed)
        raw_cpu = sum(each.cpu for each in replayed) / sum(each.frames for each in replayed)
        own_cpu = cpu["runners"] / played + cpu["driver"] / frames
        end = self._suffix
        return {
            f"ppo_ratio{end}": frames / wall / raw,
            f"ppo_cpu_ratio{end}": raw_cpu / own_cpu,
            f"ppo_decisions_per_second{end}": steps / wall,
            f"ppo_frames_per_second{end}": frames / wall,
            f"ppo_raw_frames_per_second{end}": raw,
            f"ppo_frames_per_decision{end}": frames / steps,
            f"ppo_cpu_us_per_frame{end}": 1e6 * own_cpu,
        }

    def close(self) -> None:
        self._algorithm.stop()

    def _on_runners(self, method: str) -> list[Any]:
        return self._algorithm.runners.ask(methodcaller(method))


def sb3_of(env: EnvConfig, iterations: int) -> Sb3Rung | None:
    """The rung of Stable-Baselines3; None, with a message, if it is not installed."""
    try:
        return Sb3Rung(env, max(1, iterations // 2))
    except ImportError as error:
        say(f"sb3: left out, {error}; `make .venv-sb3/.ready` installs it")
        return None


def measure(env: EnvConfig, rounds: int, iterations: int) -> dict[str, Any]:
    """Run interleaved rounds of all rungs; return medians, and interval and rounds of each ratio.

    Episodes start at the scenes of `env`.
    """
    sb3 = sb3_of(env, iterations)
    prepare_runners()
    rows: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as directory:
        rungs = [PpoRung(suffix, env, Path(directory), iterations) for suffix in RUNGS]
        for number in range(rounds):
            row: dict[str, float] = {}
            for rung in rungs:
                row |= rung.round()
            if sb3 is not None:
                row |= sb3.round()
                row["sb3_speedup"] = row["ppo_frames_per_second"] / row["sb3_frames_per_second"]
                row["sb3_cpu_speedup"] = row["sb3_cpu_us_per_frame"] / row["ppo_cpu_us_per_frame"]
            rows.append(row)
            print_round(f"ppo round {number + 1}", row)
        for rung in rungs:
            rung.close()
        if sb3 is not None:
            sb3.close()
    ratios = [name for name in rows[0] if "ratio" in name or "speedup" in name]
    return {
        **summary(rows, ratios),
        "ppo_rounds": rounds,
        "ppo_same_ram": all(rung.same_ram for rung in rungs),
        "ppo_setup": {"runners": WORKERS, "envs_per_runner": ENVS, "iterations": iterations},
    }
