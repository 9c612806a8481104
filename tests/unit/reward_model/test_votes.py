"""People's votes: the log, what they teach, and that the fit follows them."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from rlaif.contracts.judging.reviews import VoteRecord
from rlaif.reward_model.labels.duplicates import merge_duplicates
from rlaif.reward_model.labels.label_log import LabelLog
from rlaif.reward_model.labels.labels import vote_digest
from rlaif.reward_model.labels.preferences import PairTable
from rlaif.reward_model.labels.votes import (
    RIGHT,
    VoteLog,
    leans,
    valid_votes,
    with_votes,
)
from rlaif.reward_model.learning.fit.bradley_terry import fit_side
from rlaif.reward_model.learning.fit.sides import TRAIN_STREAM, Side
from rlaif.reward_model.learning.gate.evaluation import predictions
from rlaif.reward_model.learning.settings import CandidateSettings, FitSettings
from rlaif.reward_model.learning.training import train_candidate
from rlaif.storage import keys
from rlaif.storage.bounds import size_limit
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.judging.scored_segments import PROGRESS_DIM, play, write_scored

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def vote(number=1, choice="a", *, a="one", b="two", actor="ada", **more):
    return VoteRecord(
        number=number, kind="vote", actor=actor, a=a, b=b, choice=choice, created_at=NOW, **more
    )


def undo(number, undoes, *, a="one", b="two", actor="ada"):
    return VoteRecord(
        number=number, kind="undo", actor=actor, a=a, b=b, undoes=undoes, created_at=NOW
    )


def append(log: VoteLog, choice="a", **more) -> VoteRecord:
    return log.append(lambda number, _: vote(number, choice, **more))


def test_the_log_is_one_object_a_line_and_another_process_reads_the_same(file_store: ObjectStore):
    log = VoteLog(file_store)
    written = [append(log, choice) for choice in ("a", "b", "equal")]
    again = VoteLog(file_store)
    again.read_new()
    assert [line.number for line in again.records] == [1, 2, 3]
    assert again.records == log.records == tuple(written)
    assert [info.key for info in file_store.list(keys.VOTES)] == [keys.vote(n) for n in (1, 2, 3)]


def test_two_writers_never_make_one_line(file_store: ObjectStore):
    one, other = VoteLog(file_store), VoteLog(file_store)
    assert [append(log).number for log in (one, other, other, one)] == [1, 2, 3, 4]
    assert one.records == (*other.records, one.records[-1])


def test_what_was_written_is_never_written_again(file_store: ObjectStore):
    log = VoteLog(file_store)
    first = append(log)
    before = file_store.get(keys.vote(1))
    assert log.append(lambda _, known: known[0]) == first
    log.append(lambda number, _: undo(number, 1))
    assert file_store.get(keys.vote(1)) == before
    assert len(list(file_store.list(keys.VOTES))) == 2


@pytest.mark.parametrize("junk", [b"junk", bytes(size_limit(keys.vote(1)) + 1)])
def test_a_line_that_is_junk_is_left_alone_and_its_number_stays_taken(
    file_store: ObjectStore, junk: bytes
):
    file_store.put(keys.vote(1), junk)
    log = VoteLog(file_store)
    assert append(log).number == 2
    assert log.unreadable == 1
    info = file_store.head(keys.vote(1))
    assert info is not None
    assert info.size_bytes == len(junk)


def test_of_each_person_and_pair_the_last_vote_counts_unless_it_is_taken_back():
    lines = [
        vote(1, "a"),
        vote(2, "b", a="two", b="one"),  # the same opinion, shown the other way round
        vote(3, "equal", actor="bob"),
        vote(4, "b", a="three", b="four"),
        undo(5, 4, a="three", b="four"),
        vote(6, "skip", a="five", b="six"),
    ]
    assert [line.number for line in valid_votes(lines)] == [2, 3, 6]
    assert leans(valid_votes(lines)) == {("one", "two"): 1.0}
    assert leans(valid_votes([*lines, undo(7, 2)])) == {("one", "two"): 1.0}, "the first is back"
    assert leans(valid_votes([*lines, undo(7, 2), undo(8, 1)])) == {("one", "two"): 0.0}


@pytest.fixture
def two(labels):
    return labels(episodes=2, each=1, signal=True)


def compared(a, b, choices):
    votes = [
        vote(n, choice, a=a.segment_id, b=b.segment_id, actor=f"person-{n}")
        for n, choice in enumerate(choices, 1)
    ]
    table = PairTable(with_votes([a, b], votes))
    return table.compare(np.array([0]), np.array([1]))


BOTH = RIGHT**2 / (RIGHT**2 + (1 - RIGHT) ** 2)


@pytest.mark.parametrize(
    ("choices", "target", "decided"),
    [
        (["a"], RIGHT, True),
        (["b"], 1 - RIGHT, True),
        (["a", "a"], BOTH, True),
        (["a", "a", "a", "a"], BOTH, True),  # two clips stay two clips
        (["a", "b"], 0.5, False),
        (["equal"], 0.5, False),
        (["equal", "b"], 1 - RIGHT, True),
    ],
)
def test_people_decide_a_pair_whatever_the_judges_say_of_it(two, choices, target, decided):
    high, low = (
        replace(item, values=dict.fromkeys(item.values, value))
        for item, value in zip(two, (1.0, 0.0), strict=True)
    )
    low = replace(low, preferred={high.segment_id: 0.0})
    high = replace(high, preferred={low.segment_id: 1.0})
    for a, b in ((high, low), (low, high)):
        found = compared(a, b, choices)
        assert found.target[0] == pytest.approx(target)
        assert bool(found.decided[0]) is decided
        assert found.voted[0]
        assert found.side_by_side[0]
        assert np.sign(found.margin[0]) == np.sign(round(target - 0.5, 9))


def test_a_skip_and_a_vote_without_labels_have_no_effect(two):
    a, b = two
    elsewhere = vote(2, "a", a=a.segment_id, b="elsewhere")
    assert not compared(a, b, ["skip"]).voted[0]
    assert with_votes([a, b], [elsewhere]) == [a, b]
    assert vote_digest([a, b]) is None


def test_votes_about_near_duplicates_add_up(labels):
    one, other = labels(episodes=2, each=1, signal=True)
    copies = [replace(one, segment_id=f"{one.segment_id}-{at}") for at in range(2)]
    votes = [
        vote(n, "a", a=copy.segment_id, b=other.segment_id, actor=f"person-{n}")
        for n, copy in enumerate(copies, 1)
    ]
    kept = {item.segment_id: item for item in merge_duplicates(with_votes([*copies, other], votes))}
    assert kept[copies[0].segment_id].voted == {other.segment_id: 2.0}
    assert kept[other.segment_id].voted == {copies[0].segment_id: -2.0}


SETTINGS = CandidateSettings(fit=FitSettings(epochs=30, members=1))


def probability_of(segments, ids):
    """P(the first better than the second) by a network fitted to the segments."""
    side = Side.make("train", segments, SETTINGS, stream=TRAIN_STREAM)
    guesses = predictions(fit_side(side, SETTINGS), side)
    for pair, guess in zip(side.preferences, guesses.tolist(), strict=True):
        found = segments[pair.a].segment_id, segments[pair.b].segment_id
        if set(found) == set(ids):
            return guess if found == ids else 1.0 - guess
    raise AssertionError("the pair is not among those of the fit")


def test_a_network_follows_a_vote_where_the_judges_see_a_tie(labels):
    segments = labels(episodes=10, each=4, signal=True, wrong=0.0)
    nothing = [item for item in segments if item.values["progress"] == 0.0]
    ids = nothing[0].segment_id, nothing[-1].segment_id
    said = {}
    for choice in ("a", "b"):
        votes = [vote(n, choice, a=ids[0], b=ids[1], actor=f"p-{n}") for n in (1, 2)]
        said[choice] = probability_of(with_votes(segments, votes), ids)
    assert said["a"] > 0.6
    assert said["b"] < 0.4


def test_where_judges_told_positions_a_vote_still_turns_what_they_saw_as_equal(labels):
    segments = [
        replace(item, positions=tuple((10.0 * item.observations[[0, -1], PROGRESS_DIM]).tolist()))
        for item in labels(episodes=10, each=4, signal=True, wrong=0.0)
    ]
    stood = [item.segment_id for item in segments if item.positions[0] == item.positions[1]]
    votes = {c: [vote(1, c, a=stood[0], b=stood[-1])] for c in ("a", "b")}
    first, second = (
        probability_of(with_votes(segments, votes[c]), (stood[0], stood[-1])) for c in ("a", "b")
    )
    # In units of the potential, where an objective is a tenth: half screens apart.
    assert first > 0.5 > second


def test_a_candidate_names_the_votes_that_it_was_taught(labels):
    settings = CandidateSettings(fit=FitSettings(epochs=1, members=1))
    segments = labels(episodes=6, each=5, signal=True, wrong=0.0)
    a, b = segments[0], segments[1]
    one, other = (
        train_candidate(
            with_votes(segments, [vote(1, choice, a=a.segment_id, b=b.segment_id)]),
            settings=settings,
        )
        for choice in ("a", "b")
    )
    assert one.lineage is not None
    assert other.lineage is not None
    assert one.lineage.votes == other.lineage.votes == 1
    assert one.candidate_id != other.candidate_id
    assert one.lineage.vote_digest != other.lineage.vote_digest
    for candidate, choice in ((one, "a"), (other, "b")):
        (pair,) = [item for item in candidate.pairs if item.voted]
        right = (pair.a == a.segment_id) is (choice == "a")
        assert pair.target == pytest.approx(RIGHT if right else 1 - RIGHT)


SEGMENTS = play(episodes=20, each=8, signal=True, run="many")


def test_a_segment_that_was_voted_on_stays_a_label_when_others_are_dropped(file_store: ObjectStore):
    for segment in SEGMENTS:
        write_scored(file_store, segment)

    def read(votes: VoteLog | None) -> dict:
        log = LabelLog(file_store, judge_config="config-1", most_labels=20, votes=votes)
        log.read_new(full=True)
        return {item.segment_id: item for item in log.labels}

    plain = read(None)
    dropped = [item.segment_id for item in SEGMENTS if item.segment_id not in plain]
    votes = VoteLog(file_store)
    append(votes, "b", a=dropped[0], b=dropped[-1])
    held = read(votes)
    assert len(held) == len(plain) == 20
    assert held[dropped[0]].voted == {dropped[-1]: -1.0}
    assert held[dropped[-1]].voted == {dropped[0]: 1.0}
