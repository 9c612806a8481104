"""The two sides of the split, each with its pairs, and the fit of a network to one of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_model.bradley_terry import (
    FitSettings,
    fit,
    freeze_constants,
    row_weights,
    segment_rows,
)
from rlaif.reward_model.evaluation import Potential, segment_statistics
from rlaif.reward_model.gate import GateSettings
from rlaif.reward_model.labels import LabelledSegment
from rlaif.reward_model.preferences import PairSettings, Preference, sample_preferences
from rlaif.reward_net.network import RewardNet

_ROWS_FOR_CONSTANTS = 8
# Streams of random numbers, so that drawing more of one kind leaves the others as they were.
TRAIN_STREAM, HELDOUT_STREAM, BOOTSTRAP_STREAM = range(3)


@dataclass(frozen=True)
class CandidateSettings:
    """Everything that decides what an attempt gives, besides its labels."""

    seed: int = 0
    heldout_fraction: float = 0.25
    scale: float = 1.0
    pairs: PairSettings = field(default_factory=PairSettings)
    fit: FitSettings = field(default_factory=FitSettings)
    gate: GateSettings = field(default_factory=GateSettings)


@dataclass(frozen=True)
class Side:
    """Segments with pairs among them; indices of the pairs point into `segments`."""

    name: str
    segments: list[LabelledSegment]
    preferences: list[Preference]

    @property
    def decided(self) -> int:
        """Pairs that are no tie."""
        return sum(item.decided for item in self.preferences)


def make_side(
    name: str, segments: list[LabelledSegment], settings: CandidateSettings, *, stream: int
) -> Side:
    """Pair the segments of one side."""
    rng = np.random.default_rng([settings.seed, stream])
    return Side(name, segments, sample_preferences(segments, settings=settings.pairs, rng=rng))


def fit_side(side: Side, settings: CandidateSettings) -> RewardNet:
    """Fit a network to a side with at least one pair and freeze its constants on that side."""
    first = side.segments[0]
    spec = RewardNetSpec(
        layout_version=first.layout_version,
        inputs=first.observations.shape[1],
        activation=settings.fit.activation,
        scale=settings.scale,
    )
    net = fit(
        _rows(side, settings),
        side.preferences,
        spec=spec,
        settings=settings.fit,
        seed=settings.seed,
    )
    starts = [item.observations[:1] for item in side.segments if item.start_step == 0]
    initial = np.concatenate(starts) if starts else np.empty((0, spec.inputs), np.float32)
    return freeze_constants(net, spaced_observations(side.segments), initial)


def side_statistics(
    potential: Potential, side: Side, settings: CandidateSettings
) -> NDArray[np.float64]:
    """`[N]` float64: the compared number of each segment of a side."""
    return segment_statistics(potential, _rows(side, settings), row_weights(settings.fit.statistic))


def spaced_observations(segments: Sequence[LabelledSegment]) -> NDArray[np.float32]:
    """`[M, inputs]` float32: some observations of every segment, evenly spaced in time."""
    chosen = []
    for item in segments:
        places = np.linspace(0, len(item.observations) - 1, _ROWS_FOR_CONSTANTS)
        chosen.append(item.observations[places.round().astype(np.int64)])
    return np.concatenate(chosen)


def _rows(side: Side, settings: CandidateSettings) -> NDArray[np.float32]:
    """`[N, R, inputs]` float32."""
    return np.stack(
        [segment_rows(item.observations, settings.fit.statistic) for item in side.segments]
    )
