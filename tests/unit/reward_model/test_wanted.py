"""Which pairs the reward model wants compared."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from rlaif.contracts.comparisons import WantedComparisons
from rlaif.reward_model.champions.wanted_list import WantedList
from rlaif.reward_model.labels.split import split_episodes
from rlaif.reward_model.labels.wanted import MOST_PAIRS, Answers, uncertainty, wanted_pairs
from rlaif.reward_model.learning.asking import member_rises, pairs_to_ask
from rlaif.reward_model.learning.candidate import split_sides
from rlaif.reward_model.learning.settings import CandidateSettings, FitSettings
from rlaif.reward_model.learning.split_halves import fit_side
from rlaif.storage import keys
from rlaif.storage.file import FileStore
from rlaif.storage.ports import StoreUnavailableError

SETTINGS = CandidateSettings(fit=FitSettings(epochs=1, members=5))
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def segments(labels):
    return labels(episodes=24, each=10, signal=True)


def sides(segments):
    """(train, held out) as the split has them."""
    split = split_episodes((i.episode_id for i in segments), heldout_fraction=0.25)
    return tuple(
        [item for item in segments if item.episode_id in side]
        for side in (split.train, split.heldout)
    )


def answers(segments, *, seed=0, members=5):
    rng = np.random.default_rng([seed, len(segments)])
    return Answers(segments, rng.normal(size=(members, len(segments))))


def ask(segments, *, compared=(), seed=0):
    train, heldout = sides(segments)
    rng = np.random.default_rng(seed)
    return wanted_pairs(answers(train), answers(heldout), compared, rng)


def test_members_that_agree_want_nothing_and_half_against_half_wants_most():
    differences = np.array([[1, 1, 1, 0], [1, 1, -1, 0], [1, 1, 1, 0], [1, -1, -1, 0]])
    assert uncertainty(differences).tolist() == [0.0, 0.5, 1.0, 0.0]


def test_a_member_to_whom_both_are_alike_has_no_say():
    assert uncertainty(np.array([[1.0], [0.0], [0.0], [0.0]])).tolist() == [0.0]


def test_four_of_five_pairs_teach_and_every_fifth_measures(segments):
    train, heldout = ({item.segment_id for item in side} for side in sides(segments))
    found = ask(segments)
    assert len(found) == MOST_PAIRS
    teaching = [pair for pair in found if pair.why == "uncertain"]
    measuring = [pair for pair in found if pair.why == "uniform"]
    assert len(measuring) == pytest.approx(MOST_PAIRS / 5, abs=1)
    assert {found[at].why for at in range(4, 60, 5)} == {"uniform"}
    # No pair crosses the split: it could neither teach nor measure.
    assert all({pair.first, pair.second} <= train for pair in teaching)
    assert all({pair.first, pair.second} <= heldout for pair in measuring)


def test_pairs_to_teach_are_the_most_disputed_and_those_to_measure_are_not_chosen_by_dispute(
    segments,
):
    found = ask(segments)
    teaching = [pair.uncertainty for pair in found if pair.why == "uncertain"]
    measuring = [pair.uncertainty for pair in found if pair.why == "uniform"]
    assert min(teaching) == pytest.approx(0.8)
    assert min(measuring) < 0.8


def test_no_pair_comes_twice_and_none_that_was_compared(segments):
    first = ask(segments)
    ids = [(pair.first, pair.second) for pair in first]
    assert len(set(ids)) == len(ids)
    assert all(a < b for a, b in ids)
    again = {(pair.first, pair.second) for pair in ask(segments, compared=ids)}
    assert not again & set(ids)


def test_no_segment_and_no_episode_comes_too_often(segments):
    found = ask(segments)
    of_segment = Counter(name for pair in found for name in (pair.first, pair.second))
    episode = {item.segment_id: item.episode_id for item in segments}
    of_episode = Counter(episode[name] for name in of_segment.elements())
    assert max(of_segment.values()) <= 2
    train_share = 2 * MOST_PAIRS / len({i.episode_id for i in sides(segments)[0]})
    assert max(of_episode.values()) <= 2 * train_share + 1


def test_the_newest_come_more_often_than_the_oldest(labels):
    many = labels(episodes=60, each=20, signal=True)
    train, _ = sides(many)
    order = sorted(train, key=lambda item: item.env_step)
    newest = {item.segment_id for item in order[len(order) // 2 :]}
    found = [pair for pair in ask(many) if pair.why == "uncertain"]
    ends = [name for pair in found for name in (pair.first, pair.second)]
    assert np.mean([name in newest for name in ends]) > 0.65


def test_where_all_say_nearly_nothing_there_is_no_dispute(segments):
    train, heldout = sides(segments)
    made = answers(train)
    # The first half of the segments did nothing; the members' words of it are rounding.
    quiet = np.arange(len(train)) < len(train) // 2
    rises = np.where(quiet, 1e-9 * made.rises, made.rises)
    found = wanted_pairs(Answers(train, rises), answers(heldout), (), np.random.default_rng(0))
    still = {item.segment_id for item, at in zip(train, quiet, strict=True) if at}
    assert not [pair for pair in found if {pair.first, pair.second} <= still]


def test_what_a_person_labelled_is_not_asked_of_judges(segments):
    by_hand = [replace(item, revision=1) for item in segments]
    assert ask(by_hand) == ()


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_segments_give_few_pairs(labels, count):
    few = labels(episodes=1, each=2, signal=True)[:count]
    assert len(wanted_pairs(answers(few), answers([]), (), np.random.default_rng(0))) <= 1


def test_a_fitted_ensemble_asks_about_what_its_members_dispute(segments):
    train, _ = split_sides(segments, SETTINGS)
    net = fit_side(train, SETTINGS)
    found = pairs_to_ask(net, segments, (), SETTINGS)
    assert found == pairs_to_ask(net, segments, (), SETTINGS)
    rises = member_rises(net, train.segments)
    assert rises.shape == (5, len(train.segments))
    place = {item.segment_id: at for at, item in enumerate(train.segments)}
    for pair in found:
        if pair.why == "uncertain":
            difference = rises[:, place[pair.first]] - rises[:, place[pair.second]]
            assert 0 < (difference > 0).sum() < 5


def test_a_single_network_cannot_disagree(segments):
    alone = CandidateSettings(fit=FitSettings(epochs=1, members=1))
    net = fit_side(split_sides(segments, alone)[0], alone)
    assert pairs_to_ask(net, segments, (), alone) == ()


def test_the_list_is_replaced_as_a_whole_and_its_loss_is_harmless(file_store, segments, tmp_path):
    wanted = WantedList(file_store, now=lambda: NOW)
    pairs = ask(segments)
    assert wanted.write("config-1", pairs)
    assert wanted.write("config-1", pairs[:3])
    stored = WantedComparisons.model_validate_json(file_store.get(keys.WANTED_COMPARISONS))
    assert (stored.judge_config, stored.pairs) == ("config-1", pairs[:3])

    class Down(FileStore):
        def put(self, key, data, *, content_type=""):
            raise StoreUnavailableError("down")

    assert WantedList(Down(tmp_path), now=lambda: NOW).write("config-1", pairs) is False
