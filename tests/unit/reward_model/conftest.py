"""Labels of the made-up game, without a store."""

import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from rlaif.contracts.judging.scores import RUBRIC_WEIGHTS
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.testing.data.scored_segments import ScoredSegment, play

MakeLabels = Callable[..., list[LabelledSegment]]


def as_label(segment: ScoredSegment) -> LabelledSegment:
    return LabelledSegment(
        segment_id=segment.segment_id,
        episode_id=segment.episode_id,
        env_step=segment.env_step,
        start_step=segment.start_step,
        layout_version="layout-1",
        observations=segment.observations,
        values=segment.values,
        weights=dict(RUBRIC_WEIGHTS),
        score_sha256=hashlib.sha256(segment.segment_id.encode()).hexdigest(),
    )


def make_labels(**arguments: Any) -> list[LabelledSegment]:
    return [as_label(segment) for segment in play(**arguments)]


@pytest.fixture(scope="session")
def labels() -> MakeLabels:
    """Makes labels; takes the arguments of `play`."""
    return make_labels
