"""Which segments are captured: a fair share by a coin, the rest for what they show."""

from collections import Counter
from functools import partial

import numpy as np
import pytest

from rlaif.trainer.play.capturing.selection import FirstSightings, SegmentSelector, SelectionRules

NOTHING = FirstSightings()


class Play:
    """A runner whose segments start and end one after the other.

    Attributes:
        captured: (episode, reason) of each capture, in order.
    """

    def __init__(self, share: float = 0.3, *, envs: int = 4, episode_segments: int = 20) -> None:
        rules = SelectionRules(share, episode_segments)
        self.selector = SegmentSelector(rules, np.random.default_rng(5))
        self.envs, self.episode_segments = envs, episode_segments
        self.captured: list[tuple[str, str]] = []
        self.rng = np.random.default_rng(6)

    def fragment(self, number: int, quota: int, *, news: float = 0.0, unsure: bool = False) -> int:
        """Every environment plays one segment; returns how many were captured.

        Args:
            number: Of the fragment.
            quota: Of the fragment.
            news: Share of the segments that show a milestone that is new to the run.
            unsure: There is an ensemble that disagrees at random.
        """
        before = len(self.captured)
        self.selector.begin_fragment(quota, starting=self.envs, pending=0)
        for n in range(self.envs):
            episode = f"e{n}-{number // self.episode_segments}"
            score = float(self.rng.random())
            chosen = self.selector.at_start(episode, partial(float, score) if unsure else None)
            provable = chosen is not None or self.selector.looks_back(episode)
            shown = FirstSightings((), (f"m{number}-{n}",)) if self.rng.random() < news else NOTHING
            reason = self.selector.at_end(episode, chosen, shown, provable=provable)
            if reason is not None:
                self.captured.append((episode, reason))
        return len(self.captured) - before


def test_at_least_the_uniform_share_is_drawn_whatever_the_segments_show():
    play = Play(0.3)
    for number in range(3000):
        play.fragment(number, 2, news=0.9, unsure=True)
        reasons = Counter(reason for _, reason in play.captured)
        others = reasons.total() - reasons["uniform"]
        assert others <= reasons["uniform"] * 0.7 / 0.3 + 3
    assert reasons["milestone"] > 100
    assert reasons["disagreement"] > 10
    assert 0.2 <= reasons["uniform"] / reasons.total() <= 0.6


def test_thirty_captures_in_a_row_span_ten_episodes():
    play = Play(envs=2, episode_segments=20)
    for number in range(4000):
        play.fragment(number, 2, news=0.5, unsure=True)
    assert len(play.captured) > 300
    for start in range(len(play.captured) - 29):
        assert len({episode for episode, _ in play.captured[start : start + 30]}) >= 10


def test_the_uniform_share_does_not_prefer_a_part_of_the_episode():
    """Though three of an episode are the most; its last fifth may miss a little."""
    play, at = Play(envs=1, episode_segments=20), Counter[int]()
    for number in range(60_000):
        if play.fragment(number, 2):
            at[number % 20 // 4] += 1
    drawn = [at[fifth] for fifth in range(5)]
    assert sum(drawn) > 2000
    assert min(drawn) > 0.85 * max(drawn)


def test_segments_that_have_not_ended_are_taken_off_the_next_quota():
    selector = SegmentSelector(SelectionRules(1.0, 1), np.random.default_rng(0))
    selector.begin_fragment(2, starting=1, pending=0)
    assert [selector.at_start(f"e{n}", None) for n in range(3)] == ["uniform", "uniform", None]
    selector.begin_fragment(2, starting=1, pending=2)
    assert selector.at_start("e3", None) is None


@pytest.mark.parametrize(
    ("news", "reason", "times"),
    [(FirstSightings((7,), ()), "new room", 3), (FirstSightings((), ("sword",)), "milestone", 10)],
)
def test_what_was_captured_some_times_is_nothing_new(news, reason, times):
    selector = SegmentSelector(SelectionRules(0.2, 10_000), np.random.default_rng(0))
    selector.taken["uniform"] = 1000
    seen = []
    for n in range(20):
        selector.begin_fragment(8, starting=1, pending=0)
        seen.append(selector.at_end(f"e{n}", None, news, provable=True))
    assert seen == [reason] * times + [None] * (20 - times)


@pytest.mark.parametrize(("ranked", "share"), [(True, 0.3), (False, 0.8)])
def test_the_coin_takes_most_of_the_budget_until_an_ensemble_can_rank(ranked, share):
    selector = SegmentSelector(SelectionRules(0.3, 1), np.random.default_rng(0))
    chosen = 0
    for n in range(1000):
        selector.begin_fragment(10, starting=100, pending=0, ranked=ranked)
        chosen += sum(selector.at_start(f"{n}-{k}", None) == "uniform" for k in range(100))
    assert chosen == pytest.approx(1000 * 10 * share, rel=0.05)


def test_a_milestone_is_named_before_a_room():
    selector = SegmentSelector(SelectionRules(), np.random.default_rng(0))
    selector.begin_fragment(8, starting=8, pending=0)
    news = FirstSightings((7,), ("sword",))
    assert selector.at_end("e", None, news, provable=True) == "milestone"
    assert selector.at_end("f", "uniform", news, provable=True) == "uniform"
    assert selector.at_end("g", None, news, provable=False) is None


def test_disagreement_above_that_of_the_others_is_chosen():
    selector = SegmentSelector(SelectionRules(0.2, 10_000), np.random.default_rng(0))
    selector.taken["uniform"] = 1000
    scores = np.random.default_rng(1).random(600)
    chosen = []
    for n, score in enumerate(scores):
        selector.begin_fragment(1, starting=10, pending=0)
        if selector.at_start(f"e{n}", partial(float, score)) == "disagreement":
            chosen.append(score)
    assert 20 < len(chosen) < 100
    assert np.mean(chosen) > 0.9


def test_another_reward_model_begins_with_no_idea_of_what_is_much():
    selector = SegmentSelector(SelectionRules(0.2, 10_000), np.random.default_rng(0))
    selector.taken["uniform"] = 1000
    for n in range(100):
        selector.begin_fragment(1, starting=10, pending=0)
        selector.at_start(f"e{n}", lambda: 0.001)
    selector.forget_scores()
    for n in range(19):
        selector.begin_fragment(5, starting=10, pending=0)
        assert selector.at_start(f"f{n}", lambda: 9.0) is None


def test_a_resumed_selector_knows_what_was_shown():
    one = Play()
    for number in range(50):
        one.fragment(number, 2, news=0.5)
    two = SegmentSelector(SelectionRules(), np.random.default_rng(0))
    two.load_state_dict(one.selector.state_dict())
    assert two.state_dict() == one.selector.state_dict()
    assert two.taken.total() == len(one.captured) > 10
