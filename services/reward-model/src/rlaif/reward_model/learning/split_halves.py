"""The two sides of the split, each with its pairs, and the fit of a network to one of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.labels.preferences import PairTable, Preference, sample_preferences
from rlaif.reward_model.labels.weights import label_weights
from rlaif.reward_model.learning.bradley_terry import FitData, fit, freeze_constants
from rlaif.reward_model.learning.evaluation import Accuracy, Potential, measure
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.pay import paid_of_ends

_ROWS_FOR_CONSTANTS = 8
_CHECK_SHARE = 0.6
"""Of the passes of a fit, those of one that only shows what can be learned."""

_UNKNOWN = (np.nan, np.nan)
# Streams of random numbers, so that drawing more of one kind leaves the others as they were.
TRAIN_STREAM, HELDOUT_STREAM, BOOTSTRAP_STREAM, BAG_STREAM, CONTROL_STREAM = range(5)
PERMUTATION_STREAM = 5


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

    @property
    def episodes(self) -> int:
        """Episodes of the segments."""
        return len({item.episode_id for item in self.segments})

    @property
    def episode_numbers(self) -> NDArray[np.int64]:
        """`[N]` int64: the number of each segment's episode, 0 for the first by name."""
        _, numbers = np.unique([item.episode_id for item in self.segments], return_inverse=True)
        return numbers.astype(np.int64)


def make_side(
    name: str, segments: list[LabelledSegment], settings: CandidateSettings, *, stream: int
) -> Side:
    """Pair the segments of one side."""
    rng = np.random.default_rng([settings.seed, stream])
    return Side(name, segments, sample_preferences(segments, settings=settings.pairs, rng=rng))


def fit_side(side: Side, settings: CandidateSettings, *, check: bool = False) -> RewardNet:
    """Fit a network to a side with at least one pair and freeze its constants on that side.

    `check` is a small fit that only shows what can be learned: one network, fewer passes.
    """
    spec = _spec(side.segments, settings, members=1 if check else settings.fit.members)
    epochs = _check_epochs(settings) if check else settings.fit.epochs
    bags = episode_bags(side.segments, spec.members, settings) * label_weights(side.segments)
    data = _fit_data(side.segments, bags.astype(np.float32), settings)
    net = fit(data, spec=spec, settings=settings.fit, seed=settings.seed, epochs=epochs)
    return _frozen(net, side.segments)


def fit_parts(
    segments: list[LabelledSegment],
    parts: Sequence[NDArray[np.bool_]],
    settings: CandidateSettings,
    *,
    seed: int,
) -> list[RewardNet | None]:
    """Small fits that only show what can be learned, one of each part of the segments.

    All are one ensemble whose members give no weight to what is not in their part, and so cost
    little more than one of them.

    Args:
        segments: N of them, of one layout.
        parts: `[N]` each.
        settings: Of the attempt.
        seed: Of first weights and batches.

    Returns:
        The networks; None of a part without a decided pair.
    """
    table = PairTable(segments, settings.pairs)
    teachable = [_teaches(table, np.flatnonzero(part)) for part in parts]
    taught = [part for part, usable in zip(parts, teachable, strict=True) if usable]
    if not taught:
        return [None] * len(parts)
    spec = _spec(segments, settings, members=len(taught))
    bags = np.zeros((len(taught), len(segments)), np.float32)
    for bag, part in zip(bags, taught, strict=True):
        bag[part] = label_weights(chosen(segments, part))
    data = _fit_data(segments, bags, settings)
    fitted = fit(data, spec=spec, settings=settings.fit, seed=seed, epochs=_check_epochs(settings))
    alone = spec.model_copy(update={"members": 1})
    nets: list[RewardNet | None] = [None] * len(parts)
    for member, at in enumerate(np.flatnonzero(teachable).tolist()):
        net = RewardNet(alone)
        net.load_state_dict(fitted.member_weights(member))
        nets[at] = _frozen(net.eval().requires_grad_(False), chosen(segments, parts[at]))
    return nets


def chosen(segments: Sequence[LabelledSegment], which: NDArray[np.bool_]) -> list[LabelledSegment]:
    """Those of N segments that the `[N]` mask names."""
    return [segments[at] for at in np.flatnonzero(which).tolist()]


def _spec(
    segments: Sequence[LabelledSegment], settings: CandidateSettings, *, members: int
) -> RewardNetSpec:
    first = segments[0]
    return RewardNetSpec(
        layout_version=first.layout_version,
        inputs=first.observations.shape[1],
        activation=settings.fit.activation,
        scale=settings.scale,
        members=members,
    )


def _teaches(table: PairTable, inside: NDArray[np.int64]) -> bool:
    """Whether judges put any two of these segments apart; mostly the first one tells."""
    return any(table.compare(np.full_like(inside, one), inside).decided.any() for one in inside)


def _check_epochs(settings: CandidateSettings) -> int:
    return max(1, round(_CHECK_SHARE * settings.fit.epochs))


def _fit_data(
    segments: list[LabelledSegment], weights: NDArray[np.float32], settings: CandidateSettings
) -> FitData:
    return FitData(
        ends=ends_of(segments),
        positions=np.array([item.positions or _UNKNOWN for item in segments], np.float64),
        weights=weights,
        table=PairTable(segments, settings.pairs),
    )


def _frozen(net: RewardNet, segments: list[LabelledSegment]) -> RewardNet:
    """The network with the constants that these segments give."""
    starts = [item.observations[:1] for item in segments if item.start_step == 0]
    initial = np.concatenate(starts) if starts else np.empty((0, net.spec.inputs), np.float32)
    return freeze_constants(
        net,
        spaced_observations(segments),
        initial,
        in_objectives=any(item.positions is not None for item in segments),
    )


def episode_bags(
    segments: Sequence[LabelledSegment], members: int, settings: CandidateSettings
) -> NDArray[np.float32]:
    """`[members, N]` float32: Bayesian bootstrap over episodes; all 1 for a single network.

    Whole episodes, because the segments of one are alike and do not vary independently.
    """
    if members == 1:
        return np.ones((1, len(segments)), np.float32)
    episodes = sorted({item.episode_id for item in segments})
    rng = np.random.default_rng([settings.seed, BAG_STREAM])
    drawn = rng.exponential(size=(members, len(episodes)))
    place = {episode: index for index, episode in enumerate(episodes)}
    bags: NDArray[np.float32] = drawn[:, [place[i.episode_id] for i in segments]].astype(np.float32)
    return bags


def side_statistics(
    potential: Potential, side: Side, settings: CandidateSettings
) -> NDArray[np.float64]:
    """`[N]` float64: what the trainer pays for each segment of a side as an episode's beginning."""
    steps = np.array([item.decision_steps - 1 for item in side.segments], np.int64)
    return paid_of_ends(potential, ends_of(side.segments), steps, settings.gamma)


def accuracy_on(
    statistics: NDArray[np.float64], side: Side, settings: CandidateSettings
) -> Accuracy:
    """Accuracy of `[N]` statistics on the decided pairs; every call draws the same resamples."""
    return measure(
        statistics,
        side.preferences,
        side.episode_numbers,
        confidence=settings.gate.confidence,
        rng=bootstrap_rng(settings),
    )


def bootstrap_rng(settings: CandidateSettings) -> np.random.Generator:
    """A fresh generator for resamples."""
    return np.random.default_rng([settings.seed, BOOTSTRAP_STREAM])


def spaced_observations(segments: Sequence[LabelledSegment]) -> NDArray[np.float32]:
    """`[M, inputs]` float32: some observations of every segment, evenly spaced in time."""
    chosen = []
    for item in segments:
        places = np.linspace(0, len(item.observations) - 1, _ROWS_FOR_CONSTANTS)
        chosen.append(item.observations[places.round().astype(np.int64)])
    return np.concatenate(chosen)


def ends_of(segments: Sequence[LabelledSegment]) -> NDArray[np.float32]:
    """`[N, 2, inputs]` float32: the first and the last observation of each segment."""
    return np.stack([item.observations[[0, -1]] for item in segments])
