"""Study: how far a policy comes in 150,000 decisions, by what rewards it.

    make study PART=B                        all runs of the plan, two at a time, then the report
    python benchmarks/study_rewards.py --arms judges exchanged --seeds 1 2 --decisions 28000
    python benchmarks/study_rewards.py --report

Training as in `make demo`, but in one process without Ray, with more and smaller gradient steps,
and without demonstrations. One search, which knows neither rewards nor judges, is played first for
all runs (`study_search.py`): half of the episodes start at its states, the others at power-on, and
its segments are labelled before training, so that a reward model is live early. Arms:

    judges            the reward model of the judges' labels, mode `height`, preset `judges`
    judges-potential  the same with mode `potential`
    judges-stable     as judges, but a model is replaced only by a significantly better one
    exchanged         as judges, from the same labels exchanged between segments: they mean nothing,
                      but the fit knows that owning something of the quest is progress
    meaningless       as exchanged, and the fit knows nothing
    judges-no-prior-novelty
                      as judges-novelty, and the fit knows nothing
    exchanged-potential
    random            as judges, labels by a judge that answers at random
    game              the rewards of the game (preset `default`), no reward model
    nothing           preset `judges`, no reward model
    judges-novelty, exchanged-novelty, meaningless-novelty, novelty
                      as judges, exchanged, meaningless and nothing with preset `novelty`: the bonus
                      for new places that `game` contains
    judges-game, exchanged-game
                      as judges and exchanged in addition to all rewards of `game`
    ARM-control       as ARM, with a planner (the mock LLM) that may play a tenth of the steps
    ARM-guidance      as ARM, with a bonus for following the buttons that the planner suggests
    ARM-demonstrations
                      as ARM, with the curriculum of the demo: half of the play starts at power-on,
                      half on demonstrations of the search's best trajectories, which PPO imitates

The mock LLM's expert labels the segments of the search and those that the run itself captured. A
reward model is fitted before training and when the labels have grown by a quarter; it goes live if
a model of the true labels passes the gate of the demo then, in every arm, so that the controls
differ by their labels alone.

The policy is then frozen and plays 32 episodes from power-on. Its score is the mean number of the
quest's main milestones, never extras and never a reward. A run is one process; it is resumed from
--data, and one whose outcome is in --out is not repeated, on another machine either. Writes an
outcome per run (raw: its episodes, and a curve of those of training from power-on), `runs.csv`
and `report.txt` into --out: interquartile means over seeds with bootstrap intervals, and
differences of arms over the same seeds.
"""

import argparse
import hashlib
import json
import os
import pickle
import shutil
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from iqm import interval, paired_difference
from judge_rig import Service
from outcome import commit, parser_of, say, write_csv
from played_segments import STEPS
from rm_labels import judged
from study_labels import GATE, Labels, exchanged
from study_runs import play_all, stopping
from study_search import POWER_ON, arrivals, search, starts

from rlaif.files.whole import write_whole
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.stories.story_lookup import story_of
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.learning.candidate import Candidate
from rlaif.reward_model.learning.fit.bradley_terry import fit_side
from rlaif.reward_model.learning.fit.sides import split_sides
from rlaif.reward_model.learning.settings import CandidateSettings, FitSettings
from rlaif.reward_model.learning.training import train_candidate
from rlaif.reward_net.artifact import save as artifact
from rlaif.reward_net.pay import Potential
from rlaif.trainer.curriculum import library
from rlaif.trainer.curriculum.building import BuildSettings, build
from rlaif.trainer.evaluation.player import EvaluationTask
from rlaif.trainer.evaluation.player import play as evaluate
from rlaif.trainer.evaluation.result import EvaluatedEpisode
from rlaif.trainer.learner import saving
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO, build_config
from rlaif.trainer.learner.progress import RunTally
from rlaif.trainer.learner.start import POWER_ON_SHARE
from rlaif.trainer.learner.training import TRIAL_STEPS
from rlaif.trainer.play.assist.figures import AssistanceFigures
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.start import POWER_ON as RUN_START
from rlaif.trainer.rewards.learned.reward_models import check_reward_model
from rlaif.trainer.search.opening import TREE
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.game import ExploreSettings, GameSettings
from rlaif.trainer.settings.learning import CurriculumSettings
from rlaif.trainer.settings.planner import GuidanceSettings, PlannerSettings, TakeoverSettings

DATA = Path("var/study/rewards")
RESULTS = Path(__file__).parent / "results" / "rewards"
ARMS = (
    "judges", "exchanged", "game",
    "judges-potential", "judges-stable", "meaningless", "random", "nothing", "exchanged-potential",
    "judges-novelty", "exchanged-novelty", "meaningless-novelty", "novelty",
    "judges-game", "exchanged-game",
    "judges-novelty-demonstrations", "exchanged-novelty-demonstrations",
    "novelty-demonstrations", "game-demonstrations", "meaningless-novelty-demonstrations",
    "judges-no-prior-novelty-demonstrations", "judges-novelty-control", "judges-novelty-guidance",
)  # fmt: skip
PLAN = (
    (("judges", "exchanged", "game"), range(1, 13)),
    (("judges-novelty", "exchanged-novelty", "meaningless-novelty", "novelty"), range(1, 13)),
    (("judges-game", "exchanged-game"), range(1, 13)),
    (ARMS[-8:-2], range(1, 13)),
    (ARMS[-2:], range(1, 7)),
    (("judges-potential", "judges-stable", "meaningless", "random", "nothing"), range(1, 7)),
)
DECISIONS = 150_000
DEMONSTRATIONS = "-demonstrations"
PLANNED: dict[str, dict[str, object]] = {
    "-control": {"guidance": GuidanceSettings(text_chance=0, vision_chance=0)},
    "-guidance": {"takeover": TakeoverSettings(share=0)},
}
"""Settings of arms with a planner, by the end of their name."""

NICE = 19

DEMO = {
    "ray_workers": 0, "envs_per_worker": 6, "batch_size": 1536, "episode_length": 2700,
    "epochs": 4, "learning_rate": 3e-4, "minibatch_size": 128, "gae_lambda": 0.98,
    "explore": ExploreSettings(share=0),
}  # fmt: skip
CAPTURES = 12
"""Segments of an iteration that are captured, as in the demo."""

EPISODES = 32
SAVE_EVERY = 10
SEARCH, SEEN = "search", "seen.pickle"
"""In the folder of the runs, what the search of all runs left, and its segments."""
FIRST_EVALUATION_SEED = 2**32
_REPORT_SECONDS = 60.0
_COMPARED = (
    ("judges", "exchanged"), ("judges", "game"), ("judges", "judges-potential"),
    ("judges-stable", "judges"), ("judges", "random"), ("judges", "nothing"),
    ("judges", "meaningless"), ("exchanged", "meaningless"), ("exchanged", "nothing"),
    ("judges-potential", "exchanged-potential"), ("game", "nothing"),
    ("judges-novelty", "exchanged-novelty"), ("judges-novelty", "meaningless-novelty"),
    ("judges-novelty", "novelty"), ("exchanged-novelty", "meaningless-novelty"),
    ("judges-novelty", "game"), ("judges-novelty", "judges"),
    ("judges-game", "game"), ("judges-game", "exchanged-game"),
    ("judges-game", "judges-novelty"),
    ("judges-novelty-demonstrations", "exchanged-novelty-demonstrations"),
    ("judges-novelty-demonstrations", "meaningless-novelty-demonstrations"),
    ("judges-no-prior-novelty-demonstrations", "meaningless-novelty-demonstrations"),
    ("judges-novelty-demonstrations", "novelty-demonstrations"),
    ("judges-novelty-demonstrations", "game-demonstrations"),
    ("judges-novelty-demonstrations", "judges-novelty"), ("game-demonstrations", "game"),
    ("judges-novelty-control", "judges-novelty"), ("judges-novelty-guidance", "judges-novelty"),
)  # fmt: skip

RUN_ROW = (
    "arm", "seed", "decisions", "milestones", "rooms", "first_step", "labels", "versions",
    "first_live", "refused", "cpu_seconds", "resumed", "commit",
)  # fmt: skip


class Run(NamedTuple):
    """One training and the evaluation of its policy."""

    arm: str
    seed: int
    decisions: int

    def folder(self, data: Path) -> Path:
        return data / self.arm / str(self.seed)

    def outcome(self, out: Path) -> Path:
        return out / "runs" / f"{self.arm}.{self.seed}.{self.decisions}.json"

    @property
    def has_model(self) -> bool:
        return self.rewards not in ("game", "nothing", "novelty")

    @property
    def rewards(self) -> str:
        for suffix in (DEMONSTRATIONS, *PLANNED):
            if self.arm.endswith(suffix):
                return self.arm.removesuffix(suffix)
        return self.arm

    @property
    def assistance(self) -> dict[str, object]:
        """Settings of the planner, without its address; empty without a planner."""
        return next((PLANNED[end] for end in PLANNED if self.arm.endswith(end)), {})

    @property
    def settings(self) -> TrainerSettings:
        """Without starts and demonstrations: they are files."""
        mode = "potential" if self.rewards.endswith("-potential") else "height"
        preset = "default" if self.rewards.endswith("game") else "judges"
        if self.rewards.endswith("novelty"):
            preset = "novelty"
        shaping = {"mode": mode} if self.has_model else {"weight": 0.0}
        return TrainerSettings.model_validate(
            DEMO | {"seed": self.seed, "reward_preset": preset, "shaping": shaping}
        )


class Study:
    """A run in this process.

    Attributes:
        figures: What is known of it so far; JSON.
    """

    def __init__(self, run: Run, data: Path, planner: str | None) -> None:
        self._run, self._folder = run, run.folder(data)
        self._checkpoint = self._folder / "checkpoint"
        settings = run.settings.model_copy(
            update={"planner": PlannerSettings(base_url=planner), **run.assistance}
        )
        self._env = EnvConfig(
            run_id=f"{run.arm}-{run.seed}", game=settings.game, gamma=settings.ppo.gamma
        )
        game = settings.game
        if run.arm.endswith(DEMONSTRATIONS):
            course = {"path": demonstrated(data / SEARCH, game), "power_on": POWER_ON_SHARE}
            settings = settings.model_copy(update={"curriculum": CurriculumSettings(**course)})
        else:
            game = game.model_copy(update={"initial_state_paths": starts(data / SEARCH)})
        playing = settings.model_copy(update={"game": game})
        self._labels = Labels(pickle.loads((data / SEARCH / SEEN).read_bytes()))  # ours
        self._tally = RunTally()
        self.figures: dict[str, Any] = {
            "curve": [], "versions": 0, "first_live": None, "refused": [], "cpu_seconds": 0.0,
            "resumed": -1, "commit": "", "planner_steps": 0, "suggestions": 0, "followed": 0,
        }  # fmt: skip
        resumes = self._checkpoint.exists()
        self.algorithm = ShapedPPO(
            build_config(playing, replace(self._env, game=game), resumes=resumes)
        )
        if resumes:
            self._restore()
        self.algorithm.follow_demonstrations(is_new=False)
        self.figures["resumed"] += 1
        commits = [*self.figures["commit"].split(), commit()]
        self.figures["commit"] = " ".join(dict.fromkeys(commits))
        self._cpu = time.process_time() - self.figures["cpu_seconds"]
        cartridge = load_cartridge()
        self._main = story_of(cartridge.game, cartridge.data).main_names
        if run.has_model and not resumes:
            self._train_model()

    def iterate(self) -> None:
        algorithm, run = self.algorithm, self._run
        algorithm.rewards.models.swap_if_due()
        algorithm.capture_quota = CAPTURES if run.has_model else 0
        algorithm.train()
        (fragment,) = algorithm.fragments
        for captured in fragment.captures:
            self._labels.add(captured)
        if fragment.assistance is not None:
            self._add(fragment.assistance)
        ends = [
            set(each.milestones) & set(self._main)
            for each in fragment.episodes
            if each.start.startswith((POWER_ON, RUN_START))
        ]
        self.figures["curve"].append(
            {
                "decisions": algorithm.env_steps,
                "episodes": len(ends),
                "milestones": sum(map(len, ends)),
                "labels": len(self._labels.seen),
                "version": algorithm.rewards.version,
            }
        )
        if run.has_model and self._labels.is_due:
            self._train_model()

    def _add(self, assistance: AssistanceFigures) -> None:
        self.figures["planner_steps"] += sum(assistance.planner_steps.values())
        for fates in assistance.suggestions.values():
            self.figures["suggestions"] += fates.get("given", 0)
            self.figures["followed"] += fates.get("followed", 0)

    def _arm_labels(self) -> list[LabelledSegment]:
        """The labels that the arm learns from."""
        run, seen = self._run, self._labels.seen
        if run.rewards == "random":
            return judged(seen, random_seed=run.seed)
        labels = judged(seen)
        return labels if run.arm.startswith("judges") else exchanged(labels, run.seed)

    def _train_model(self) -> None:
        """Offer a model of the arm's labels if one of the true labels passes the gate."""
        self._labels.trained = len(self._labels.seen)
        gate = replace(GATE, must_improve=self._run.rewards == "judges-stable")
        settings = CandidateSettings(seed=self._run.seed, gate=gate)
        true = judged(self._labels.seen)
        candidate = train_candidate(true, settings=settings, champion=self._champion(true))
        if not candidate.passed:
            self.figures["refused"].append([len(true), *candidate.reasons])
            return
        self.figures["versions"] += 1
        data = self._model(candidate, settings)
        version = self.figures["versions"]
        sha256 = hashlib.sha256(data).hexdigest()
        self.algorithm.rewards.models.offer(
            check_reward_model(data, version=version, sha256=sha256)
        )
        if self.figures["first_live"] is None:
            self.figures["first_live"] = self.algorithm.env_steps

    def _champion(self, true: Sequence[LabelledSegment]) -> Potential | None:
        """The live model, where it is one of true labels."""
        live = self.algorithm.rewards.models.live
        return live.answers if live is not None and self._run.arm.startswith("judges") else None

    def _model(self, candidate: Candidate, settings: CandidateSettings) -> bytes:
        net = candidate.net
        assert net is not None
        has_prior = not self._run.arm.startswith(("meaningless", "judges-no-prior"))
        if not (self._run.arm.startswith("judges") and has_prior):
            train, _ = split_sides(self._arm_labels(), settings)
            net = fit_side(train, replace(settings, fit=FitSettings(owned=has_prior)))
        return artifact(net, net.spec, version=self.figures["versions"])

    def save(self) -> None:
        """Replace the checkpoint; one that is not complete has another name."""
        new = self._folder / "checkpoint.new"
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        saving.save(self.algorithm, self._tally, new)
        self.figures["cpu_seconds"] = round(time.process_time() - self._cpu, 1)
        kept = (self._labels.seen, self._labels.trained, self.figures)
        (new / "study.pickle").write_bytes(pickle.dumps(kept))  # ours
        shutil.rmtree(self._checkpoint, ignore_errors=True)
        new.rename(self._checkpoint)

    def _restore(self) -> None:
        saving.restore(self.algorithm, self._tally, self._checkpoint)
        kept = pickle.loads((self._checkpoint / "study.pickle").read_bytes())  # ours
        self._labels.seen, self._labels.trained, self.figures = kept

    def evaluate(self) -> list[EvaluatedEpisode]:
        """Episodes of the frozen policy from power-on."""
        runner = self.algorithm.runners.local
        assert runner is not None
        task = EvaluationTask.of(
            self._env,
            length=self._env.game.episode_length,
            seed=FIRST_EVALUATION_SEED + self._run.seed,
            greedy=False,
        )
        return evaluate(task, range(EPISODES), runner.policy.logits)

    def close(self) -> None:
        self.algorithm.stop()
        self._labels.close()


def main(argv: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    if options.one:
        arm, seed = options.one
        play(Run(arm, int(seed), options.decisions), options.data, options.out)
        return 0
    runs = list(planned(options))
    if not options.report:
        waiting = [run for run in runs if outcome_of(run, options.out) is None]
        say(f"{len(waiting)} of {len(runs)} runs to play")
        prepare(options.data / SEARCH)
        for run in waiting:
            if run.arm.endswith(DEMONSTRATIONS):
                demonstrated(options.data / SEARCH, run.settings.game)
        shared = [
            __file__, "--decisions", str(options.decisions),
            "--data", str(options.data), "--out", str(options.out),
        ]  # fmt: skip
        commands = {f"{run.arm} {run.seed}": [*shared, "--one", run.arm, str(run.seed)]
                    for run in waiting}  # fmt: skip
        if not play_all(commands, options.jobs):
            return 1
    return report(runs, options.out)


def prepare(folder: Path) -> None:
    """Play the search of all runs, unless it is there, and look at its segments."""
    if (folder / SEEN).exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    labels = Labels()
    for captured in search(folder):
        labels.add(captured)
    for name, moments in arrivals(folder, STEPS):
        labels.add_moments(name, name, 1, moments)
    labels.close()
    order = np.random.default_rng(0).permutation(len(labels.seen))  # the gate tests the newest
    write_whole(folder / SEEN, pickle.dumps([labels.seen[at] for at in order]))


def demonstrated(folder: Path, game: GameSettings) -> Path:
    """Build the demonstrations of the search, as a run of the demo does, unless they are there."""
    found = folder / f"demonstrations-{game.reward_preset}"
    if not library.exists(found):
        settings = BuildSettings(game, count=1, max_trial_steps=TRIAL_STEPS)
        build([folder / TREE], found, settings, say)
    return found


def planned(options: argparse.Namespace) -> Iterator[Run]:
    """The runs, of all arms the first seeds first."""
    plan = [(options.arms, options.seeds or PLAN[0][1])] if options.arms else PLAN
    found = [
        (seed, place, arm)
        for place, (arms, seeds) in enumerate(plan)
        for arm in arms
        for seed in options.seeds or seeds
    ]
    yield from (Run(arm, seed, options.decisions) for seed, _, arm in sorted(found))


def outcome_of(run: Run, out: Path) -> dict[str, Any] | None:
    file = run.outcome(out)
    return json.loads(file.read_text("utf-8")) if file.exists() else None


def play(run: Run, data: Path, out: Path) -> None:
    """Play or resume a run, until it is over or a signal arrives; with a planner if it has one."""
    os.nice(NICE)
    warnings.simplefilter("ignore")
    if not run.assistance:
        play_with(run, data, out, planner=None)
        return
    run.folder(data).mkdir(parents=True, exist_ok=True)
    with Service("rlaif.mock_llm", run.folder(data), dict(os.environ)) as llm:
        play_with(run, data, out, planner=llm.url)


def play_with(run: Run, data: Path, out: Path, planner: str | None) -> None:
    stop = stopping()
    study = Study(run, data, planner)
    wrote = time.monotonic()
    while study.algorithm.env_steps < run.decisions and not stop.is_set():
        study.iterate()
        if study.algorithm.training_iteration % SAVE_EVERY == 0:
            study.save()
        if time.monotonic() - wrote > _REPORT_SECONDS:
            wrote = time.monotonic()
            say(f"{run.arm} {run.seed}: {study.figures['curve'][-1]}")
    study.save()
    if study.algorithm.env_steps >= run.decisions:
        episodes = sorted(study.evaluate(), key=lambda each: each.number)
        known = study.figures | {
            "decisions": study.algorithm.env_steps,
            "labels": study.figures["curve"][-1]["labels"],
            "curve": _columns(study.figures["curve"]),
            "episodes": _columns(
                [
                    {
                        "milestones": len(each.milestone_frames),
                        "rooms": each.rooms,
                        "frames": each.frames,
                        "reached": " ".join(each.milestone_frames),
                    }
                    for each in episodes
                ]
            ),
        }
        run.outcome(out).parent.mkdir(parents=True, exist_ok=True)
        write_whole(run.outcome(out), json.dumps(known).encode())
    study.close()


def _columns(rows: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


def report(runs: Sequence[Run], out: Path) -> int:
    """Write the table of the runs so far, and the report on them."""
    out.mkdir(parents=True, exist_ok=True)
    found = {run: known for run in runs if (known := outcome_of(run, out))}
    write_csv(out / "runs.csv", RUN_ROW, [_run_row(*each) for each in found.items()])
    text = "\n".join(_lines(found)) + "\n"
    (out / "report.txt").write_text(text, encoding="utf-8")
    say(text)
    return 0


def _run_row(run: Run, known: dict[str, Any]) -> dict[str, Any]:
    milestones = np.array(known["episodes"]["milestones"])
    means = {
        "milestones": round(float(milestones.mean()), 4),
        "rooms": round(float(np.mean(known["episodes"]["rooms"])), 3),
        "first_step": round(float((milestones > 0).mean()), 4),
        "refused": len(known["refused"]),
    }
    own = {"arm": run.arm, "seed": run.seed}
    return {name: (known | means | own)[name] for name in RUN_ROW}


def _lines(found: dict[Run, dict[str, Any]]) -> Iterator[str]:
    commits = dict.fromkeys(each for known in found.values() for each in known["commit"].split())
    yield (
        f"commit {' '.join(commits)}; milestones of the quest in {EPISODES} episodes each, "
        "interquartile mean over seeds (95 % interval)"
    )
    scores = {run: known["episodes"]["milestones"] for run, known in found.items()}
    for arm in dict.fromkeys(run.arm for run in found):
        mine = [run for run in found if run.arm == arm]
        figure = interval([scores[run] for run in mine])
        live = [found[run]["first_live"] for run in mine]
        known = [each for each in live if each is not None]
        when = f", a model from {np.median(known):.0f} decisions on" if known else ""
        yield (
            f"{arm:20} {len(mine):3} runs  {figure.value:.2f} "
            f"({figure.low:.2f} to {figure.high:.2f}){when}"
        )
    yield "differences over the same seeds"
    for first, second in _COMPARED:
        pairs = [
            (run, other)
            for run in found
            if run.arm == first and (other := run._replace(arm=second)) in found
        ]
        if pairs:
            sides = [
                [float(np.mean(scores[run])) for run in each] for each in zip(*pairs, strict=True)
            ]
            figure = paired_difference(*sides)
            yield (
                f"{first} - {second}: {figure.value:+.2f} ({figure.low:+.2f} to "
                f"{figure.high:+.2f}), {len(pairs)} seeds"
            )


def _parser() -> argparse.ArgumentParser:
    parser = parser_of(__doc__)
    add = parser.add_argument
    add("--arms", nargs="+", choices=ARMS, help="default: those of the plan")
    add("--seeds", nargs="+", type=int, help="default: those of the plan")
    add("--decisions", type=int, default=DECISIONS, help="length of a run")
    add("--jobs", type=int, default=2, help="runs at a time")
    add("--data", type=Path, default=DATA, help="folder of the runs")
    add("--out", type=Path, default=RESULTS, help="folder of the results")
    add("--report", action="store_true", help="report on the runs so far, and play none")
    add("--one", nargs=2, metavar=("ARM", "SEED"), help="play this run in this process")
    return parser


if __name__ == "__main__":
    sys.exit(main())
