"""What does a language model that helps cost a runner's play, to within half a percent?

    python benchmarks/planner_in_play.py          or, after the whole runs: make bench-planner

One runner process with 8 environments plays fragments of 256 steps, as in a run, by a policy that
never changes. Fragments take turns with and without its assistance: without, with, with, without,
without, … It is the same process, with the same emulators at almost the same moment of the same
games, so what else differs between two runs (where memory lies, what is played) does not count, and
a busy machine slows both alike. `bench_planner.py` measures whole runs, far less exactly.

    slow      a planner whose every call takes 2 s: takeovers and guidance as they are by default
    hanging   a planner whose every call takes 60 s

The language models are processes of their own that think of nothing (slow_llm.py). Half of the time
is that of the other fragments, as in a run it is that of learning: so there are as many steps to a
call as in a run; how many calls a second are made is counted in CPU seconds, so that a busy machine
makes no more. What the planner's thread computes counts as assistance, whenever it does.

    cpu_slow, cpu_hanging     CPU seconds without / with, of all of the process
    kept_slow, kept_hanging   the same of the wall clock: the steps a second that play keeps

Play is a part of a run: what a run keeps is more. Standard errors are those of a jackknife over
groups of four fragments. The wall clock tells the same, but less exactly where something else runs.
Prints a line for every tenth of the groups, and one line of JSON. Exit code 0 when both ratios of
CPU seconds are at least 0.97 and the models were really asked, else 1.
"""

import argparse
import asyncio
import gc
import json
import os
import platform
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from bench_planner import ENVS, SECONDS, TARGET, language_model

from rlaif.trainer.learner.algorithm.env_runner import EmulatorEnvRunner
from rlaif.trainer.learner.algorithm.ppo import build_config
from rlaif.trainer.play.assistance import Assistance
from rlaif.trainer.play.assistance_figures import AssistanceFigures
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.exploration.explorer import ExploreConfig
from rlaif.trainer.settings import TrainerSettings

STEPS = 256
GROUP = (False, True, True, False)
WARM_UP = 24
"""Fragments with assistance before the first that is timed: the first calls are under way."""


class Spent(NamedTuple):
    """Seconds of one fragment: of the wall clock, of this thread, of all other threads."""

    wall: float
    own: float
    others: float


class Turns:
    """One runner whose assistance plays in some of its fragments."""

    def __init__(self, name: str, address: str, directory: Path, seed: int) -> None:
        settings = TrainerSettings.model_validate(
            {
                "data_dir": directory,
                "planner_base_url": address,
                "seed": seed,
                "envs_per_worker": ENVS,
            }
        )
        env = EnvConfig(run_id=name, game=settings.game, capture=settings.capture)
        config = build_config(settings, env, ExploreConfig(directory, settings.explore))
        self._runner = EmulatorEnvRunner(config=config, worker_index=1, num_workers=2)
        vector = self._runner._vector
        assert vector is not None
        assert vector._assistance is not None
        self._vector = vector
        self._assistance: Assistance = vector._assistance
        # A busy machine plays fewer steps a second; it is not to ask more often for that.
        self._assistance._planner._clock = time.process_time  # type: ignore[attr-defined]
        self._on_scene = [game.on_scene for game in vector._games]
        self._begun: set[int] = set()
        self.figures = AssistanceFigures()

    def play(self, *, assisted: bool) -> Spent:
        """A fragment."""
        self._vector._assistance = self._assistance if assisted else None
        for game, on_scene in zip(self._vector._games, self._on_scene, strict=True):
            game.on_scene = on_scene if assisted else None
        if assisted:
            self._come_back()
        own, all_of_it, began = time.thread_time(), time.process_time(), time.perf_counter()
        fragment = self._runner.sample(steps=STEPS, capture_quota=0, context=CaptureContext())
        wall = time.perf_counter() - began
        own, all_of_it = time.thread_time() - own, time.process_time() - all_of_it
        if fragment.assistance is not None:
            self.figures.add(fragment.assistance)
        else:
            self._begun.update(n for _, n in fragment.env_index_of_end)
        return Spent(wall, own, all_of_it - own)

    def _come_back(self) -> None:
        """Tell the assistance what it did not see: other episodes, and players who moved on."""
        for n in self._begun:
            self._assistance.begin_episode(n)
        self._begun.clear()
        for n, ways in enumerate(self._assistance._ways):
            ways.begin_episode()
            self._assistance._fresh.add(n)

    def close(self) -> None:
        self._vector._assistance = self._assistance
        self._runner.stop()
        self._vector.close()


def measured(turns: Turns, name: str, groups: int) -> dict[str, Any]:
    """Groups of fragments: what they kept, and what the language model did."""
    for _ in range(WARM_UP):
        turns.play(assisted=True)
    turns.figures = AssistanceFigures()
    rows = []
    for number in range(groups):
        rows.append(group_of([turns.play(assisted=each) for each in GROUP]))
        if (number + 1) % max(1, groups // 10) == 0:
            found = ratios(np.array(rows))
            told = ", ".join(f"{key}_{name} {ratio:.4f} +- {e:.4f}" for key, (ratio, e) in found)
            print(f"{name}, {4 * (number + 1)} fragments: {told}", flush=True)
    found = ratios(np.array(rows))
    return {
        **{f"{key}_{name}": round(ratio, 4) for key, (ratio, _) in found},
        "standard_errors": {f"{key}_{name}": round(error, 4) for key, (_, error) in found},
        "microseconds_a_step": {
            key: round(1e6 * seconds / (2 * STEPS * ENVS * groups), 2)
            for key, seconds in zip(COLUMNS, np.sum(rows, axis=0).tolist(), strict=True)
        },
        "model": helped(turns.figures, steps=2 * STEPS * ENVS * groups),
    }


COLUMNS = ("cpu_without", "cpu_with", "wall_without", "wall_with")


def group_of(spent: list[Spent]) -> list[float]:
    """Seconds of a group by `COLUMNS`."""
    without = [each for each, assisted in zip(spent, GROUP, strict=True) if not assisted]
    helped = [each for each, assisted in zip(spent, GROUP, strict=True) if assisted]
    threads = sum(each.others for each in spent)
    stolen = sum(each.others for each in without)  # the planner's thread holds the interpreter
    return [
        sum(each.own for each in without),
        sum(each.own for each in helped) + threads,
        sum(each.wall for each in without) - stolen,
        sum(each.wall for each in helped) + stolen,
    ]


def ratios(rows: Any) -> list[tuple[str, tuple[float, float]]]:
    """`rows` is `[groups, 4]`: of CPU and wall clock, without / with and its standard error."""
    found = []
    for key, column in (("cpu", 0), ("kept", 2)):
        without, helped = rows[:, column], rows[:, column + 1]
        if len(rows) < 2:
            continue
        left_out = (without.sum() - without) / (helped.sum() - helped)
        count = len(rows)
        error = ((count - 1) / count * ((left_out - left_out.mean()) ** 2).sum()) ** 0.5
        found.append((key, (float(without.sum() / helped.sum()), float(error))))
    return found


def helped(figures: AssistanceFigures, *, steps: int) -> dict[str, Any]:
    """What the language model did in the fragments with it."""
    calls: dict[str, int] = {}
    for counts in figures.planner.by_mode.values():
        for outcome, times in counts.outcomes.items():
            calls[outcome] = calls.get(outcome, 0) + times
    return {
        "steps": steps,
        "calls": calls,
        "asked": sum(each.asked for each in figures.planner.by_mode.values()),
        "not_asked": sum(sum(each.not_asked.values()) for each in figures.planner.by_mode.values()),
    }


async def study(groups: int, seed: int, directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = {"benchmark": "planner_in_play"}
    errors: dict[str, float] = {}
    parts, models = {}, {}
    for name, seconds in SECONDS.items():
        async with language_model(seconds) as address:
            turns = await asyncio.to_thread(Turns, name, address, directory / name, seed)
            one = await asyncio.to_thread(measured, turns, name, groups)
            await asyncio.to_thread(turns.close)
        gc.collect()
        errors |= one.pop("standard_errors")
        parts[name], models[name] = one.pop("microseconds_a_step"), one.pop("model")
        found |= one
    was_asked = all(model["asked"] > 0 for model in models.values())
    return found | {
        "standard_errors": errors,
        "target": TARGET,
        "target_met": min(found[f"cpu_{name}"] for name in SECONDS) >= TARGET and was_asked,
        "microseconds_a_step": parts,
        "models": models,
        "fragments": 4 * groups,
        "seed": seed,
        "setup": {"envs": ENVS, "steps_a_fragment": STEPS, "frame_skip": 4},
        "load_average": os.getloadavg()[0],
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "machine": f"{platform.platform()}, {os.cpu_count()} CPUs",
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--groups", type=int, default=60, help="of four fragments, each (60)")
    parser.add_argument("--seed", type=int, default=1, help="of the games and the policy (1)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="in-play-", ignore_cleanup_errors=True) as directory:
        found = asyncio.run(study(options.groups, options.seed, Path(directory)))
    print(json.dumps(found))
    return 0 if found["target_met"] else 1


if __name__ == "__main__":
    sys.exit(main())
