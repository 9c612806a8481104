"""Pairs that judges or people should compare side by side."""

from collections import Counter
from dataclasses import replace
from operator import itemgetter

import numpy as np
import pytest

from rlaif.reward_model.labels.preferences import PairTable
from rlaif.reward_model.learning.fit.bradley_terry import fit_side
from rlaif.reward_model.learning.fit.sides import Side, split_sides
from rlaif.reward_model.learning.pair_selection import (
    MAX_REVIEWED,
    MAX_WANTED,
    dispute,
    member_rises,
    pairs_to_compare,
    pairs_to_review,
)
from rlaif.reward_model.learning.settings import CandidateSettings, FitSettings

SETTINGS = CandidateSettings(fit=FitSettings(epochs=1, members=5))


def for_judges(segments, net, known=()):
    """(ids, reason) of each pair."""
    found = pairs_to_compare(net, segments, known, SETTINGS)
    assert all(pair.uncertainty > 0 for pair in found if pair.why == "uncertain")
    return [((pair.first, pair.second), pair.why) for pair in found]


def for_people(segments, net, known=()):
    found = pairs_to_review(segments, net, known, SETTINGS)
    disputed = [pair.information for pair in found if pair.why != "uniform"]
    assert disputed == sorted(disputed, reverse=True)
    return [(pair.ids, pair.why) for pair in found]


PURPOSES = pytest.mark.parametrize(
    ("select", "most", "every", "per_segment"),
    [(for_judges, MAX_WANTED, 5, 2), (for_people, MAX_REVIEWED, 3, 1)],
    ids=["judges", "people"],
)


def side_of(segments) -> Side:
    return Side("some", segments, PairTable(segments), [])


@pytest.fixture(scope="module")
def segments(labels):
    return labels(episodes=24, each=10, signal=True)


@pytest.fixture(scope="module")
def net(segments):
    return fit_side(split_sides(segments, SETTINGS)[0], SETTINGS)


@PURPOSES
def test_most_pairs_teach_and_every_nth_measures(segments, net, select, most, every, per_segment):
    train, heldout = ({i.segment_id for i in s.segments} for s in split_sides(segments, SETTINGS))
    found = select(segments, net)
    assert found == select(segments, net)
    assert len(found) == most
    for place, (ids, why) in enumerate(found):
        assert ids[0] < ids[1]
        assert set(ids) <= (heldout if why == "uniform" else train), "the pair crosses the split"
        assert (why == "uniform") == (place % every == every - 1)
    assert max(Counter(name for ids, _ in found for name in ids).values()) <= per_segment


@PURPOSES
def test_no_pair_comes_twice_and_none_that_is_known(
    segments, net, select, most, every, per_segment
):
    ids = [pair for pair, _ in select(segments, net)]
    assert len(set(ids)) == len(ids)
    again = {pair for pair, _ in select(segments, net, [(b, a) for a, b in ids])}
    assert not again & set(ids)


def test_judges_compare_no_pair_that_was_compared(segments, net):
    judged = dict(map(itemgetter(0), for_judges(segments, net)))
    known = [
        replace(i, preferred={judged[i.segment_id]: 1.0}) if i.segment_id in judged else i
        for i in segments
    ]
    assert not {ids for ids, _ in for_judges(known, net)} & set(judged.items())


@PURPOSES
def test_segments_that_a_person_scored_are_left_out(
    segments, net, select, most, every, per_segment
):
    scored = {item.segment_id for item in segments[::2]}
    some = [replace(i, revision=1) if i.segment_id in scored else i for i in segments]
    found = select(some, net)
    assert found != []
    assert not scored & {name for ids, _ in found for name in ids}


def test_no_episode_is_selected_too_often(segments, net):
    episode = {item.segment_id: item.episode_id for item in segments}
    found = for_judges(segments, net)
    of_episode = Counter(episode[name] for ids, _ in found for name in ids)
    train, _ = split_sides(segments, SETTINGS)
    assert max(of_episode.values()) <= 4 * MAX_WANTED / train.episodes + 1


def test_disputed_pairs_are_those_that_members_rank_differently(segments, net):
    train, _ = split_sides(segments, SETTINGS)
    rises = member_rises(net, train)
    assert rises.shape == (5, len(train.segments))
    place = {item.segment_id: at for at, item in enumerate(train.segments)}
    for (first, second), why in for_judges(segments, net):
        if why == "uncertain":
            difference = rises[:, place[first]] - rises[:, place[second]]
            assert 0 < (difference > 0).sum() < 5


def test_a_single_network_cannot_disagree(segments):
    alone = CandidateSettings(fit=FitSettings(epochs=1, members=1))
    single = fit_side(split_sides(segments, alone)[0], alone)
    assert pairs_to_compare(single, segments, (), alone) == ()


def test_without_network_and_doubt_pairs_are_uniform(segments):
    found = for_people(segments, None)
    assert len(found) == MAX_REVIEWED
    assert {why for _, why in found} == {"uniform"}
    assert for_people(segments[:1], None) == for_people([], None) == []


def test_judges_whose_votes_hardly_order_a_pair_put_it_in_dispute(labels):
    a, b, c = labels(episodes=3, each=1, signal=True)
    base = dict.fromkeys(a.values, 0.5)
    high = base | {"progress": 0.6}
    doubts = {"progress": 0.04}
    made = [replace(a, values=high, doubts=doubts), replace(b, values=base, doubts=doubts),
            replace(c, values=base | {"progress": 1.0})]  # fmt: skip
    information, why = dispute(side_of(made), None, np.array([[0, 1], [0, 2], [1, 2]]))
    assert why == ["judges"] * 3
    assert information[0] > information[1] > information[2] > 0
    sure = [replace(item, doubts={}) for item in made]
    assert dispute(side_of(sure), None, np.array([[0, 1]]))[0].tolist() == [0.0]


def test_a_model_that_ranks_a_pair_against_the_judges_puts_it_in_dispute(segments, net):
    pairs = np.array([(i, j) for i in range(12) for j in range(i)])
    some = segments[::20]
    values = np.linspace(0, 1, len(some)).tolist()
    graded = [replace(item, values=dict.fromkeys(item.values, value))
              for item, value in zip(some, values, strict=True)]  # fmt: skip
    _, why = dispute(side_of(graded), net, pairs)
    assert "judges_against_model" in why
    assert len(why) == len(pairs)
