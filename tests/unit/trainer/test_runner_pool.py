"""Lost runners: others play on, replacements get the weights, and no call waits without need."""

from concurrent.futures import Future
from typing import Any

import pytest

from rlaif.trainer.learner.runners import pool as pools
from rlaif.trainer.learner.runners.pool import LostRunnerError, RunnerPool
from rlaif.trainer.learner.runners.sampler import FragmentSampler
from rlaif.trainer.play.capturing.recorder import CaptureContext

NEW_WEIGHTS: Any = "the newest weights"


class Link:
    """Stands for a runner, which answers at once while it is healthy."""

    def __init__(self) -> None:
        self.is_well = True
        self.is_starting = False
        self.killed = 0
        self.calls: list[Any] = []

    def call(self, call: Any) -> "Future[Any]":
        answer: Future[Any] = Future()
        if not self.is_well:
            answer.set_exception(LostRunnerError("ended"))
        elif not self.is_starting:
            answer.set_result(call)
        self.calls.append(call)
        return answer

    def restart(self) -> None:
        self.is_well = True

    def kill(self) -> None:
        self.killed += 1

    stop = kill


@pytest.fixture
def links() -> dict[int, Link]:
    return {1: Link(), 2: Link()}


@pytest.fixture
def pool(links: dict[int, Link]) -> RunnerPool:
    made = RunnerPool(dict(links))
    made.wait_until_ready()
    return made


def lose(pool: RunnerPool, *lost: Link) -> None:
    for link in lost:
        link.is_well = False
    pool.ask("play")  # type: ignore[arg-type]  # never executed


def test_a_lost_runner_gives_no_answer_and_the_others_continue(
    pool: RunnerPool, links: dict[int, Link]
):
    lose(pool, links[1])
    assert pool.healthy == [2]
    assert len(pool.ask(NEW_WEIGHTS)) == 1


def test_a_runner_that_does_not_answer_in_time_is_killed(pool: RunnerPool, links: dict[int, Link]):
    links[2].is_starting = True
    assert pool.ask(NEW_WEIGHTS, seconds=0.0) == [NEW_WEIGHTS]
    assert (pool.healthy, links[2].killed) == ([1], 1)


def test_what_a_call_raises_is_raised_here(pool: RunnerPool):
    failed: Future[Any] = Future()
    failed.set_exception(ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        pool.answers({1: failed})
    assert pool.healthy == [1, 2]


@pytest.mark.parametrize("none_plays", [False, True])
def test_replacements_are_awaited_only_while_none_plays(
    pool: RunnerPool, links: dict[int, Link], monkeypatch: pytest.MonkeyPatch, none_plays: bool
):
    lost = list(links.values()) if none_plays else [links[1]]
    lose(pool, *lost)
    for link in lost:
        link.is_starting = True
    waited: list[float] = []
    monkeypatch.setattr(pools, "wait", lambda answers, seconds, until: waited.append(seconds))
    assert pool.restore(lambda: NEW_WEIGHTS, seconds=0.01) == []
    assert set(waited) == ({0.01} if none_plays else {0.0})


def test_a_replacement_first_gets_the_weights(pool: RunnerPool, links: dict[int, Link]):
    lose(pool, links[1])
    links[1].calls.clear()
    assert pool.restore(lambda: NEW_WEIGHTS) == [1]
    assert links[1].calls[-1] == NEW_WEIGHTS
    assert pool.healthy == [1, 2]


def test_batches_of_a_lost_runner_do_not_cost_its_replacement(links: dict[int, Link]):
    link = links[1]
    pool = RunnerPool({1: link})
    pool.wait_until_ready()
    sampler = FragmentSampler(pool, count=1, timeout=1.0)

    def order() -> None:
        sampler.order(1, capture_quota=0, context=CaptureContext(), model=None)

    link.is_well = False  # two batches are ordered ahead, and both are lost
    order()
    order()
    assert sampler.collect() == []
    sampler.forget(pool.restore(lambda: NEW_WEIGHTS))
    order()
    assert sampler.collect() == []  # the other lost one
    assert pool.healthy == [1]
    assert len(sampler.collect()) == 1
