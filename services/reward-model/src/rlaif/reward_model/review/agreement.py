"""Agreement of judges with people, beyond chance: Cohen's kappa over the answers A, B and equal.

Counted is each person's first vote on a pair if it was blind, cast before any other opinion was
shown. Votes that were withdrawn later count here too; otherwise yielding to the judges would raise
the agreement. The interval resamples pairs, each with all its votes. Disputed pairs are hard, so
uniformly drawn pairs are also reported on their own.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.judging.reviews import (
    ENOUGH_VOTES,
    MODEL,
    Agreement,
    AgreementReport,
    Lean,
    VoteRecord,
)

PEOPLE = "people"
"""The row with the agreement of people with each other, which bounds that of judges."""

_CONFIDENCE = 0.95
_RESAMPLES = 2000
_SEED = 1313
_ANSWERS: tuple[Lean, ...] = ("a", "b", "equal")
_COMBINED = ("panel", "side-by-side", "ram", MODEL)

Answers = tuple[tuple[str, str], Lean, Lean]
"""A pair and two answers about it."""


def agreement_report(records: Sequence[VoteRecord], *, teaching: int = 0) -> AgreementReport:
    """Agreement of every rater in the votes; `teaching` pairs are part of the labels."""
    cast = [line for line in records if line.kind == "vote" and line.choice != "skip"]
    first: dict[tuple[str, tuple[str, str]], VoteRecord] = {}
    for line in cast:
        first.setdefault((line.actor, line.pair), line)
    blind = [line for line in first.values() if line.blind]
    uniform = [line for line in blind if line.why == "uniform"]
    named = {item.rater for line in blind for item in line.verdict.opinions}
    raters = [*sorted(named, key=_order), PEOPLE]
    return AgreementReport(
        votes=len(cast),
        blind=len(blind),
        undone=sum(line.kind == "undo" for line in records),
        skipped=sum(line.choice == "skip" for line in records),
        people=len({line.actor for line in cast}),
        teaching=teaching,
        raters=tuple(agreement_of(rater, _answers(blind, rater)) for rater in raters),
        alike=tuple(agreement_of(rater, _answers(uniform, rater)) for rater in raters),
    )


def cohens_kappa(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """`[B]` kappas of `[B, K, K]` counts; NaN where chance alone always agrees."""
    total = counts.sum(axis=(1, 2))
    share = counts / np.where(total > 0, total, 1.0)[:, None, None]
    agreed = np.trace(share, axis1=1, axis2=2)
    chance = (share.sum(axis=1) * share.sum(axis=2)).sum(axis=1)
    usable = (total > 0) & (chance < 1.0 - 1e-12)
    found: NDArray[np.float64] = np.where(
        usable, (agreed - chance) / np.where(usable, 1.0 - chance, 1.0), np.nan
    )
    return found


def agreement_of(rater: str, answers: Sequence[Answers]) -> Agreement:
    """Agreement of two columns of answers."""
    place = {pair: at for at, pair in enumerate(sorted({pair for pair, _, _ in answers}))}
    counts = np.zeros((len(place), 3, 3))
    for pair, one, other in answers:
        counts[place[pair], _ANSWERS.index(one), _ANSWERS.index(other)] += 1
    kappa = float(cohens_kappa(counts.sum(axis=0, keepdims=True))[0])
    known = bool(np.isfinite(kappa))
    low, high = _interval(counts) if known else (None, None)
    return Agreement(
        rater=rater,
        votes=len(answers),
        pairs=len(place),
        agreed=sum(one == other for _, one, other in answers),
        kappa=kappa if known else None,
        low=low,
        high=high,
        enough=len(answers) >= ENOUGH_VOTES,
    )


def _order(rater: str) -> tuple[int, str]:
    return (_COMBINED.index(rater) + 1 if rater in _COMBINED else 0, rater)


def _answers(votes: Sequence[VoteRecord], rater: str) -> list[Answers]:
    if rater == PEOPLE:
        return _among_people(votes)
    found: list[Answers] = []
    for line in votes:
        opinion = line.verdict.of(rater)
        if opinion is None or opinion.says is None or line.choice is None or line.choice == "skip":
            continue
        # A network's two numbers are never equal, so it is compared on ordered pairs only.
        if not (rater == MODEL and line.choice == "equal"):
            found.append((line.pair, line.choice, opinion.says))
    return found


def _among_people(votes: Iterable[VoteRecord]) -> list[Answers]:
    """Every two people who voted on one pair, in the order of the segment ids."""
    flipped: dict[Lean, Lean] = {"a": "b", "b": "a", "equal": "equal"}
    by_pair: dict[tuple[str, str], list[Lean]] = {}
    for line in votes:
        if line.choice is not None and line.choice != "skip":
            choice = flipped[line.choice] if line.pair[0] != line.a else line.choice
            by_pair.setdefault(line.pair, []).append(choice)
    return [
        (pair, one, other)
        for pair, choices in by_pair.items()
        for one, other in combinations(choices, 2)
    ]


def _interval(counts: NDArray[np.float64]) -> tuple[float | None, float | None]:
    """Bootstrap percentiles over pairs; None where every resample gives the same."""
    pairs = len(counts)
    rng = np.random.default_rng(_SEED)
    drawn = rng.multinomial(pairs, np.full(pairs, 1.0 / pairs), size=_RESAMPLES)
    kappas = cohens_kappa((drawn @ counts.reshape(pairs, -1)).reshape(_RESAMPLES, 3, 3))
    kappas = kappas[np.isfinite(kappas)]
    if not len(kappas) or np.ptp(kappas) == 0.0:
        return None, None
    tail = (1.0 - _CONFIDENCE) / 2.0
    low, high = np.quantile(kappas, [tail, 1.0 - tail])
    return float(low), float(high)
