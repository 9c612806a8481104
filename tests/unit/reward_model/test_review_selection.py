"""Which pairs people are shown, and what judges think of a pair."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from rlaif.contracts.judging.quest import QuestProgress, Standing
from rlaif.contracts.judging.reviews import PANEL, RAM, SIDE_BY_SIDE
from rlaif.contracts.judging.scores import ScoreRecord
from rlaif.reward_model.labels.preferences import PairSettings, PairTable
from rlaif.reward_model.learning.fit.ensembles import fit_side
from rlaif.reward_model.learning.fit.sides import Side, split_sides
from rlaif.reward_model.learning.settings import CandidateSettings, FitSettings
from rlaif.reward_model.review.opinions import opinions_of_judges, opinions_of_labels
from rlaif.reward_model.review.selection import MAX_PAIRS, dispute, pairs_to_review
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.scored_segments import play, write_scored

SETTINGS = CandidateSettings(fit=FitSettings(epochs=1, members=5))


def side_of(segments) -> Side:
    return Side("some", segments, PairTable(segments, PairSettings()), [])


@pytest.fixture(scope="module")
def segments(labels):
    return labels(episodes=24, each=10, signal=True)


@pytest.fixture(scope="module")
def net(segments):
    return fit_side(split_sides(segments, SETTINGS)[0], SETTINGS)


def test_two_of_three_pairs_are_in_dispute_and_one_is_drawn_from_all_alike(segments, net):
    train, heldout = ({i.segment_id for i in s.segments} for s in split_sides(segments, SETTINGS))
    found = pairs_to_review(segments, net, (), SETTINGS)
    assert len(found) == MAX_PAIRS
    assert [pair.why == "uniform" for pair in found[:9]] == 3 * [False, False, True]
    for pair in found:
        side = heldout if pair.why == "uniform" else train
        assert {pair.first, pair.second} <= side, "a pair across the split teaches nothing"
        assert pair.first < pair.second
    disputed = [pair.information for pair in found if pair.why != "uniform"]
    assert disputed == sorted(disputed, reverse=True)
    assert min(disputed) > 0


def test_no_pair_is_shown_twice_and_none_that_is_known(segments, net):
    found = pairs_to_review(segments, net, (), SETTINGS)
    ids = [pair.ids for pair in found]
    assert len(set(ids)) == len(ids)
    assert all(first != second for first, second in ids)
    again = pairs_to_review(segments, net, [(b, a) for a, b in ids], SETTINGS)
    assert not set(ids) & {pair.ids for pair in again}
    of_segment = Counter(name for pair in found for name in pair.ids)
    assert max(of_segment.values()) == 1


def test_the_two_clips_never_show_the_same(segments, net):
    copies = [replace(item, segment_id=f"{item.segment_id}-copy") for item in segments]
    shown = {item.segment_id: item.observations.tobytes() for item in [*segments, *copies]}
    for pair in pairs_to_review([*segments, *copies], net, (), SETTINGS):
        assert shown[pair.first] != shown[pair.second]


def test_a_segment_that_a_person_scored_is_not_asked_about(segments, net):
    told = {item.segment_id for item in segments[::2]}
    scored = [replace(i, revision=1) if i.segment_id in told else i for i in segments]
    for pair in pairs_to_review(scored, net, (), SETTINGS):
        assert not told & set(pair.ids)


def test_without_a_network_and_without_doubt_pairs_are_drawn_from_all_alike(segments):
    found = pairs_to_review(segments, None, (), SETTINGS)
    assert len(found) == MAX_PAIRS
    assert {pair.why for pair in found} == {"uniform"}


def test_one_segment_makes_no_pair(segments):
    assert pairs_to_review(segments[:1], None, (), SETTINGS) == ()
    assert pairs_to_review([], None, (), SETTINGS) == ()


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


def records(store: ObjectStore, criteria) -> list[ScoreRecord]:
    """Scores of two segments; each is criterion → (judge, source, value)."""
    found = []
    for segment, told in zip(play(episodes=2, each=1, signal=True), criteria, strict=True):
        key = write_scored(store, segment).score_key
        record = ScoreRecord.model_validate_json(store.get(key))
        scores = {
            name: record.criteria[name].model_copy(
                update={"judge": judge, "source": source, "value": value, "soft": value}
            )
            for name, (judge, source, value) in told.items()
        }
        found.append(record.model_copy(update={"criteria": scores}))
    return found


def said(opinions):
    return {item.rater: item.says for item in opinions}


def test_each_judge_has_an_opinion_of_what_it_judged_in_both(file_store: ObjectStore):
    a, b = records(
        file_store,
        [
            {"progress": ("state", "votes", 1.0), "dialog": ("state", "votes", 0.0),
             "puzzle": ("puzzle", "votes", 0.5), "novelty": ("ram", "computed", 1.0)},
            {"progress": ("state", "votes", 0.5), "dialog": ("state", "votes", 0.5),
             "novelty": ("vision", "votes", 0.0)},
        ],
    )  # fmt: skip
    found = opinions_of_judges(a, b)
    # 0.4 * 0.5 - 0.2 * 0.5, of 0.6: progress counts twice as much as a dialog.
    assert found[1].margin == pytest.approx(1 / 6)
    assert said(found) == {"puzzle": None, "state": "a", "vision": None}
    assert said(opinions_of_judges(b, a))["state"] == "b"


def test_on_a_quest_the_judge_is_held_to_how_far_it_saw_the_player_come(file_store: ObjectStore):
    a, b = records(file_store, [{"progress": ("state", "votes", 1.0)}] * 2)
    start = Standing(objective=1, distance=10)
    stood, came = (
        QuestProgress(start=start, end=Standing(objective=1, distance=left), objectives=9, votes=3,
                      agreement=1.0, judge="state")
        for left in (10, 2)
    )  # fmt: skip
    a, b = a.model_copy(update={"quest": stood}), b.model_copy(update={"quest": came})
    assert said(opinions_of_judges(a, b)) == {"state": "b"}


def test_all_judges_together_the_one_who_saw_both_and_the_ram_have_an_opinion(labels):
    a, b = labels(episodes=2, each=1, signal=True)
    a = replace(a, values=dict.fromkeys(a.values, 0.5), ram={"progress": 0})
    b = replace(b, values=dict.fromkeys(b.values, 0.5), ram={"progress": 2})
    assert said(opinions_of_labels(a, b)) == {PANEL: "equal", RAM: "b"}
    shown = replace(a, preferred={b.segment_id: 1.0}), replace(b, preferred={a.segment_id: 0.0})
    assert said(opinions_of_labels(*shown))[SIDE_BY_SIDE] == "a"
    assert said(opinions_of_labels(*shown[::-1]))[SIDE_BY_SIDE] == "b"
    # What people said of the pair before is not what the judges say.
    told = zip(shown, shown[::-1], (-2.0, 2.0), strict=True)
    voted = [replace(one, voted={other.segment_id: lean}) for one, other, lean in told]
    assert opinions_of_labels(voted[0], voted[1]) == opinions_of_labels(*shown)
