"""Votes in, agreement out: how often judges say of a pair what people say, beyond chance.

Counted is what a person said who had not seen any other word about the pair, as it was cast first.
A vote that was taken back counts here, because it is taken back with the judges' words in view:
without it, whoever gives in to the judges would raise the agreement.

Cohen's kappa is (agreed - by chance) / (1 - by chance) over the answers A, B and equal; 0 is
chance, 1 is always. Pairs are what varies independently, so they are drawn again for the interval,
each with all its votes.

Pairs that are shown because they are disputed are hard ones. What is said of pairs that were drawn
from all alike is counted apart.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.reviews import ENOUGH_VOTES, Agreement, AgreementReport
from rlaif.contracts.votes import MODEL, Lean, VoteRecord

PEOPLE = "people"
"""The row that says how far people agree with each other: no judge can be asked for more."""

CONFIDENCE = 0.95
_RESAMPLES = 2000
_SEED = 1313
_ANSWERS: tuple[Lean, ...] = ("a", "b", "equal")

Ballot = tuple[tuple[str, str], Lean, Lean]
"""A pair, and what two said of it."""


def agreement_report(records: Sequence[VoteRecord], *, teaching: int = 0) -> AgreementReport:
    """Agreement of every rater that any vote names; `teaching` pairs are learned."""
    cast = [line for line in records if line.kind == "vote" and line.choice != "skip"]
    skipped = sum(line.choice == "skip" for line in records)
    blind = _first_blind(cast)
    drawn = [line for line in blind if line.why == "uniform"]
    raters = _raters(blind)
    return AgreementReport(
        votes=len(cast),
        blind=len(blind),
        undone=sum(line.kind == "undo" for line in records),
        skipped=skipped,
        people=len({line.actor for line in cast}),
        teaching=teaching,
        raters=tuple(_against(blind, rater) for rater in raters),
        alike=tuple(_against(drawn, rater) for rater in raters),
    )


def cohens_kappa(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """`[B]` kappas of `[B, K, K]` counts; NaN where chance alone agrees always."""
    total = counts.sum(axis=(1, 2))
    share = counts / np.where(total > 0, total, 1.0)[:, None, None]
    agreed = np.trace(share, axis1=1, axis2=2)
    chance = (share.sum(axis=1) * share.sum(axis=2)).sum(axis=1)
    usable = (total > 0) & (chance < 1.0 - 1e-12)
    found: NDArray[np.float64] = np.where(
        usable, (agreed - chance) / np.where(usable, 1.0 - chance, 1.0), np.nan
    )
    return found


def agreement_of(rater: str, ballots: Sequence[Ballot]) -> Agreement:
    """Agreement of two columns of answers; equal ballots give equal figures."""
    place = {pair: at for at, pair in enumerate(sorted({pair for pair, _, _ in ballots}))}
    counts = np.zeros((len(place), 3, 3))
    for pair, one, other in ballots:
        counts[place[pair], _ANSWERS.index(one), _ANSWERS.index(other)] += 1
    kappa = _number(cohens_kappa(counts.sum(axis=0, keepdims=True))[0])
    low, high = _interval(counts) if kappa is not None else (None, None)
    return Agreement(
        rater=rater,
        votes=len(ballots),
        pairs=len(place),
        agreed=sum(one == other for _, one, other in ballots),
        kappa=kappa,
        low=low,
        high=high,
        enough=len(ballots) >= ENOUGH_VOTES,
    )


def _first_blind(cast: Iterable[VoteRecord]) -> list[VoteRecord]:
    """Of each person and pair the first vote, where it was blind."""
    first: dict[tuple[str, tuple[str, str]], VoteRecord] = {}
    for line in cast:
        first.setdefault((line.actor, line.pair), line)
    return [line for line in first.values() if line.blind]


def _raters(votes: Iterable[VoteRecord]) -> list[str]:
    """Judges by name, then those that are no single judge, then people."""
    named = {item.rater for line in votes for item in line.verdict.opinions}
    return [*sorted(named, key=_order), PEOPLE]


def _order(rater: str) -> tuple[int, str]:
    whole = ("panel", "side-by-side", "ram", MODEL)
    return (whole.index(rater) + 1 if rater in whole else 0, rater)


def _against(votes: Sequence[VoteRecord], rater: str) -> Agreement:
    if rater == PEOPLE:
        return agreement_of(rater, _among_people(votes))
    ballots: list[Ballot] = []
    for line in votes:
        said = line.verdict.of(rater)
        if said is None or said.says is None or line.choice is None or line.choice == "skip":
            continue
        # A network's two numbers are never equal; it is asked about what people could order.
        if rater == MODEL and line.choice == "equal":
            continue
        ballots.append((line.pair, line.choice, said.says))
    return agreement_of(rater, ballots)


def _among_people(votes: Iterable[VoteRecord]) -> list[Ballot]:
    """Every two people who voted on one pair; what each says is of the smaller id."""
    by_pair: dict[tuple[str, str], list[Lean]] = {}
    for line in votes:
        if line.choice is not None and line.choice != "skip":
            turned = line.pair[0] != line.a
            by_pair.setdefault(line.pair, []).append(
                _turned(line.choice) if turned else line.choice
            )
    return [
        (pair, one, other) for pair, said in by_pair.items() for one, other in combinations(said, 2)
    ]


def _turned(choice: Lean) -> Lean:
    turned: dict[Lean, Lean] = {"a": "b", "b": "a", "equal": "equal"}
    return turned[choice]


def _interval(counts: NDArray[np.float64]) -> tuple[float | None, float | None]:
    """Percentiles over pairs drawn again; unknown where every draw says the same."""
    pairs = len(counts)
    rng = np.random.default_rng(_SEED)
    drawn = rng.multinomial(pairs, np.full(pairs, 1.0 / pairs), size=_RESAMPLES)
    again = (drawn @ counts.reshape(pairs, -1)).reshape(_RESAMPLES, 3, 3)
    kappas = cohens_kappa(again)
    kappas = kappas[np.isfinite(kappas)]
    if not len(kappas) or np.ptp(kappas) == 0.0:
        return None, None
    tail = (1.0 - CONFIDENCE) / 2.0
    low, high = np.quantile(kappas, [tail, 1.0 - tail])
    return float(low), float(high)


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
