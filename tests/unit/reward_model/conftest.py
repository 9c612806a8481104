"""Labels of the made-up game without a store, and training loops that fit quickly."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from rlaif.bus.outbox import Outbox
from rlaif.reward_model.champions.registry import ModelRegistry
from rlaif.reward_model.labels.label_log import LabelLog
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.labels.votes import VoteLog
from rlaif.reward_model.learning.candidate import Candidate
from rlaif.reward_model.learning.settings import CandidateSettings, FitSettings, GateSettings
from rlaif.reward_model.metrics import RewardModelMetrics
from rlaif.reward_model.settings import TrainingSettings
from rlaif.reward_model.training_loop import TrainingLoop
from rlaif.reward_model.training_process import Request
from rlaif.service.metrics import ServiceMetrics
from rlaif.testing.data.judging.candidates import as_label, train_here
from rlaif.testing.data.judging.scored_segments import play
from rlaif.testing.publisher import RecordingPublisher

MakeLabels = Callable[..., list[LabelledSegment]]


def make_labels(**arguments: Any) -> list[LabelledSegment]:
    return [as_label(segment) for segment in play(**arguments)]


@pytest.fixture(scope="session")
def labels() -> MakeLabels:
    """Makes labels; takes the arguments of `play`."""
    return make_labels


def make_training(
    store: Any,
    *,
    publisher: RecordingPublisher | None = None,
    registry: ModelRegistry | None = None,
    settings: CandidateSettings | None = None,
    votes: VoteLog | None = None,
    now: Callable[[], datetime] = lambda: datetime(2026, 1, 2, tzinfo=UTC),
    models: Any = None,
    train: Callable[[Request], Awaitable[Candidate]] = train_here,
    **timing: Any,
) -> TrainingLoop:
    # No network outranks a linear fit of the made-up game.
    quick = CandidateSettings(
        fit=FitSettings(epochs=20, members=2), gate=GateSettings(simple_margin=-1.0)
    )
    return TrainingLoop(
        LabelLog(store, judge_config=None, most_labels=500, votes=votes),
        registry or ModelRegistry(store, now=now),
        Outbox(publisher or RecordingPublisher()),
        settings or quick,
        TrainingSettings(**({"relist_seconds": 1e-9} | timing)),
        RewardModelMetrics(ServiceMetrics("reward-model")),
        now=now,
        models=models,
        train=train,
    )


@pytest.fixture
def training_of() -> Callable[..., TrainingLoop]:
    """Makes a training loop on a store; takes the arguments of `make_training`."""
    return make_training
