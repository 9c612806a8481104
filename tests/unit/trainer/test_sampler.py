"""Pending fragments when a run is to stop: no wait for them, and no loss of completed ones."""

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest

from rlaif.trainer.learner.runners.pool import RunnerPool
from rlaif.trainer.learner.runners.runner import StopAskedError
from rlaif.trainer.learner.runners.sampler import FragmentSampler
from rlaif.trainer.play.capturing.recorder import CaptureContext


class Link:
    """Stands for a runner: answers come when `answer` lets them."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.asked: list[Future[Any]] = []

    def call(self, call: Any) -> "Future[Any]":
        self.asked.append(Future())
        return self.asked[-1]

    def answer(self) -> None:
        self.asked.pop(0).set_result(SimpleNamespace(runner=self.number))

    def restart(self) -> None: ...

    kill = stop = restart


@pytest.fixture
def links() -> dict[int, Link]:
    return {1: Link(1), 2: Link(2)}


@pytest.fixture
def sampler(links: dict[int, Link]) -> FragmentSampler:
    pool = RunnerPool(dict(links))
    for link in links.values():
        link.answer()
    pool.wait_until_ready()
    made = FragmentSampler(pool, count=1, timeout=600.0)
    for _ in range(2):
        made.order(2, capture_quota=0, context=CaptureContext())
    return made


def runners(batches: list[list[Any]]) -> list[list[int]]:
    return [[each.runner for each in batch] for batch in batches]


def test_a_stop_ends_the_wait_for_a_fragment(links: dict[int, Link], sampler: FragmentSampler):
    sampler.stop_asked = lambda: True
    links[2].answer()
    with pytest.raises(StopAskedError):
        sampler.collect()
    assert sampler.ahead == 2, "both are still on order"


def test_what_comes_within_the_patience_is_held_whole(
    links: dict[int, Link], sampler: FragmentSampler
):
    sampler.stop_asked = lambda: True
    links[2].answer()
    with pytest.raises(StopAskedError):
        sampler.collect()
    for runner in (1, 1, 2):
        links[runner].answer()
    assert runners(sampler.hold(patience=0.0)) == [[1, 2], [1, 2]]
    assert not sampler.interrupted


def test_games_that_play_on_are_given_up(links: dict[int, Link], sampler: FragmentSampler):
    for link in links.values():
        link.answer()
    assert sampler.hold(patience=0.0) == []
    assert sampler.interrupted


def test_a_checkpoint_in_between_gives_way_to_a_stop(sampler: FragmentSampler):
    sampler.stop_asked = lambda: True
    with pytest.raises(StopAskedError):
        sampler.hold()
    assert not sampler.interrupted
