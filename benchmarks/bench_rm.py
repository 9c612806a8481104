"""Accuracy of the reward model and its gate on play of the cartridge.

    python benchmarks/bench_rm.py            or: make bench-rm
    python benchmarks/bench_rm.py --share 0.1    a tenth of the trials, as a quick test

Segments are played (`played_segments.py`) and labelled as by the judges' panel, with the simulated
expert in place of the models (`rm_labels.py`); the fit and the gate are the code of the service.
Accuracies are over all decided pairs of held-out segments of 500, means of the trials.

    paid_accuracy       ranked by the shaping reward, against the judges' labels
    paid_accuracy_truth as the first, against the expert without noise
    best_slot, ridge    ranked by the best single slot, and by a linear fit
    …_early             of play that starts before the shield is bought
    paid_accuracy_flip10    every tenth segment has the opposite label; compared with the truth
    llm_only_share      decided pairs whose order does not follow from the RAM's counters
    …_live              of 20 sequences of 12 trainings on growing labels, in how many a candidate
                        passed (`rm_sequences.py`)
    good_refused        share of good candidates that are rejected; half of them meet a champion

Prints progress, then the machine, then one line of JSON. Exit code 0 if all targets are met.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from outcome import finish, parser_of
from played_segments import EARLY, play_segments
from rm_labels import BARE, USUAL, Seen, judged, see, some
from rm_sequences import KINDS, LOOKS, looks_live

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.mock_llm.settings import Behaviour
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.labels.preferences import PairTable, Preference
from rlaif.reward_model.learning.fit.bradley_terry import fit_side
from rlaif.reward_model.learning.fit.sides import Side, split_sides
from rlaif.reward_model.learning.gate.baselines import fit_baselines
from rlaif.reward_model.learning.gate.folds import Folds
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_model.learning.training import train_candidate
from rlaif.reward_net.potential import PotentialFunction

TARGETS = {
    "paid_accuracy": 0.75,
    "paid_accuracy_early": 0.70,
    "paid_accuracy_flip10": 0.65,
    "llm_only_share": 0.30,
}
"""Minimum targets."""

MAX_GOOD_REFUSED = 0.05
FLIPPED = USUAL.model_copy(update={"hostility": 0.1})
SEGMENTS = 500
SPARE = 40
"""Additional segments, so that the sets differ."""

SETTINGS = CandidateSettings()
PARTS = 5

Say = Callable[[str], None]
Trial = Callable[["Played", int], Any]


@dataclass(frozen=True)
class Played:
    """Played segments: along the whole story, and before the shield."""

    whole: list[Seen]
    early: list[Seen]


def unpaired(name: str, segments: list[LabelledSegment]) -> Side:
    return Side(name, segments, PairTable(segments), [])


def every_pair(side: Side) -> Side:
    """The side with all its comparable pairs, including undecided ones."""
    a, b = np.triu_indices(len(side.segments), k=1)
    found = side.table.compare(a, b)
    pairs = [
        Preference(int(a[at]), int(b[at]), float(found.margin[at]), True, float(found.target[at]))
        for at in np.flatnonzero(found.decided).tolist()
    ]
    return side.with_pairs(pairs)


def accuracy(statistics: NDArray[np.float64], side: Side) -> float:
    """Share of the pairs that are ranked correctly; ties count one half."""
    difference = np.array([statistics[pair.a] - statistics[pair.b] for pair in side.preferences])
    margin = np.array([pair.margin for pair in side.preferences])
    return float(((np.sign(difference * margin) + 1) / 2).mean())


def true_side(seen: Sequence[Seen], heldout: Side) -> Side:
    """The held-out segments, labelled by the expert without noise."""
    known = {item.segment_id for item in heldout.segments}
    by_id = {i.segment_id: i for i in judged(seen, BARE) if i.segment_id in known}
    return every_pair(unpaired("truth", [by_id[i.segment_id] for i in heldout.segments]))


def baselines(train: Side, heldout: Side) -> tuple[float, float]:
    """Held-out accuracy of (best slot, ridge), chosen and fitted on the training side."""
    segments = [*train.segments, *heldout.segments]
    _, episode = np.unique([i.episode_id for i in segments], return_inverse=True)
    fold = np.where(np.arange(len(segments)) < len(train.segments), episode % PARTS, PARTS)
    known = every_pair(train)
    pairs = [pair for pair in known.preferences if fold[pair.a] == fold[pair.b]]
    side = unpaired("all", segments).with_pairs(pairs)
    found = fit_baselines(Folds(side, fold.astype(np.int64)))
    asked, last = every_pair(heldout), slice(len(train.segments), None)
    return accuracy(found.slot[last], asked), accuracy(found.ridge[last], asked)


def paid_trial(played: Played, seed: int) -> dict[str, float]:
    return _paid(some(played.whole, SEGMENTS, seed), USUAL)


def early_trial(played: Played, seed: int) -> dict[str, float]:
    found = _paid(some(played.early, SEGMENTS, seed), USUAL)
    return {f"{name}_early": value for name, value in found.items()}


def flip_trial(played: Played, seed: int) -> dict[str, float]:
    behaviour = FLIPPED.model_copy(update={"seed": seed})
    found = _paid(some(played.whole, SEGMENTS, seed), behaviour)
    return {
        "paid_accuracy_flip10": found["paid_accuracy_truth"],
        "paid_accuracy_flip10_labels": found["paid_accuracy"],
        "flip10_passed": found["passed"],
    }


def _paid(seen: Sequence[Seen], behaviour: Behaviour) -> dict[str, float]:
    labels = judged(seen, behaviour)
    made = train_candidate(labels, settings=SETTINGS)
    assert made.net is not None, made.reasons
    train, heldout = split_sides(labels, SETTINGS)
    pairs, pay = every_pair(heldout), heldout.pay(PotentialFunction(made.net))
    slot, ridge = baselines(train, heldout)
    return {
        "paid_accuracy": accuracy(pay, pairs),
        "paid_accuracy_truth": accuracy(pay, true_side(seen, heldout)),
        "best_slot": slot,
        "ridge": ridge,
        "llm_only_share": made.metrics.llm_only_share or 0.0,
        "passed": float(made.passed),
    }


def good_trial(played: Played, seed: int) -> list[str]:
    """Why a candidate trained on honest labels is rejected; every other one meets a champion."""
    pool = played.early if seed % 4 == 3 else played.whole
    labels = judged(some(pool, SEGMENTS, 1000 + seed), USUAL.model_copy(update={"seed": seed}))
    champion = None
    if seed % 2:
        older, _ = split_sides(labels[: 2 * len(labels) // 3], SETTINGS)
        net = fit_side(older, SETTINGS)
        champion = PotentialFunction(net)
    made = train_candidate(labels, settings=SETTINGS, champion=champion)
    return list(made.reasons)


def live_trial(played: Played, number: int) -> dict[str, list[int]]:
    """Kind → numbers of labels at which a candidate of a sequence was published."""
    kind = KINDS[number % len(KINDS)]
    return {kind: looks_live(played.whole, kind, number // len(KINDS))}


def means(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


def trials(name: str, count: int, run: Trial, pool: ProcessPoolExecutor, say: Say) -> list[Any]:
    """Call `run` for `count` seeds, on all workers."""
    results = []
    for seed, result in enumerate(pool.map(_run, [run] * count, range(count))):
        results.append(result)
        say(f"{name} {seed + 1}/{count}: {in_words(result)}")
    return results


class Worker:
    """State of a pool process: the played segments."""

    played: Played | None = None


def _begin(played: Played | None = None) -> None:
    torch.set_num_threads(1)
    Worker.played = played


def _run(run: Trial, seed: int) -> Any:
    assert Worker.played is not None
    return run(Worker.played, seed)


def in_words(result: Any) -> str:
    if isinstance(result, dict) and all(isinstance(value, float) for value in result.values()):
        return ", ".join(f"{key} {value:.3f}" for key, value in result.items())
    return json.dumps(result)


def play(options: argparse.Namespace, say: Say) -> Played:
    """Play both kinds and evaluate every segment once."""
    share, workers = min(1.0, options.share), options.workers
    count = max(SEGMENTS + SPARE, round(options.segments * share))
    parts = []
    for seed, until in ((options.seed, None), (options.seed + 1, EARLY)):
        segments = play_segments(count, seed=seed, workers=workers, until=until, report=say)
        with ProcessPoolExecutor(workers, initializer=_begin) as pool:
            parts.append(list(pool.map(see, segments, chunksize=16)))
    return Played(*parts)


def main() -> int:
    options = parse_options()
    began = time.perf_counter()

    def say(text: str) -> None:
        print(f"[{time.perf_counter() - began:6.0f} s] {text}", flush=True)

    share, sequences = options.share, least(20 * options.share)
    played = play(options, say)
    with ProcessPoolExecutor(options.workers, initializer=_begin, initargs=(played,)) as pool:
        result = means(trials("paid", least(4 * share), paid_trial, pool, say))
        result |= means(trials("early", least(4 * share), early_trial, pool, say))
        result |= means(trials("flip10", least(4 * share), flip_trial, pool, say))
        good = trials("good refused", least(40 * share), good_trial, pool, say)
        live = trials("live", sequences * len(KINDS), live_trial, pool, say)

    result |= {
        f"{kind}_live": float(sum(bool(found.get(kind)) for found in live)) for kind in KINDS
    }
    result["good_refused"] = sum(bool(reasons) for reasons in good) / len(good)
    met = targets_met(result)
    figures = {
        "benchmark": "bench_rm",
        **{name: round(value, 4) for name, value in result.items()},
        "good_trials": len(good),
        "sequences": sequences,
        "looks": LOOKS,
        "segments": SEGMENTS,
        "segments_played": [len(played.whole), len(played.early)],
        "targets": TARGETS,
        "targets_met": met,
        "share": share,
        "seed": options.seed,
        "rom_sha256": load_cartridge(None).sha256,
        "seconds": round(time.perf_counter() - began),
    }
    return finish(figures, met=met)


def targets_met(result: dict[str, float]) -> bool:
    return (
        all(result[name] >= least for name, least in TARGETS.items())
        and not any(result[f"{kind}_live"] for kind in KINDS)
        and result["good_refused"] < MAX_GOOD_REFUSED
    )


def least(trials: float) -> int:
    return max(1, round(trials))


def parse_options() -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="of the trials and of the play")
    parser.add_argument("--segments", type=int, default=1000, help="segments to play of each kind")
    parser.add_argument("--seed", type=int, default=1, help="of the play")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
