"""Study: how many frames a search needs, by who selects its starts.

    make study PART=A                         all runs of the plan, two at a time, then the report
    python benchmarks/study_exploration.py --worlds seedling-vale --seeds 11 12 --frames 1.5e6
    python benchmarks/study_exploration.py --report

Arms: starts are selected uniformly, or by the rules without a judge as they are by default
(`counts`); `+` adds the rule that follows ratings, with shares learned by the bandit. The expert
places states by its map; `random` gives each state a position that means nothing, as a control;
`mistaken` is the expert with a random position for every fifth state.

A run is one process and ends with the first essence, or at --frames. It writes into --data and is
resumed there; one whose outcome is in --out is not repeated, on another machine either. Its result
depends on world, arm and seed alone unless it was interrupted. A generated world is played by one
run of each arm, with the seed of the world; seeds from 2000 on are test worlds, of which 2000 to
2010 served to check the expert.

Writes an outcome per run, `runs.csv` and `finds.csv` (raw) and `report.txt` into --out:
interquartile means over the runs of a kind of world with bootstrap intervals, and ratios of arms
over the same worlds and seeds. A run that misses a goal counts with its limit: such figures, marked
by a star, are bounds.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from iqm import interval, paired_ratio
from outcome import commit, parser_of, say, write_csv
from search_findings import Findings
from study_runs import play_all, stopping

from rlaif.contracts.game.names import seed_and_size
from rlaif.files.whole import write_whole
from rlaif.game.description.briefing import brief
from rlaif.game.description.words import words_of
from rlaif.game.machine.cartridges import Cartridge, load_cartridge
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.stories.story_lookup import story_of
from rlaif.guides.guides import guide_of, use_worlds
from rlaif.mock_llm.expert.progress import quest_position
from rlaif.mock_llm.expert.situation import situation_of
from rlaif.testing.searching import explorers_of
from rlaif.trainer.learner.exploration import explore
from rlaif.trainer.planning.prompts import CHARACTERS_A_TOKEN
from rlaif.trainer.planning.state_rater import messages
from rlaif.trainer.search.draws import BY_COUNTS, RATED, DrawSettings
from rlaif.trainer.search.opening import TREE, open_search
from rlaif.trainer.search.search import Search, SearchSettings
from rlaif.trainer.search.tree import read_tree

DATA = Path("var/study/exploration")
RESULTS = Path(__file__).parent / "results" / "exploration"
ARMS = ("uniform", "counts", "uniform+expert", "uniform+random", "counts+expert")
PLAN = (
    ("seedling-vale", range(1, 6), 9e6, ARMS),
    ("30 rooms", range(2020, 2025), 9e6, ARMS),
    ("60 rooms", range(2025, 2030), 20e6, (*ARMS, "uniform+mistaken")),
)
NICE = 19
_REPORT_SECONDS = 60.0
_MISTAKEN = 0.2
_ESSENCE = "essence:"
_GOALS = ("25 %", "50 %", "75 %", "essence")
"""Share of the main milestones, in any order."""
_COMPARED = (
    ("uniform+expert", "counts"), ("uniform+expert", "uniform"), ("uniform+random", "uniform"),
    ("uniform+expert", "uniform+random"), ("counts+expert", "counts"),
    ("uniform+mistaken", "uniform+expert"),
)  # fmt: skip

RUN_ROW = (
    "world", "arm", "seed", "frames", "essence_frames", "limit", "level", "flags", "milestones",
    "of_milestones", "cells", "rooms", "deaths", "starts", "requests", "states",
    "tokens", "shares", "resumed", "commit",
)  # fmt: skip
FIND_ROW = ("world", "arm", "seed", "kind", "find", "frames")


class Run(NamedTuple):
    """One search."""

    world: str
    arm: str
    seed: int
    frames: float

    @property
    def kind(self) -> str:
        known = seed_and_size(self.world)
        return f"{known[1]} rooms" if known else self.world

    def folder(self, data: Path) -> Path:
        return data / self.world / self.arm / str(self.seed)

    def outcome(self, out: Path) -> Path:
        return out / "runs" / f"{self.world}.{self.arm}.{self.seed}.json"


class StudyRater:
    """A judge for the study, which answers at once; counts the tokens of the prompts to a model."""

    def __init__(self, cartridge: Cartridge, kind: str, seed: int) -> None:
        self._words = words_of(cartridge.game, cartridge.data)
        system, *_ = messages([], guide_of(cartridge.game))
        self._shared_tokens = len(system["content"]) // CHARACTERS_A_TOKEN
        self._objectives = sum(
            m.is_main for m in story_of(cartridge.game, cartridge.data).milestones
        )
        self._kind, self._rng = kind, np.random.default_rng(seed)
        self._answers: list[float | None] | None = None
        self.tokens = self.states = 0

    def ask(self, states: Sequence[RamBlocks]) -> None:
        self._answers = [self._position(ram) for ram in states]
        self.tokens += self._shared_tokens
        self.states += len(states)

    def answers(self) -> Sequence[float | None] | None:
        found, self._answers = self._answers, None
        return found

    def _position(self, ram: RamBlocks) -> float | None:
        told = brief(ram, self._words)
        self.tokens += told.tokens
        chance, luck = self._rng.random(), self._rng.random() * self._objectives
        if self._kind == "random" or (self._kind == "mistaken" and chance < _MISTAKEN):
            return luck
        found = quest_position(situation_of(told).moment)
        return None if found is None else found.position


def main(argv: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    if options.one:
        world, arm, seed = options.one
        play(Run(world, arm, int(seed), options.frames), options.data, options.out)
        return 0
    runs = list(planned(options))
    if not options.report:
        waiting = [run for run in runs if not is_over(run, options.out)]
        say(f"{len(waiting)} of {len(runs)} runs to play")
        commands = {
            f"{run.world} {run.arm} {run.seed}": [
                __file__, "--one", run.world, run.arm, str(run.seed),
                "--frames", str(run.frames), "--data", str(options.data), "--out", str(options.out),
            ]
            for run in waiting
        }  # fmt: skip
        if not play_all(commands, options.jobs):
            return 1
    return report(runs, options.out)


def planned(options: argparse.Namespace) -> Iterator[Run]:
    """The runs, of all arms the first seeds first."""
    worlds = [
        (kind, options.seeds or seeds, options.frames or frames, options.arms or arms)
        for kind, seeds, frames, arms in PLAN
        if not options.worlds or kind in options.worlds
    ]
    for kind, seeds, frames, arms in worlds:
        for seed in seeds:
            world = f"world-{seed}-{kind.split()[0]}" if kind.endswith(" rooms") else kind
            yield from (Run(world, arm, seed, frames) for arm in arms)


def is_over(run: Run, out: Path) -> bool:
    known = outcome_of(run, out)
    return known is not None and (
        known["essence_frames"] is not None or known["frames"] >= run.frames
    )


def outcome_of(run: Run, out: Path) -> dict[str, Any] | None:
    file = run.outcome(out)
    return json.loads(file.read_text("utf-8")) if file.exists() else None


def play(run: Run, data: Path, out: Path) -> None:
    """Play or resume a run, until it is over or a signal arrives."""
    os.nice(NICE)
    use_worlds(data)
    folder, stop = run.folder(data), stopping()
    path = data / run.world / "world.gbc" if seed_and_size(run.world) else None
    cartridge = load_cartridge(path)
    selection, _, judge = run.arm.partition("+")
    shares = dict(BY_COUNTS) if selection == "counts" else {"uniform": 1.0}
    rated = {"rated": RATED.shares["rated"]} if judge else {}
    draws = DrawSettings(shares | rated, learned=bool(judge))
    rater = StudyRater(cartridge, judge, run.seed) if judge else None
    # Without its tree, a run starts again.
    before = (outcome_of(run, out) or {}) if (folder / TREE).exists() else {}
    search = open_search(folder, cartridge, SearchSettings(seed=run.seed, draws=draws), rater=rater)
    # Of several environments of a runner, each plays starts that were selected longer ago.
    runners = explorers_of(path, workers=0, environments=1)
    wrote, cpu = time.monotonic(), time.process_time()
    for _ in explore(search, runners, environments=1):
        figures = search.figures
        done = figures.frames >= run.frames or essence_frames(search) is not None
        if done or stop.is_set():
            break
        if time.monotonic() - wrote > _REPORT_SECONDS:
            wrote = time.monotonic()
            say(f"{run.world} {run.arm} {run.seed}: {json.dumps(summary(search))}")
    search.close()
    runners.stop()
    with read_tree(folder / TREE) as tree:
        found = Findings(tree, story_of(cartridge.game, cartridge.data))
    steps = {name: node.found_at for name, node in found.first.items() if name in found.main}
    flags = {first.mark: first.frames for first in search.figures.marks}
    commits = [*before.get("commit", "").split(), commit()]
    known = {
        "cpu_seconds": round(before.get("cpu_seconds", 0) + time.process_time() - cpu),
        "milestones": len(steps), "of_milestones": len(found.main),
        "requests": search.ratings.requests + before.get("requests", 0),
        "states": (rater.states if rater else 0) + before.get("states", 0),
        "tokens": (rater.tokens if rater else 0) + before.get("tokens", 0),
        "resumed": before.get("resumed", -1) + 1, "commit": " ".join(dict.fromkeys(commits)),
        "finds": {"milestone": steps, "flag": flags},
    }  # fmt: skip
    run.outcome(out).parent.mkdir(parents=True, exist_ok=True)
    write_whole(run.outcome(out), json.dumps(summary(search) | known, indent=1).encode())


def essence_frames(search: Search) -> int | None:
    """Frames until the first essence; None without one."""
    found = (first for first in search.figures.marks if first.mark.startswith(_ESSENCE))
    return next((first.frames for first in found), None)


def summary(search: Search) -> dict[str, Any]:
    figures = search.figures
    return {
        "frames": figures.frames,
        "essence_frames": essence_frames(search),
        "level": figures.level,
        "flags": len(figures.marks),
        "cells": figures.cells,
        "rooms": figures.rooms,
        "deaths": figures.deaths,
        "starts": figures.rollouts,
        "shares": {rule: round(share, 3) for rule, share in search.shares.items()},
    }


def report(runs: Sequence[Run], out: Path) -> int:
    """Write raw results and the report on the runs so far."""
    out.mkdir(parents=True, exist_ok=True)
    found = {run: known for run in runs if (known := outcome_of(run, out))}
    write_csv(out / "runs.csv", RUN_ROW, [_run_row(run, known) for run, known in found.items()])
    write_csv(
        out / "finds.csv",
        FIND_ROW,
        [
            {
                "world": run.world,
                "arm": run.arm,
                "seed": run.seed,
                "kind": kind,
                "find": find,
                "frames": frames,
            }
            for run, known in found.items()
            for kind, finds in known["finds"].items()
            for find, frames in sorted(finds.items(), key=lambda each: each[1])
        ],
    )
    text = "\n".join(_lines(found)) + "\n"
    (out / "report.txt").write_text(text, encoding="utf-8")
    say(text)
    return 0


def _run_row(run: Run, known: dict[str, Any]) -> dict[str, Any]:
    shares = " ".join(f"{rule} {share}" for rule, share in known["shares"].items())
    row = {"world": run.world, "arm": run.arm, "seed": run.seed, "limit": round(run.frames)}
    return {name: (known | row | {"shares": shares})[name] for name in RUN_ROW}


def _lines(found: dict[Run, dict[str, Any]]) -> Iterator[str]:
    yield f"commit {commit()}; million frames, interquartile mean (95 % interval); * some censored"
    for kind in dict.fromkeys(run.kind for run in found):
        here = {run: known for run, known in found.items() if run.kind == kind}
        arms = list(dict.fromkeys(run.arm for run in here))
        yield f"\n{kind}\n{'':18}runs ends  " + "".join(f"{goal:24}" for goal in _GOALS)
        for arm in arms:
            mine = {run: known for run, known in here.items() if run.arm == arm}
            ends = sum(known["essence_frames"] is not None for known in mine.values())
            cells = [_figure([_frames_to(goal, *each) for each in mine.items()]) for goal in _GOALS]
            yield f"{arm:18}{len(mine):4} {ends:4}  " + "".join(f"{cell:24}" for cell in cells)
        yield f"ratios over the same worlds and seeds\n{'':32}" + "".join(f"{g:24}" for g in _GOALS)
        for first, second in _COMPARED:
            pairs = [
                (run, run._replace(arm=second))
                for run in here
                if run.arm == first and run._replace(arm=second) in here
            ]
            if pairs:
                cells = [_ratio(here, pairs, goal) for goal in _GOALS]
                name = f"{first} / {second}"
                yield f"{name:32}" + "".join(f"{cell:24}" for cell in cells)
        for arm in arms:
            asked = [known for run, known in here.items() if run.arm == arm and known["requests"]]
            if asked:
                sums = {name: sum(each[name] for each in asked) for name in ("requests", "states")}
                tokens = sum(each["tokens"] for each in asked) / len(asked)
                yield (
                    f"{arm}: {sums['requests'] / len(asked):.0f} requests, "
                    f"{sums['states'] / len(asked):.0f} states, {tokens / 1e3:.0f} k tokens per run"
                )


def _frames_to(goal: str, run: Run, known: dict[str, Any]) -> tuple[float, bool]:
    """Million frames until a goal, or of the run if it was missed; and whether it was reached."""
    if goal == "essence":
        reached = known["essence_frames"]
    else:
        needed = -(-known["of_milestones"] * int(goal.split()[0]) // 100)
        steps = sorted(known["finds"]["milestone"].values())
        reached = steps[needed - 1] if len(steps) >= needed else None
    return (run.frames if reached is None else reached) / 1e6, reached is not None


def _figure(values: Sequence[tuple[float, bool]]) -> str:
    found = interval([[value] for value, _ in values])
    mark = "" if all(reached for _, reached in values) else "*"
    return f"{found.value:.2f}{mark} ({found.low:.2f} to {found.high:.2f})"


def _ratio(here: dict[Run, dict[str, Any]], pairs: Sequence[tuple[Run, Run]], goal: str) -> str:
    sides = [
        [_frames_to(goal, run, here[run]) for run in runs] for runs in zip(*pairs, strict=True)
    ]
    if not any(reached for side in sides for _, reached in side):
        return "not reached"
    found = paired_ratio(*[[value for value, _ in side] for side in sides])
    mark = "" if all(reached for side in sides for _, reached in side) else "*"
    return f"{found.value:.2f}{mark} ({found.low:.2f} to {found.high:.2f})"


def _parser() -> argparse.ArgumentParser:
    parser = parser_of(__doc__)
    add = parser.add_argument
    add("--worlds", nargs="+", help="seedling-vale, or '30 rooms'; default: those of the plan")
    add("--arms", nargs="+", help=", ".join(ARMS))
    add("--seeds", nargs="+", type=int, help="of the search or of the generated worlds")
    add("--frames", type=float, help="limit of a run")
    add("--jobs", type=int, default=2, help="runs at a time")
    add("--data", type=Path, default=DATA, help="folder of the searches")
    add("--out", type=Path, default=RESULTS, help="folder of the results")
    add("--report", action="store_true", help="report on the runs so far, and play none")
    add("--one", nargs=3, metavar=("WORLD", "ARM", "SEED"), help="play this run in this process")
    return parser


if __name__ == "__main__":
    sys.exit(main())
