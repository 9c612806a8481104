"""What limits training on this machine, games or learner, by numbers of runners and threads.

scale    runs with N runners of eight environments: decisions and frames per second, and shares of
         an iteration: `update` of the update, `busy` of the time in which the learner
         does not wait for games
update   seconds of the update of one played batch, by PyTorch's threads, without runners
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from outcome import begin, parser_of, say
from scenes import scenes
from trainers import environment, frames_of, prepare_runners, settings_of

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO, config_of
from rlaif.trainer.learner.runners.opening import runner_config
from rlaif.trainer.play.config import EnvConfig

ARMS: dict[str, tuple[str, dict[str, str]]] = {
    "macros": ("default", {"actions": "macros"}),
    "macros_seed": ("seed", {"actions": "macros"}),
    "buttons": ("default", {}),
    "buttons_seed": ("seed", {}),
    "pictures": ("default", {"policy": "cnn"}),
}  # name → preset and other settings
FIGURES = ("decisions_per_second", "frames_per_second", "update", "busy")


class TimedPPO(ShapedPPO):
    """Keeps the last batch, and the seconds of updates and of waiting for games."""

    def __init__(self, arm: str, env: EnvConfig, runners: int, batch: int) -> None:
        preset, changes = ARMS[arm]
        settings = settings_of(preset, **changes, ray_workers=runners, batch_size=batch)
        game = env.game.model_copy(update={"actions": settings.actions})
        env = replace(env, game=game, pictures=settings.policy == "cnn")
        super().__init__(config_of(settings, runner_config(settings, env)))
        self.batch: Any = None
        self.seconds = {"update": 0.0, "wait": 0.0}
        collect = self._timed("wait", self.sampler.collect)
        self.sampler.collect = collect  # type: ignore[method-assign]  # to time the real sampler

    def _update(self, batch: Any) -> Any:
        self.batch = batch
        return self._timed("update", super()._update)(batch)

    def _timed(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any) -> Any:
            began = time.perf_counter()
            found = call(*arguments)
            self.seconds[name] += time.perf_counter() - began
            return found

        return timed


def measure_scale(arm: str, env: EnvConfig, runners: int, options: argparse.Namespace) -> None:
    algorithm = TimedPPO(arm, env, runners, options.batch)
    for _ in range(3):
        algorithm.train()
    rows = []
    for _ in range(options.rounds):
        before, steps, frames = dict(algorithm.seconds), algorithm.env_steps, 0
        began = time.perf_counter()
        while time.perf_counter() - began < options.seconds:
            algorithm.train()
            frames += frames_of(algorithm)
        wall = time.perf_counter() - began
        update, wait = (algorithm.seconds[name] - before[name] for name in before)
        values = (algorithm.env_steps - steps) / wall, frames / wall, update / wall, 1 - wait / wall
        rows.append({name: round(each, 3) for name, each in zip(FIGURES, values, strict=True)})
    algorithm.stop()
    say(json.dumps({"scale": arm, "runners": runners, "rounds": rows}))


def measure_updates(arm: str, env: EnvConfig, options: argparse.Namespace) -> None:
    algorithm = TimedPPO(arm, env, options.runners[-1], options.batch)
    for _ in range(4):
        algorithm.train()
    algorithm.stop()
    for threads in options.threads:
        torch.set_num_threads(threads)
        algorithm._update(algorithm.batch)
        rounds = []
        for _ in range(options.rounds):
            algorithm.seconds["update"] = 0.0
            algorithm._update(algorithm.batch)
            rounds.append(round(algorithm.seconds["update"], 4))
        say(json.dumps({"update": arm, "threads": threads, "rounds": rounds}))


def main() -> None:
    parser = parser_of(__doc__)
    add = parser.add_argument
    add("--arms", nargs="+", choices=ARMS, default=["macros"], help="kinds of runs (macros)")
    add("--runners", type=int, nargs="+", default=[1, 2], help="of each run (1 2)")
    add("--threads", type=int, nargs="+", default=[1, 2], help="of each update (1 2)")
    add("--batch", type=int, default=4096, help="decisions per iteration (4096)")
    add("--rounds", type=int, default=3, help="rounds of each measurement (3)")
    add("--seconds", type=float, default=4.0, help="minimum seconds per round of a run (4)")
    options = parser.parse_args()
    begin()
    prepare_runners()
    with tempfile.TemporaryDirectory() as folder:
        env = environment(scenes(load_cartridge(None)), Path(folder))
        for arm in options.arms:
            for runners in options.runners:
                measure_scale(arm, env, runners, options)
            measure_updates(arm, env, options)


if __name__ == "__main__":
    main()
