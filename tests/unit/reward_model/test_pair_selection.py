"""Pairs that judges should compare side by side."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from rlaif.contracts.judging.comparisons import WantedComparisons
from rlaif.reward_model.labels.comparisons import write_wanted
from rlaif.reward_model.learning.fit.ensembles import fit_side
from rlaif.reward_model.learning.fit.sides import split_sides
from rlaif.reward_model.learning.pair_selection import (
    MAX_WANTED,
    clear,
    disagreement,
    member_rises,
    pairs_to_compare,
)
from rlaif.reward_model.learning.settings import CandidateSettings, FitSettings
from rlaif.storage import keys
from rlaif.storage.file import FileStore
from rlaif.storage.ports import StoreUnavailableError

SETTINGS = CandidateSettings(fit=FitSettings(epochs=1, members=5))
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def segments(labels):
    return labels(episodes=24, each=10, signal=True)


@pytest.fixture(scope="module")
def net(segments):
    return fit_side(split_sides(segments, SETTINGS)[0], SETTINGS)


def test_disagreement_is_0_for_equal_members_and_1_for_half_against_half():
    differences = np.array([[1, 1, 1, 0], [1, 1, -1, 0], [1, 1, 1, 0], [1, -1, -1, 0]])
    assert disagreement(differences).tolist() == [0.0, 0.5, 1.0, 0.0]


def test_a_member_without_a_preference_does_not_count():
    assert disagreement(np.array([[1.0], [0.0], [0.0], [0.0]])).tolist() == [0.0]


def test_where_all_members_are_near_zero_there_is_no_dispute():
    differences = np.array([[1e-9, 1.0, -1.0], [-1e-9, -1.0, 1.0]])
    assert clear(differences).tolist() == [False, True, True]


def test_four_of_five_pairs_teach_and_every_fifth_measures(segments, net):
    train, heldout = ({i.segment_id for i in s.segments} for s in split_sides(segments, SETTINGS))
    found = pairs_to_compare(net, segments, (), SETTINGS)
    assert found == pairs_to_compare(net, segments, (), SETTINGS)
    assert len(found) == MAX_WANTED
    teaching = [pair for pair in found if pair.why == "uncertain"]
    measuring = [pair for pair in found if pair.why == "uniform"]
    assert len(measuring) == pytest.approx(MAX_WANTED / 5, abs=1)
    assert {found[at].why for at in range(4, 60, 5)} == {"uniform"}
    # A pair across the split could neither teach nor measure.
    assert all({pair.first, pair.second} <= train for pair in teaching)
    assert all({pair.first, pair.second} <= heldout for pair in measuring)


def test_no_pair_comes_twice_and_none_that_was_compared(segments, net):
    ids = [(pair.first, pair.second) for pair in pairs_to_compare(net, segments, (), SETTINGS)]
    assert len(set(ids)) == len(ids)
    assert all(a < b for a, b in ids)
    again = {(p.first, p.second) for p in pairs_to_compare(net, segments, ids, SETTINGS)}
    assert not again & set(ids)
    judged = {a: b for a, b in ids}
    known = [
        replace(i, preferred={judged[i.segment_id]: 1.0}) if i.segment_id in judged else i
        for i in segments
    ]
    third = {(p.first, p.second) for p in pairs_to_compare(net, known, (), SETTINGS)}
    assert not third & set(judged.items())


def test_no_segment_and_no_episode_comes_too_often(segments, net):
    found = pairs_to_compare(net, segments, (), SETTINGS)
    of_segment = Counter(name for pair in found for name in (pair.first, pair.second))
    episode = {item.segment_id: item.episode_id for item in segments}
    of_episode = Counter(episode[name] for name in of_segment.elements())
    assert max(of_segment.values()) <= 2
    train, _ = split_sides(segments, SETTINGS)
    assert max(of_episode.values()) <= 4 * MAX_WANTED / train.episodes + 1


def test_segments_that_a_person_scored_are_left_out(segments, net):
    by_hand = [replace(item, revision=1) for item in segments]
    assert pairs_to_compare(net, by_hand, (), SETTINGS) == ()


def test_disputed_pairs_are_those_that_members_rank_differently(segments, net):
    train, _ = split_sides(segments, SETTINGS)
    rises = member_rises(net, train)
    assert rises.shape == (5, len(train.segments))
    place = {item.segment_id: at for at, item in enumerate(train.segments)}
    for pair in pairs_to_compare(net, segments, (), SETTINGS):
        if pair.why == "uncertain":
            difference = rises[:, place[pair.first]] - rises[:, place[pair.second]]
            assert 0 < (difference > 0).sum() < 5


def test_a_single_network_cannot_disagree(segments):
    alone = CandidateSettings(fit=FitSettings(epochs=1, members=1))
    single = fit_side(split_sides(segments, alone)[0], alone)
    assert pairs_to_compare(single, segments, (), alone) == ()


def test_the_list_is_replaced_as_a_whole_and_its_loss_is_harmless(
    file_store, segments, net, tmp_path
):
    pairs = pairs_to_compare(net, segments, (), SETTINGS)
    for written in (pairs, pairs[:3]):
        write_wanted(file_store, "config-1", written, NOW)
    stored = WantedComparisons.model_validate_json(file_store.get(keys.WANTED_COMPARISONS))
    assert (stored.judge_config, stored.pairs) == ("config-1", pairs[:3])

    class Down(FileStore):
        def put(self, key, data, *, content_type=""):
            raise StoreUnavailableError("down")

    write_wanted(Down(tmp_path), "config-1", pairs, NOW)
