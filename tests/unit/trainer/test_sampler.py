"""Pending fragments when a run is to stop: no wait for them, and no loss of completed ones."""

from types import SimpleNamespace
from typing import Any

import pytest

from rlaif.trainer.learner.algorithm.sampler import FragmentSampler, StopAskedError
from rlaif.trainer.play.capturing.recorder import CaptureContext


class Group:
    """Stands for RLlib's runners: each tag's answers come when `answer` lets them."""

    def __init__(self, runners: int) -> None:
        self.runners = runners
        self.playing: dict[str, list[int]] = {}
        self.done: dict[str, list[Any]] = {}
        self.local_env_runner = SimpleNamespace(config=SimpleNamespace(num_envs_per_env_runner=1))

    def num_remote_env_runners(self) -> int:
        return self.runners

    num_healthy_remote_env_runners = num_remote_env_runners

    def foreach_env_runner_async(self, call: Any, *, tag: str) -> None:
        self.playing[tag] = list(range(1, self.runners + 1))

    def num_in_flight_async_reqs(self, tag: str) -> int:
        return len(self.playing.get(tag, ()))

    def fetch_ready_async_reqs(self, *, tags: str, timeout_seconds: float) -> list[Any]:
        return self.done.pop(tags, [])

    def answer(self, tag: str, runner: int) -> None:
        self.playing[tag].remove(runner)
        self.done.setdefault(tag, []).append((runner, SimpleNamespace(runner=runner)))


EVEN, ODD = "sample-even", "sample-odd"


@pytest.fixture
def group() -> Group:
    return Group(runners=2)


@pytest.fixture
def sampler(group: Group) -> FragmentSampler:
    made = FragmentSampler(group, timeout=600.0)
    for _ in (EVEN, ODD):
        made.order(2, capture_quota=0, context=CaptureContext())
    return made


def runners(batches: list[list[Any]]) -> list[list[int]]:
    return [[each.runner for each in batch] for batch in batches]


def test_a_stop_ends_the_wait_for_a_fragment(group: Group, sampler: FragmentSampler):
    sampler.stop_asked = lambda: True
    group.answer(EVEN, 2)
    with pytest.raises(StopAskedError):
        sampler.collect()
    assert sampler.ahead == 2, "both are still on order"


def test_what_comes_within_the_patience_is_held_whole(group: Group, sampler: FragmentSampler):
    sampler.stop_asked = lambda: True
    group.answer(EVEN, 2)
    with pytest.raises(StopAskedError):
        sampler.collect()
    for tag, runner in ((EVEN, 1), (ODD, 1), (ODD, 2)):
        group.answer(tag, runner)
    assert runners(sampler.hold(patience=0.0)) == [[1, 2], [1, 2]]
    assert not sampler.interrupted


def test_games_that_play_on_are_given_up(group: Group, sampler: FragmentSampler):
    for runner in (1, 2):
        group.answer(EVEN, runner)
    assert sampler.hold(patience=0.0) == []
    assert sampler.interrupted


def test_a_checkpoint_in_between_gives_way_to_a_stop(group: Group, sampler: FragmentSampler):
    sampler.stop_asked = lambda: True
    with pytest.raises(StopAskedError):
        sampler.hold()
    assert not sampler.interrupted
