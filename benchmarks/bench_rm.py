"""What is the reward model worth, and does its gate hold? On segments of the real cartridge.

    python benchmarks/bench_rm.py            or: make bench-rm
    python benchmarks/bench_rm.py --share 0.1    a tenth of the trials, to see that it runs

Segments are played (see `played_segments.py`), their truth is read from RAM, and simulated teachers
label them. What is trained and what judges it is the service's own code.

The truth of a moment has the rubric's five criteria: share of the story's steps reached, no text
box that stays open, share of the dungeon's steps, rooms visited, hearts and control. That of a
segment is the mean over its 75 steps. It is where good play leads to, so a network of single
observations can learn it; on this game one number of it, the rooms visited, nearly says the same
(`accuracy_one_slot`). `accuracy_gains` says what becomes of labels that a network of single
observations can hardly learn: how far the truth rose within the segment.

    accuracy_perfect    500 segments, truthful labels: decided held-out pairs ranked right, no
                        episode on both sides. Mean of the trials.
    accuracy_near       likewise, of the pairs whose truths differ by less than 0.15
    accuracy_one_slot   likewise, of the best single number of the observation instead of a network
    accuracy_flip10     every tenth segment labelled by the opposite; compared with the truth
    accuracy_flip10_labels    likewise, compared with the wrong labels
    ece                 calibration error on the held-out pairs of `accuracy_perfect`, all pairs
    noise_rejected      of 20 sets of labels that are chance, how many the gate rejects
    planted_rejected    share of planted bad candidates that it rejects; `planted` has each kind
    good_rejected       share of good candidates that it rejects; half of them meet a champion

Prints progress, then the machine, then one line of JSON. Exit code 0 when all targets are met.
"""

import argparse
import hashlib
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from played_segments import PlayedSegment, play_segments

from rlaif.contracts.observation import LAYOUT_VERSION, OBSERVATION_SIZE
from rlaif.contracts.scores import CRITERIA, RUBRIC_WEIGHTS
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.mock_llm.teachers.teachers import Teacher, TeacherKind
from rlaif.mock_llm.teachers.truth import Truth, truth_of
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.labels.preferences import PairTable, Preference
from rlaif.reward_model.learning.candidate import (
    Candidate,
    ChampionToBeat,
    split_sides,
    train_candidate,
)
from rlaif.reward_model.learning.evaluation import expected_calibration_error
from rlaif.reward_model.learning.exam import Exam, predictions
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_model.learning.split_halves import (
    Side,
    fit_side,
    make_side,
    side_statistics,
)
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.potential import PotentialFunction

TARGETS = {
    "accuracy_perfect": 0.90,
    "accuracy_flip10": 0.75,
    "noise_rejected": 20,
    "planted_rejected": 1.0,
    "good_rejected": 0.05,
    "ece": 0.05,
}
SEGMENTS, SMALL = 500, 200
"""Segments of a set for accuracies, and for the many trials of the gate."""

NEAR = 0.15
SETTINGS = CandidateSettings()
LEAK_SLOTS = slice(OBSERVATION_SIZE - len(CRITERIA), OBSERVATION_SIZE)

Say = Callable[[str], None]
Trial = Callable[["Played", int], Any]


class Played:
    """The played segments with their truth, and sets of them."""

    def __init__(self, segments: Sequence[PlayedSegment]) -> None:
        self.truth = {
            i.segment_id: truth_of(i.segment_id, CRITERIA, i.truth.tolist()) for i in segments
        }
        self.gain = {i.segment_id: gained(i) for i in segments}
        self._by_episode: dict[str, list[PlayedSegment]] = {}
        for item in segments:
            self._by_episode.setdefault(item.episode_id, []).append(item)

    def some(self, count: int, seed: int) -> list[PlayedSegment]:
        """Whole episodes, about `count` segments."""
        episodes = sorted(self._by_episode)
        found: list[PlayedSegment] = []
        for index in np.random.default_rng(seed).permutation(len(episodes)).tolist():
            found += self._by_episode[episodes[index]]
            if len(found) >= count:
                break
        return found

    def labels(self, segments: Sequence[PlayedSegment], teacher: Teacher) -> list[LabelledSegment]:
        return labelled(segments, lambda item: teacher.score(self.truth[item.segment_id]))


def gained(segment: PlayedSegment) -> Truth:
    """How far each criterion rose within the segment; 0.5 is no change."""
    rise = segment.truth[-1] - segment.truth[0]
    values = {name: float(0.5 + 0.5 * up) for name, up in zip(CRITERIA, rise, strict=True)}
    return Truth(segment.segment_id, values)


def labelled(
    segments: Sequence[PlayedSegment], score: Callable[[PlayedSegment], dict[str, float]]
) -> list[LabelledSegment]:
    found = []
    for place, item in enumerate(segments):
        values = score(item)
        digest = hashlib.sha256(f"{item.segment_id} {values}".encode()).hexdigest()
        found.append(
            LabelledSegment(
                segment_id=item.segment_id,
                episode_id=item.episode_id,
                env_step=place * len(item.observations),
                start_step=item.start_step,
                layout_version=LAYOUT_VERSION,
                observations=item.observations,
                values=values,
                weights=dict(RUBRIC_WEIGHTS),
                score_sha256=digest,
            )
        )
    return found


def every_pair(side: Side, values: Sequence[dict[str, float]] | None = None) -> Side:
    """The side with all its comparable pairs; by other values when they are given."""
    segments = side.segments
    if values is not None:
        segments = [replace(i, values=v) for i, v in zip(segments, values, strict=True)]
    a, b = np.triu_indices(len(segments), k=1)
    found = PairTable(segments, SETTINGS.pairs).compare(a, b)
    pairs = [
        Preference(
            int(a[at]), int(b[at]), float(found.margin[at]), True, float(found.target[at]), 1.0
        )
        for at in np.flatnonzero(found.decided).tolist()
    ]
    return Side(side.name, segments, pairs)


def accuracy(statistics: NDArray[np.float64], side: Side, *, below: float = 2.0) -> float:
    pairs = [pair for pair in side.preferences if abs(pair.margin) < below]
    difference = np.array([statistics[pair.a] - statistics[pair.b] for pair in pairs])
    margin = np.array([pair.margin for pair in pairs])
    return float(((np.sign(difference * margin) + 1) / 2).mean())


def judged(
    made: Candidate, labels: list[LabelledSegment]
) -> tuple[NDArray[np.float64], Side, Side]:
    """(what the network says of the held-out segments, training side, held-out side)."""
    assert made.net is not None, made.reasons
    train, heldout = split_sides(labels, SETTINGS)
    return side_statistics(PotentialFunction(made.net), heldout, SETTINGS), train, heldout


def perfect_trial(played: Played, seed: int) -> dict[str, float]:
    labels = played.labels(played.some(SEGMENTS, seed), Teacher())
    made = train_candidate(labels, settings=SETTINGS)
    statistics, train, heldout = judged(made, labels)
    whole = every_pair(heldout)
    assert made.net is not None
    likely = predictions(made.net, whole, SETTINGS)
    better = np.array([float(pair.margin > 0) for pair in whole.preferences])
    return {
        "accuracy_perfect": accuracy(statistics, whole),
        "accuracy_near": accuracy(statistics, whole, below=NEAR),
        "accuracy_one_slot": best_slot(train, whole),
        "ece": expected_calibration_error(likely, better),
        "crossfit": made.metrics.crossfit_accuracy or 0.0,
        "forward": made.metrics.forward_accuracy or 0.0,
        "passed": float(made.passed),
    }


def best_slot(train: Side, heldout: Side) -> float:
    """Held-out accuracy of the slot that ranks the training side best, with its sign."""
    known, asked = every_pair(train), np.stack([i.observations.mean(0) for i in heldout.segments])
    seen = np.stack([i.observations.mean(0) for i in train.segments]).astype(np.float64)
    scores = [accuracy(seen[:, slot], known) for slot in range(OBSERVATION_SIZE)]
    slot = int(np.argmax(np.abs(np.array(scores) - 0.5)))
    sign = 1.0 if scores[slot] > 0.5 else -1.0
    return accuracy(sign * asked[:, slot].astype(np.float64), heldout)


def flip_trial(played: Played, seed: int) -> dict[str, float]:
    labels = played.labels(played.some(SEGMENTS, seed), Teacher(TeacherKind.NOISY, 0.1, seed))
    statistics, _, heldout = judged(train_candidate(labels, settings=SETTINGS), labels)
    truths = [dict(played.truth[item.segment_id].values) for item in heldout.segments]
    return {
        "accuracy_flip10": accuracy(statistics, every_pair(heldout, truths)),
        "accuracy_flip10_labels": accuracy(statistics, every_pair(heldout)),
    }


def gains_trial(played: Played, seed: int) -> dict[str, float]:
    chosen = played.some(SEGMENTS, seed)
    labels = labelled(chosen, lambda item: dict(played.gain[item.segment_id].values))
    made = train_candidate(labels, settings=SETTINGS)
    if made.net is None:
        return {}
    statistics, _, heldout = judged(made, labels)
    whole = every_pair(heldout)
    return {"accuracy_gains": accuracy(statistics, whole)} if whole.preferences else {}


def noise_trial(played: Played, seed: int) -> bool:
    """Whether labels that are chance are rejected."""
    labels = played.labels(played.some(SMALL, seed), Teacher(TeacherKind.RANDOM, seed=seed))
    return not train_candidate(labels, settings=SETTINGS).passed


def good_trial(played: Played, seed: int) -> tuple[bool, tuple[str, ...]]:
    """Whether a candidate of truthful labels is rejected; every other one meets a champion."""
    chosen = played.some(SMALL, 1000 + seed)
    labels = played.labels(chosen, Teacher())
    champion = None
    if seed % 2:
        older = train_candidate(labels[: 2 * len(labels) // 3], settings=SETTINGS)
        champion = ChampionToBeat(PotentialFunction(older.net)) if older.net else None
    made = train_candidate(labels, settings=SETTINGS, champion=champion)
    return not made.passed, made.reasons


def planted_trial(played: Played, seed: int) -> dict[str, list[str]]:
    """Kind → reasons of the gate for a bad candidate of that kind; empty when it let one pass."""
    labels = played.labels(played.some(SMALL, 2000 + seed), Teacher())
    train, heldout = split_sides(labels, SETTINGS)
    exam = Exam.prepare(train, heldout, SETTINGS)
    good = exam.calibrated(fit_side(train, SETTINGS))
    found = {
        kind: list(exam.examine(exam.calibrated(bad)).reasons)
        for kind, bad in planted(good, train, seed).items()
    }
    found["leaking_pipeline"] = leaking_pipeline(labels)
    return found


def planted(good: RewardNet, train: Side, seed: int) -> dict[str, RewardNet]:
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(train.segments)).tolist()
    shuffled = [
        replace(item, values=train.segments[other].values)
        for item, other in zip(train.segments, order, strict=True)
    ]
    moved = [replace(i, observations=np.roll(i.observations, 17, axis=1)) for i in train.segments]
    return {
        "label_leak": taught([leaked(item) for item in train.segments]),
        "sign_flip": scaled(good, -1.0),
        "shuffled": taught(shuffled),
        "stale_layout_named": good.with_spec(good.spec.model_copy(update={"layout_version": "v0"})),
        "stale_layout_unnamed": taught(moved),
        "nan": scaled(good, float("nan")),
        "constant": scaled(good, 0.0),
    }


def taught(segments: list[LabelledSegment]) -> RewardNet:
    return fit_side(make_side("train", segments, SETTINGS, stream=0), SETTINGS)


def leaked(item: LabelledSegment) -> LabelledSegment:
    """The label in place of the observations; at run time there are observations and no label."""
    rows = np.zeros_like(item.observations)
    rows[:, LEAK_SLOTS] = [item.values[name] for name in CRITERIA]
    return replace(item, observations=rows)


class Leaky(LabelledSegment):
    """A pipeline that computes its inputs from the label, in training and in the measurement."""

    def __getattribute__(self, name: str) -> object:
        value = super().__getattribute__(name)
        if name != "observations":
            return value
        rows = np.array(value)
        rows[:, LEAK_SLOTS] = [super(Leaky, self).__getattribute__("values")[c] for c in CRITERIA]
        return rows


def leaking_pipeline(labels: list[LabelledSegment]) -> list[str]:
    """What the gate says when the service itself leaks: its control has to see it."""
    made = train_candidate([Leaky(**vars(item)) for item in labels], settings=SETTINGS)
    return [reason for reason in made.reasons if "control" in reason]


def scaled(net: RewardNet, factor: float) -> RewardNet:
    """The network with its last layer multiplied; the constants stay."""
    copy = net.with_spec(net.spec)
    last = copy.net[-1]
    with torch.no_grad():
        for values in last.parameters():
            values.mul_(factor)
    return copy


def means(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    names = sorted({name for row in rows for name in row})
    return {name: float(np.mean([row[name] for row in rows if name in row])) for name in names}


def trials(name: str, count: int, run: Trial, pool: ProcessPoolExecutor, say: Say) -> list[Any]:
    """`run` for `count` seeds, on all workers."""
    results = []
    for seed, result in enumerate(pool.map(_run, [run] * count, range(count))):
        results.append(result)
        say(f"{name} {seed + 1}/{count}: {in_words(result)}")
    return results


class Worker:
    """What a process of the pool keeps: the played segments."""

    played: Played | None = None


def _begin(played: Played) -> None:
    torch.set_num_threads(1)
    Worker.played = played


def _run(run: Trial, seed: int) -> Any:
    assert Worker.played is not None
    return run(Worker.played, seed)


def in_words(result: Any) -> str:
    if not isinstance(result, dict):
        return str(result)
    numbers = all(isinstance(value, float) for value in result.values())
    return rounded(result) if numbers else json.dumps(result)


def rounded(row: dict[str, float]) -> str:
    return ", ".join(f"{key} {value:.3f}" for key, value in row.items())


def main() -> int:
    options = parse_options()
    began = time.perf_counter()

    def say(text: str) -> None:
        print(f"[{time.perf_counter() - began:6.0f} s] {text}", flush=True)

    share: float = options.share
    noise = 20 if share >= 0.4 else 2
    played = Played(
        play_segments(options.segments, seed=options.seed, workers=options.workers, told=say)
    )
    with ProcessPoolExecutor(options.workers, initializer=_begin, initargs=(played,)) as pool:
        result = means(trials("perfect", least(6 * share), perfect_trial, pool, say))
        result |= means(trials("flip10", least(6 * share), flip_trial, pool, say))
        result |= means(trials("gains", least(3 * share), gains_trial, pool, say))
        rejected = trials("noise rejected", noise, noise_trial, pool, say)
        kinds: dict[str, list[bool]] = {}
        for found in trials("planted", least(5 * share), planted_trial, pool, say):
            for kind, reasons in found.items():
                kinds.setdefault(kind, []).append(bool(reasons))
        good = least(60 * share)
        refused = sum(bad for bad, _ in trials("good rejected", good, good_trial, pool, say))

    every = [caught for found in kinds.values() for caught in found]
    result |= {
        "noise_rejected": sum(rejected),
        "planted_rejected": sum(every) / len(every),
        "good_rejected": refused / good,
    }
    met = targets_met(result, noise)
    print(f"machine: {machine()}")
    print(
        json.dumps(
            {
                "benchmark": "bench_rm",
                **{name: round(value, 4) for name, value in result.items()},
                "planted": {kind: f"{sum(found)}/{len(found)}" for kind, found in kinds.items()},
                "noise_trials": noise,
                "good_trials": good,
                "segments": SEGMENTS,
                "segments_of_a_gate_trial": SMALL,
                "segments_played": options.segments,
                "targets": TARGETS,
                "targets_met": met,
                "share": share,
                "seed": options.seed,
                "rom_sha256": load_cartridge(None).sha256,
                "seconds": round(time.perf_counter() - began),
                "machine": machine(),
            }
        )
    )
    return 0 if met else 1


def targets_met(result: dict[str, float], noise: int) -> bool:
    return (
        result["accuracy_perfect"] >= TARGETS["accuracy_perfect"]
        and result["accuracy_flip10"] >= TARGETS["accuracy_flip10"]
        and result["noise_rejected"] == noise
        and result["planted_rejected"] >= TARGETS["planted_rejected"]
        and result["good_rejected"] < TARGETS["good_rejected"]
        and result["ece"] <= TARGETS["ece"]
    )


def least(trials: float) -> int:
    return max(1, round(trials))


def machine() -> str:
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}, torch {version('torch')}, pyboy {version('pyboy')}"
    )


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--share", type=float, default=1.0, help="of the trials; noise stays 20")
    parser.add_argument("--segments", type=int, default=1600, help="segments to play")
    parser.add_argument("--seed", type=int, default=1, help="of the play")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
