"""Measures the reward model and its gate on play of the cartridge.

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
    gain_over_…_low     lower bound of the accuracy gained over baselines, at 99 % confidence; the
                        minimum of the trials
    ece                 calibration error on the held-out pairs
    llm_only_share      decided pairs whose order does not follow from the RAM's counters
    item_lowers         owned things that lower the potential on average, over all networks
    menu_raises         held-out observations where an open menu raises it
    …_live              of 20 sequences of 12 trainings on growing labels, in how many a candidate
                        passed (`rm_sequences.py`)
    bad_judges          rejected label sets of each kind of bad judge
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
from rm_sequences import KINDS, LOOKS, bad_judges, looks_live

from rlaif.contracts.game.observation import LAYOUT, QUEST_SLOTS, slot_index
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.mock_llm.settings import Behaviour
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.labels.preferences import PairTable, Preference
from rlaif.reward_model.learning.candidate import Candidate
from rlaif.reward_model.learning.fit.bradley_terry import fit_side
from rlaif.reward_model.learning.fit.sides import Side, split_sides
from rlaif.reward_model.learning.gate.baselines import fit_baselines
from rlaif.reward_model.learning.gate.evaluation import (
    expected_calibration_error,
    gain_on,
    predictions,
)
from rlaif.reward_model.learning.gate.folds import Folds
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_model.learning.training import train_candidate
from rlaif.reward_net.potential import PotentialFunction
from rlaif.reward_net.weights import Weighted

TARGETS = {
    "paid_accuracy": 0.75,
    "paid_accuracy_early": 0.70,
    "paid_accuracy_flip10": 0.65,
    "llm_only_share": 0.30,
}
"""At least so much."""

MAX_GOOD_REFUSED = 0.05
NONE_OF = ("item_lowers", "menu_raises", *(f"{kind}_live" for kind in KINDS))
ABOVE_NONE = (
    *("gain_over_slot_low", "gain_over_ridge_low"),
    *("gain_over_slot_low_early", "gain_over_ridge_low_early"),
)
MINIMA = ("gain_over_", "least_item_rise")
FLIPPED = USUAL.model_copy(update={"hostility": 0.1})
SEGMENTS = 500
SPARE = 40
"""Segments that are played besides, so that sets differ."""

SETTINGS = CandidateSettings()
MENU = slot_index("menu_open")
PARTS = 5

Say = Callable[[str], None]
Trial = Callable[["Played", int], Any]


@dataclass(frozen=True)
class Played:
    """What was played: all along the story, and before the shield."""

    whole: list[Seen]
    early: list[Seen]


def unpaired(name: str, segments: list[LabelledSegment]) -> Side:
    return Side(name, segments, PairTable(segments), [])


def every_pair(side: Side) -> Side:
    """The side with all its comparable pairs, decided or not."""
    a, b = np.triu_indices(len(side.segments), k=1)
    found = side.table.compare(a, b)
    pairs = [
        Preference(int(a[at]), int(b[at]), float(found.margin[at]), True, float(found.target[at]))
        for at in np.flatnonzero(found.decided).tolist()
    ]
    return side.with_pairs(pairs)


def accuracy(statistics: NDArray[np.float64], side: Side) -> float:
    """Share of the pairs that are ranked right; equal answers count one half."""
    difference = np.array([statistics[pair.a] - statistics[pair.b] for pair in side.preferences])
    margin = np.array([pair.margin for pair in side.preferences])
    return float(((np.sign(difference * margin) + 1) / 2).mean())


def paid(net: Weighted, side: Side) -> NDArray[np.float64]:
    """`[N]`: shaping reward of each segment."""
    return side.pay(PotentialFunction(net))


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


def surely_better(made: Candidate) -> dict[str, float]:
    """By how much the folds' networks are better than simple judges of the same folds."""
    folds = made.folds
    assert folds is not None
    side = folds.side
    simple = fit_baselines(folds)
    found = {}
    for name, statistics in (("slot", simple.slot), ("ridge", simple.ridge)):
        gain = gain_on(folds.statistics, statistics, side, seed=SETTINGS.seed)
        assert gain is not None
        found[f"gain_over_{name}_low"] = gain.low
    return found


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
    pairs, pay = every_pair(heldout), paid(made.net, heldout)
    likely = predictions(made.net, pairs)
    better = np.array([float(pair.margin > 0) for pair in pairs.preferences])
    slot, ridge = baselines(train, heldout)
    return {
        "paid_accuracy": accuracy(pay, pairs),
        "paid_accuracy_truth": accuracy(pay, true_side(seen, heldout)),
        "best_slot": slot,
        "ridge": ridge,
        **surely_better(made),
        "ece": expected_calibration_error(likely, better),
        "llm_only_share": made.metrics.llm_only_share or 0.0,
        "passed": float(made.passed),
        **counterfactuals(made.net, heldout),
    }


def counterfactuals(net: Weighted, heldout: Side) -> dict[str, float]:
    """What toggled things and menus do to the potential of held-out observations."""
    rows = np.concatenate([item.observations for item in heldout.segments])
    potential = PotentialFunction(net)
    rises = []
    for slot in QUEST_SLOTS:
        step = np.float32(1.0 / LAYOUT[slot].scale)
        without, owned = rows.copy(), rows.copy()
        without[:, slot] = np.minimum(rows[:, slot], 1.0 - step)
        owned[:, slot] = without[:, slot] + step
        rises.append(float((potential(owned) - potential(without)).mean()))
    shut, opened = rows.copy(), rows.copy()
    shut[:, MENU], opened[:, MENU] = 0.0, 1.0
    return {
        "item_lowers": float(sum(rise < 0.0 for rise in rises)),
        "least_item_rise": min(rises),
        "menu_raises": float((potential(opened) > potential(shut)).sum()),
    }


def good_trial(played: Played, seed: int) -> list[str]:
    """Why a candidate of honest labels is refused; every other one meets a champion."""
    pool = played.early if seed % 4 == 3 else played.whole
    labels = judged(some(pool, SEGMENTS, 1000 + seed), USUAL.model_copy(update={"seed": seed}))
    champion = None
    if seed % 2:
        older, _ = split_sides(labels[: 2 * len(labels) // 3], SETTINGS)
        net = fit_side(older, SETTINGS)
        champion = PotentialFunction(net)
    made = train_candidate(labels, settings=SETTINGS, champion=champion)
    return list(made.reasons)


def judges_trial(played: Played, seed: int) -> dict[str, list[str]]:
    return bad_judges(some(played.whole, SEGMENTS, 2000 + seed), seed)


def live_trial(played: Played, number: int) -> dict[str, list[int]]:
    """Kind → numbers of labels at which a sequence of it went live."""
    kind = KINDS[number % len(KINDS)]
    return {kind: looks_live(played.whole, kind, number // len(KINDS))}


def means(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """Means; but the least of `MINIMA` and the most of `NONE_OF`."""
    found = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        worst = min(values) if name.startswith(MINIMA) else max(values)
        mean = float(np.mean(values))
        found[name] = worst if name.startswith((*MINIMA, *NONE_OF)) else mean
    return found


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


def _begin(played: Played | None = None) -> None:
    torch.set_num_threads(1)
    Worker.played = played


def _run(run: Trial, seed: int) -> Any:
    assert Worker.played is not None
    return run(Worker.played, seed)


def in_words(result: Any) -> str:
    if isinstance(result, dict) and all(isinstance(value, float) for value in result.values()):
        return ", ".join(f"{key} {value:.3f}" for key, value in result.items())
    if isinstance(result, dict) and len(result) > len(KINDS):
        passed = [kind for kind, reasons in result.items() if not reasons]
        return f"{len(result) - len(passed)} of {len(result)} refused, passed: {passed}"
    return json.dumps(result)


def play(options: argparse.Namespace, say: Say) -> Played:
    """Play both kinds and look at every segment once."""
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
        bad: dict[str, list[bool]] = {}
        for found in trials("bad judges", least(3 * share), judges_trial, pool, say):
            for kind, reasons in found.items():
                bad.setdefault(kind, []).append(bool(reasons))
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
        "bad_judges": {kind: f"{sum(found)}/{len(found)}" for kind, found in bad.items()},
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
        and all(result[name] > 0.0 for name in ABOVE_NONE)
        and all(value == 0.0 for name, value in result.items() if name.startswith(NONE_OF))
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
