"""How far judges and people agree: Cohen's kappa, over whom it is counted, and its interval."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from rlaif.contracts.judging.reviews import MODEL, Opinion, Verdict, VoteRecord
from rlaif.reward_model.review.agreement import (
    agreement_of,
    agreement_report,
    cohens_kappa,
)

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def vote(number, choice, *, pair=None, actor="ada", blind=True, why="networks", **said):
    one, other = pair or (f"one-{number}", f"two-{number}")
    opinions = tuple(Opinion(rater=rater.replace("_", "-"), says=s) for rater, s in said.items())
    return VoteRecord(
        number=number, kind="vote", actor=actor, a=one, b=other, choice=choice, blind=blind,
        why=why, verdict=Verdict(opinions=opinions), created_at=NOW,
    )  # fmt: skip


def undo(number, undoes):
    return VoteRecord(
        number=number, kind="undo", actor="ada", a="x", b="y", undoes=undoes, created_at=NOW
    )


def row(records, rater, rows="raters"):
    return {item.rater: item for item in getattr(agreement_report(records), rows)}[rater]


def test_kappa_is_that_of_the_textbook():
    # Of 50 pairs, 20 and 15 alike, 5 and 10 not: agreed 0.7, by chance 0.5.
    assert cohens_kappa(np.array([[[20.0, 5.0], [10.0, 15.0]]]))[0] == pytest.approx(0.4)


def test_chance_is_zero_and_the_interval_covers_it_and_narrows_with_more_pairs():
    rng = np.random.default_rng(0)
    answers = ("a", "b", "equal")
    said = enumerate(rng.integers(0, 3, (400, 2)).tolist())
    ballots: list[Any] = [((f"{n}", "x"), answers[one], answers[other]) for n, (one, other) in said]
    widths = []
    for count in (40, 400):
        found: Any = agreement_of("state", ballots[:count])
        assert found.low < 0 < found.high
        widths.append(found.high - found.low)
    assert widths[1] < widths[0] / 2
    assert agreement_of("state", ballots) == agreement_of("state", ballots)


def test_many_votes_on_one_pair_are_no_surer_than_the_pair():
    ballots: list[Any] = [
        ((f"{n}", "x"), "a" if n % 2 else "b", "a" if n % 3 else "b") for n in range(24)
    ]
    once: Any = agreement_of("state", ballots)
    often: Any = agreement_of("state", ballots * 5)
    assert often.kappa == pytest.approx(once.kappa)
    assert (often.pairs, often.votes) == (24, 120)
    assert often.high - often.low == pytest.approx(once.high - once.low)


def test_a_judge_without_an_opinion_is_not_counted_and_each_judge_has_its_own_n():
    records = [
        vote(1, "a", state="a", puzzle=None, panel="a"),
        vote(2, "b", state="a", puzzle="b", panel="a"),
        vote(3, "equal", state="equal", panel="equal"),
    ]
    assert (row(records, "state").agreed, row(records, "state").votes) == (2, 3)
    assert (row(records, "puzzle").agreed, row(records, "puzzle").votes) == (1, 1)
    assert not row(records, "state").enough
    names = [item.rater for item in agreement_report(records).raters]
    assert names == ["puzzle", "state", "panel", "people"], "judges before what is no single judge"


def test_only_what_was_said_blind_and_first_is_counted():
    records = [
        vote(1, "b", pair=("x", "y"), state="a"),
        vote(2, "a", pair=("x", "y"), state="a", blind=False),
        vote(3, "a", state="a", blind=False),
        vote(4, "skip", state="a"),
    ]
    report = agreement_report(records)
    assert (row(records, "state").votes, row(records, "state").agreed) == (1, 0)
    assert (report.votes, report.blind, report.skipped) == (3, 1, 1)


def test_giving_in_to_the_judges_afterwards_does_not_raise_the_agreement():
    records = [vote(1, "b", pair=("x", "y"), state="a"), undo(2, 1)]
    records.append(vote(3, "a", pair=("x", "y"), state="a", blind=False))
    assert (row(records, "state").votes, row(records, "state").agreed) == (1, 0)
    assert agreement_report(records).undone == 1


def test_pairs_drawn_from_all_alike_are_distinguished_from_disputed_ones():
    records = [vote(n, "a", state="b") for n in range(1, 5)]
    records += [vote(n, "a", state="a", why="uniform") for n in range(5, 8)]
    assert (row(records, "state").agreed, row(records, "state").votes) == (3, 7)
    drawn = row(records, "state", "alike")
    assert (drawn.agreed, drawn.votes) == (3, 3)


def test_a_network_is_asked_only_about_what_people_could_order():
    records = [vote(1, "equal", **{MODEL.replace("-", "_"): "a"}), vote(2, "a", reward_model="a")]
    assert (row(records, MODEL).votes, row(records, MODEL).agreed) == (1, 1)


def test_people_are_compared_with_each_other_whichever_clip_each_saw_as_a():
    records = [
        vote(1, "a", pair=("x", "y"), actor="ada"),
        vote(2, "b", pair=("y", "x"), actor="bob"),
        vote(3, "equal", pair=("x", "y"), actor="cyd"),
    ]
    found = row(records, "people")
    assert (found.votes, found.agreed, found.pairs) == (3, 1, 1)
