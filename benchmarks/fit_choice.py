"""By what is a potential best fitted? Held-out pairs ranked right, for ADR 0009.

    python benchmarks/fit_choice.py

Segments are played (`played_segments.py`) and labelled by the simulated expert without noise; its
own rises are the truth that all is compared with, also where a tenth of the labels was turned
round. Three times a quarter of the episodes is held out. Pairs whose rises differ by 0.06 of an
objective count. What is compared:

    mean            preferences teach the mean of r over a segment, as it was; ranked by that mean
    mean, paid      the same network, ranked by what the trainer pays for its potential
    preferences     the service's fit, told which of two segments rose more and not how far
    squared         the service's fit of positions, with squared errors
    positions       the service's fit of positions, with Huber's: what is used
    slot, ridge     the best single number, and a line: of rises and means; `paid`: of rises alone
    chance          a number drawn at random

Prints each figure, then the machine, then one line of JSON. Minutes on one core.
"""

import json
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import torch
from numpy.typing import NDArray
from played_segments import EARLY, play_segments
from rm_labels import BARE, judged, see

from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.labels.worth import value_of_rise
from rlaif.reward_model.learning import bradley_terry
from rlaif.reward_model.learning.baselines import simple_judges
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_model.learning.split_halves import (
    TRAIN_STREAM,
    Side,
    fit_side,
    make_side,
    side_statistics,
)
from rlaif.reward_model.learning.worth import worths
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.potential import PotentialFunction

SEGMENTS, ROUNDS, FLIPPED, NEAR = 500, 3, 0.1, 0.06
SETTINGS = CandidateSettings()
ROWS, BATCH, PASSES, STEP = 8, 64, 60, 3e-3
"""Of the fit of means, as it was."""

Float64 = NDArray[np.float64]


def main() -> int:
    torch.set_num_threads(1)
    began = time.perf_counter()
    found: dict[str, dict[str, float]] = {}
    for play, until in (("all", None), ("early", EARLY)):
        seen = [see(item) for item in play_segments(SEGMENTS, seed=11, until=until)]
        known = [item for item in judged(seen, BARE) if item.positions is not None]
        for flipped in (0.0, FLIPPED):
            rounds = [one_round(known, flipped, seed) for seed in range(ROUNDS)]
            name = f"{play}, {flipped:.0%} turned"
            found[name] = {
                key: round(float(np.mean([each[key] for each in rounds])), 3) for key in rounds[0]
            }
            for key, value in found[name].items():
                each = " ".join(f"{one[key]:.3f}" for one in rounds)
                print(f"{name:22} {key:12} {value:.3f}   rounds {each}", flush=True)
    print(f"{platform.machine()}, Python {platform.python_version()}, torch {torch.__version__}")
    print(json.dumps({**found, "seconds": round(time.perf_counter() - began)}))
    return 0


def one_round(known: Sequence[LabelledSegment], flipped: float, seed: int) -> dict[str, float]:
    """Option → share of the held-out pairs that it ranks as the truth does."""
    rng = np.random.default_rng(seed)
    episodes = sorted({item.episode_id for item in known})
    fold_of = {name: at % 4 for at, name in enumerate(rng.permutation(episodes).tolist())}
    heldout = [item for item in known if fold_of[item.episode_id] == 0]
    told = [
        turned(item) if rng.random() < flipped else item
        for item in known
        if fold_of[item.episode_id] != 0
    ]
    settings = replace(SETTINGS, seed=seed)
    train = make_side("train", told, settings, stream=TRAIN_STREAM)
    asked = Side("asked", heldout, [])
    unplaced = [replace(item, positions=None) for item in told]
    mean = PotentialFunction(fit_of_means(train, settings))
    preferred = fit_side(make_side("train", unplaced, settings, stream=TRAIN_STREAM), settings)
    with patch.object(bradley_terry, "_EXACT", 1e3):
        squared = fit_side(train, settings)
    placed = fit_side(train, settings)
    said: dict[str, Float64] = {
        "mean": mean(np.concatenate(rows_of(heldout))).reshape(-1, ROWS).mean(axis=1, dtype=float),
        "mean, paid": side_statistics(mean, asked, settings),
        "preferences": side_statistics(PotentialFunction(preferred), asked, settings),
        "squared": side_statistics(PotentialFunction(squared), asked, settings),
        "positions": side_statistics(PotentialFunction(placed), asked, settings),
        **simple(told, heldout, fold_of, settings),
        "chance": rng.random(len(heldout)),
    }
    return {name: ranked_right(values, heldout) for name, values in said.items()}


def turned(item: LabelledSegment) -> LabelledSegment:
    """The label of who took the way back for the way there."""
    assert item.positions is not None
    first, last = item.positions
    values = {**item.values, "progress": value_of_rise(first - last)}
    return replace(item, positions=(last, first), values=values)


def ranked_right(values: Float64, segments: Sequence[LabelledSegment]) -> float:
    """Of all pairs that the truth tells apart; an equal answer is half right."""
    rises = np.array([last - first for first, last in (i.positions or (0, 0) for i in segments)])
    a, b = np.triu_indices(len(rises), 1)
    differ = rises[a] - rises[b]
    told = np.abs(differ) >= NEAR
    return float(((np.sign((values[a] - values[b]) * differ)[told] + 1.0) / 2.0).mean())


def simple(
    told: list[LabelledSegment],
    heldout: list[LabelledSegment],
    fold_of: dict[str, int],
    settings: CandidateSettings,
) -> dict[str, Float64]:
    """What one number and a line say of the held-out part, from the three others."""
    segments = [*heldout, *told]
    fold = np.array([fold_of[item.episode_id] for item in segments], np.int64)
    pairs = []
    for part in range(4):
        places = np.flatnonzero(fold == part)
        side = make_side("part", [segments[at] for at in places], settings, stream=TRAIN_STREAM)
        pairs += [
            replace(pair, a=int(places[pair.a]), b=int(places[pair.b])) for pair in side.preferences
        ]
    worth = worths(Side("all", segments, []), settings)
    judges = simple_judges(segments, worth, pairs, fold)
    count = len(heldout)
    return {
        "slot": judges.slot[:count],
        "slot, paid": judges.paid_slot[:count],
        "ridge": judges.ridge[:count],
        "ridge, paid": judges.paid_ridge[:count],
    }


def fit_of_means(side: Side, settings: CandidateSettings) -> RewardNet:
    """Bradley-Terry on the mean of r over a segment, all inputs read: what was learned before."""
    rows = torch.from_numpy(rows_of(side.segments))
    spec = RewardNetSpec(
        layout_version=side.segments[0].layout_version,
        inputs=rows.shape[2],
        activation=settings.fit.activation,
        members=settings.fit.members,
    )
    generator = torch.Generator().manual_seed(settings.seed)
    net = RewardNet(spec, generator=generator).train().requires_grad_(True)
    worth = torch.from_numpy(worths(side, settings).astype(np.float32))
    steps = PASSES * -(-len(rows) // BATCH)
    optimiser = torch.optim.AdamW(net.parameters(), lr=STEP, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3 * STEP, total_steps=steps)
    for _ in range(PASSES):
        for chosen in torch.split(torch.randperm(len(rows), generator=generator), BATCH):
            logits = net.member_logits(rows[chosen].flatten(0, 1))
            means = logits.view(spec.members, len(chosen), ROWS).mean(dim=2)
            a, b = torch.triu_indices(len(chosen), len(chosen), 1)
            margin = worth[chosen[a]] - worth[chosen[b]]
            decided = margin.abs() >= settings.pairs.tie_band
            probability = torch.sigmoid(means[:, a[decided]] - means[:, b[decided]])
            target = (margin[decided] > 0).float().expand_as(probability)
            mixed = 0.95 * probability + 0.025
            loss = torch.nn.functional.binary_cross_entropy(mixed, target) * spec.members
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            schedule.step()
    return net.eval().requires_grad_(False)


def rows_of(segments: Sequence[LabelledSegment]) -> NDArray[np.float32]:
    """`[N, ROWS, inputs]`: evenly spaced observations of each segment."""
    places = np.linspace(0, len(segments[0].observations) - 1, ROWS).round().astype(np.int64)
    return np.stack([item.observations[places] for item in segments])


if __name__ == "__main__":
    sys.exit(main())
