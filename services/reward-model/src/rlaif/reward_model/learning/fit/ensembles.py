"""Fits a candidate to a side, and small check fits to parts of the segments."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.labels.preferences import PairTable
from rlaif.reward_model.labels.weights import label_weights
from rlaif.reward_model.learning.fit.bradley_terry import FitData, fit, freeze_constants
from rlaif.reward_model.learning.fit.sides import BAG_STREAM, Side, chosen, spaced_observations
from rlaif.reward_model.learning.settings import ACTIVATION, CandidateSettings
from rlaif.reward_net.network import RewardNet

_CHECK_SHARE = 0.6
"""Passes of a check fit, as a share of those of a candidate."""

_UNKNOWN = (np.nan, np.nan)


def fit_side(side: Side, settings: CandidateSettings) -> RewardNet:
    """Fit a candidate to a side with at least one pair and freeze its constants on that side."""
    spec = _spec(side, settings, members=settings.fit.members)
    weights = episode_bags(side.segments, spec.members, settings) * label_weights(side.segments)
    data = _fit_data(side, weights.astype(np.float32))
    net = fit(
        data, spec=spec, settings=settings.fit, seed=settings.seed, epochs=settings.fit.epochs
    )
    return _frozen(net, side.segments)


def fit_parts(
    side: Side, parts: Sequence[NDArray[np.bool_]], settings: CandidateSettings, *, seed: int
) -> list[RewardNet | None]:
    """Check fits: one network per part of the segments (an `[N]` mask each).

    They are fitted as one ensemble whose members ignore what is outside their part, which costs
    little more than a single fit. None for a part without a decided pair.
    """
    teachable = [_has_decided_pair(side.table, np.flatnonzero(part)) for part in parts]
    taught = [part for part, usable in zip(parts, teachable, strict=True) if usable]
    nets: list[RewardNet | None] = [None] * len(parts)
    if not taught:
        return nets
    spec = _spec(side, settings, members=len(taught))
    weights = np.zeros((len(taught), len(side.segments)), np.float32)
    for row, part in zip(weights, taught, strict=True):
        row[part] = label_weights(chosen(side.segments, part))
    epochs = max(1, round(_CHECK_SHARE * settings.fit.epochs))
    data = _fit_data(side, weights)
    fitted = fit(data, spec=spec, settings=settings.fit, seed=seed, epochs=epochs)
    single = spec.model_copy(update={"members": 1})
    for member, at in enumerate(np.flatnonzero(teachable).tolist()):
        net = RewardNet(single)
        net.load_state_dict(fitted.member_weights(member))
        net.eval().requires_grad_(False)
        nets[at] = _frozen(net, chosen(side.segments, parts[at]))
    return nets


def episode_bags(
    segments: Sequence[LabelledSegment], members: int, settings: CandidateSettings
) -> NDArray[np.float32]:
    """`[members, N]`: Bayesian bootstrap over episodes; all 1 for a single network.

    Episodes are the unit because the segments of one are not independent.
    """
    if members == 1:
        return np.ones((1, len(segments)), np.float32)
    episodes = sorted({item.episode_id for item in segments})
    rng = np.random.default_rng([settings.seed, BAG_STREAM])
    drawn = rng.exponential(size=(members, len(episodes)))
    place = {episode: index for index, episode in enumerate(episodes)}
    bags: NDArray[np.float32] = drawn[:, [place[i.episode_id] for i in segments]].astype(np.float32)
    return bags


def _spec(side: Side, settings: CandidateSettings, *, members: int) -> RewardNetSpec:
    first = side.segments[0]
    return RewardNetSpec(
        layout_version=first.layout_version,
        inputs=first.observations.shape[1],
        activation=ACTIVATION,
        scale=settings.scale,
        members=members,
    )


def _has_decided_pair(table: PairTable, inside: NDArray[np.int64]) -> bool:
    """Whether any two of these segments are a decided pair; usually the first row answers."""
    return any(table.compare(np.full_like(inside, one), inside).decided.any() for one in inside)


def _fit_data(side: Side, weights: NDArray[np.float32]) -> FitData:
    positions = np.array([item.positions or _UNKNOWN for item in side.segments], np.float64)
    return FitData(ends=side.ends, positions=positions, weights=weights, table=side.table)


def _frozen(net: RewardNet, segments: list[LabelledSegment]) -> RewardNet:
    starts = [item.observations[:1] for item in segments if item.start_step == 0]
    initial = np.concatenate(starts) if starts else np.empty((0, net.spec.inputs), np.float32)
    return freeze_constants(
        net,
        spaced_observations(segments),
        initial,
        in_objectives=any(item.positions is not None for item in segments),
    )
