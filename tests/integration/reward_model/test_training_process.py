"""A training in a process of its own: the same result, and every way in which the process fails."""

import os
import signal
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.learning.settings import CandidateSettings, FitSettings, GateSettings
from rlaif.reward_model.training_process import Request, TrainingFailedError, TrainingProcess
from rlaif.testing.data.judging.candidates import as_label, train_here
from rlaif.testing.data.judging.scored_segments import play
from rlaif.testing.pipeline import children_of_module
from rlaif.testing.waiting import eventually

SETTINGS = CandidateSettings(
    fit=FitSettings(epochs=20, members=2), gate=GateSettings(simple_margin=-1.0)
)


@pytest.fixture
def labels() -> list[LabelledSegment]:
    segments = play(episodes=8, each=8, signal=True, distractors=2, wrong=0.0, seed=1)
    return [as_label(segment) for segment in segments]


class Doing:
    """Does something where it is unpickled."""

    def __init__(self, what: Callable[..., Any], *arguments: Any) -> None:
        self._call = what, arguments

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self._call


def request_of(labels: list[LabelledSegment], champion: Any = None) -> Request:
    return Request(labels, SETTINGS, champion)


@pytest.fixture
async def process() -> AsyncIterator[TrainingProcess]:
    made = TrainingProcess()
    yield made
    await made.close()
    assert children() == set()


def children() -> set[int]:
    """The processes that still train."""
    return children_of_module("rlaif.reward_model.training_process")


async def test_the_candidate_is_the_one_that_a_training_in_the_service_gives(labels, process):
    there = await process.train(request_of(labels))
    here = await train_here(request_of(labels))
    assert there.net is not None
    assert here.net is not None
    assert there.passed
    found, wanted = there.net.arrays(), here.net.arrays()
    assert found.keys() == wanted.keys()
    assert all(np.array_equal(found[name], wanted[name]) for name in wanted)
    assert there == replace(here, net=there.net)
    assert (there.probes, there.rm_pt) == (here.probes, here.rm_pt)
    assert there.folds is not None
    assert here.folds is not None
    assert np.array_equal(there.folds.statistics, here.folds.statistics)


@pytest.mark.parametrize(
    ("champion", "reason"),
    [
        (Doing(signal.raise_signal, signal.SIGKILL), "signal SIGKILL.*memory"),
        (Doing(os.abort), "signal SIGABRT"),
        (Doing(os._exit, 0), "exit code 0"),
        (Doing(bytearray, 1 << 60), "exit code 1"),
    ],
    ids=["killed", "crashed", "ended", "out-of-memory"],
)
async def test_a_process_that_ends_without_a_candidate_is_a_failure(
    labels, process, champion, reason
):
    with pytest.raises(TrainingFailedError, match=reason):
        await process.train(request_of(labels, champion))


async def test_a_process_trains_again_and_ends_after_a_while_without_a_training(labels):
    process = TrainingProcess(idle_seconds=3.0)
    await process.train(request_of(labels))
    first = children()
    await process.train(request_of(labels))
    assert children() == first
    assert len(first) == 1
    await eventually(lambda: not children(), "the process ends")
    await process.train(request_of(labels))
    await process.close()
    assert children() == set()


async def test_a_process_that_hangs_is_killed_and_the_next_training_has_another(labels, process):
    with pytest.raises(TrainingFailedError, match="did not end within 1 s"):
        await process.train(request_of(labels, Doing(time.sleep, 600)), seconds=1.0)
    assert children() == set()
    assert (await process.train(request_of(labels))).passed
