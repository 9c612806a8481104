"""Fits an ensemble of potentials to labels: positions on the quest, and preferences.

The output r(observation) is a position on the quest, in objectives. Three terms are fitted:

* positions: r at a segment's start and end is where the judges put them;
* rises: r(end) - r(start) is the progress of the segment, which the trainer rewards;
* preferences: P(A > B) = sigmoid((rise of A - rise of B) / a scale), where positions do not already
  answer: pairs that were compared side by side, and segments without positions (scored by people,
  or games without a guide).

Preferences alone rank 0.87 of held-out pairs correctly, positions 0.93 (500 segments, ADR 0009).
Position errors use Huber's loss: beyond a tenth of an objective it grows linearly, so a judge that
is off by five objectives has no more pull than fifty that are off by a tenth.

The potential reads lasting slots only (`inputs.py`); weights of other slots are 0. A hinge makes
owning a thing of the quest raise r, because with few labels the effect of rarely seen things is
nearly arbitrary.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from rlaif.contracts.game.observation import LAYOUT, QUEST_SLOTS
from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_model.labels.duplicates import label_weights
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.labels.preferences import PairTable
from rlaif.reward_model.learning.fit.inputs import input_gains, is_known_layout
from rlaif.reward_model.learning.fit.one_cycle import OneCycleAdamW
from rlaif.reward_model.learning.fit.sides import BAG_STREAM, Side, chosen, spaced_observations
from rlaif.reward_model.learning.settings import (
    ACTIVATION,
    LABEL_NOISE,
    WEIGHT_DECAY,
    CandidateSettings,
    FitSettings,
)
from rlaif.reward_net.network import RewardNet

OBJECTIVES = 10.0
"""Objectives by which the potential rises by its configured scale, at every stage of the quest."""

_STRAIGHT = 3.0
"""Spread over the farthest training observation: tanh is 0.9 as steep there as at 0. With the root
mean square as spread, an objective far from the start was worth a third."""

_MAX_SPREAD = 100.0 * OBJECTIVES

_WIDTH = 4.0
"""Standard deviation of r where it has no unit."""

_BATCH_SEGMENTS = 192
"""Segments per step; all pairs among them are compared."""

_EXACT = 0.1
"""Position error, in objectives, beyond which the loss grows linearly; two half screens."""

_RISES = 3.0
"""Weight of rise errors relative to position errors. With 30, held-out accuracy falls from 0.80 to
0.73."""

_PREFERENCES = 0.1
"""Weight of a preference, in nats, relative to a squared objective."""

_RISE_SCALE = 0.15
"""Difference of two rises, in objectives, at which a preference is sigmoid(1) = 0.73."""

_OWNED = 1.0
"""Weight of the hinge on owned things."""

_SWITCHED_EVERY = 6
"""Every n-th observation of a batch is evaluated without and with a random owned thing."""

_OWNED_MARGIN = 0.5
"""Objectives by which r should rise when a thing of the quest is owned."""

_CHECK_SHARE = 0.6
"""Passes of a check fit, as a share of those of a candidate."""

_UNKNOWN = (np.nan, np.nan)


def fit_side(side: Side, settings: CandidateSettings) -> RewardNet:
    """Fit a candidate to a side with at least one pair and freeze its constants on that side."""
    spec = _spec(side, settings, members=settings.fit.members)
    bags = episode_bags(side.segments, spec.members, settings) * label_weights(side.segments)
    weights, epochs = bags.astype(np.float32), settings.fit.epochs
    net = fit(side, weights, spec=spec, settings=settings.fit, seed=settings.seed, epochs=epochs)
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
    fitted = fit(side, weights, spec=spec, settings=settings.fit, seed=seed, epochs=epochs)
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


def fit(
    side: Side,
    weights: NDArray[np.float32],
    *,
    spec: RewardNetSpec,
    settings: FitSettings,
    seed: int,
    epochs: int,
) -> RewardNet:
    """Fit an ensemble to a side; its constants are still those of `spec`.

    `weights`, `[members, N]`, are those of each segment; each member has some above 0.
    Weights are initialised afresh, independent of the live model. Equal seeds, data and thread
    counts give equal weights: no global generator is used.
    """
    generator = torch.Generator().manual_seed(seed)
    gains = input_gains(spec.layout_version, spec.inputs).astype(np.float32)
    read = np.flatnonzero(gains)
    # Most slots are transient and not read: the network that is fitted has no weights for them
    # (three times smaller); in the returned network they are 0.
    net = RewardNet(spec.model_copy(update={"inputs": len(read)}), generator=generator)
    net.train().requires_grad_(True)
    steps = max(2, epochs * -(-len(side.ends) // _BATCH_SEGMENTS))
    # Its rate ends near 0: the result does not depend on the last batch.
    optimiser = OneCycleAdamW(
        net.parameters(),
        peak=settings.learning_rate,
        weight_decay=WEIGHT_DECAY,
        steps=steps,
    )
    known = settings.owned and is_known_layout(spec.layout_version, spec.inputs)
    things = _Things.of(read, gains) if known else None
    learned = _Learned.of(side, weights, side.ends[..., read] * gains[read], things)
    for _ in range(epochs):
        order = torch.randperm(len(side.ends), generator=generator).numpy()
        for batch in batches(order, side.table.compared_pairs, _BATCH_SEGMENTS):
            chosen = torch.from_numpy(batch)
            torch.autograd.backward(_loss(net, learned, chosen, generator))
            optimiser.step()
    wide = RewardNet(spec, generator=generator)
    return _widened(net, wide, read, gains)


def batches(
    order: NDArray[np.int64], compared: NDArray[np.int64], size: int
) -> Iterator[NDArray[np.int64]]:
    """The batches of one pass: `order`, a random permutation, in parts of at most `size`.

    A pair counts only if both of its segments are in one batch. A segment of the `[C, 2]` compared
    pairs is therefore followed by the first of its partners that is left. Batches are equally long:
    a short last batch would be as large a step as the others.
    """
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    partners: dict[int, list[int]] = {}
    for a, b in compared.tolist():
        partners.setdefault(a, []).append(b)
        partners.setdefault(b, []).append(a)
    rank = place.astype(np.float64)
    taken: set[int] = set()
    for segment in sorted(partners, key=lambda one: place[one]):
        if segment in taken:
            continue
        taken.add(segment)
        left = [other for other in partners[segment] if other not in taken]
        if left:
            partner = min(left, key=lambda other: place[other])
            taken.add(partner)
            rank[partner] = place[segment] + 0.5
    yield from np.array_split(np.argsort(rank), -(-len(order) // size))


def freeze_constants(
    net: RewardNet,
    observations: NDArray[np.float32],
    initial: NDArray[np.float32],
    *,
    in_objectives: bool = True,
) -> RewardNet:
    """Scale the members alike and fix the potential's shift, spread and scale.

    The potential is near 0 at `initial`, `[M, inputs]`, where episodes start (the mean of the data
    if M is 0). One objective is a tenth of the configured scale, there and nearly as much wherever
    the training `observations`, `[N, inputs]`, reach: spread and scale grow with them. Without
    positions r has no unit and gets a fixed deviation. Members get equal mean and deviation over
    `observations`; the first member is the one nearest to the mean.
    """
    net = _evened(net, torch.from_numpy(observations))
    if not in_objectives:
        net = _stretched(net, torch.from_numpy(observations), width=_WIDTH)
    with torch.inference_mode():
        logits = net(torch.from_numpy(observations)).double()
        centre = net(torch.from_numpy(initial)).double() if len(initial) else logits
    shift = float(centre.mean())
    reach = float((logits - shift).abs().max())
    spread = min(max(_STRAIGHT * reach, OBJECTIVES), _MAX_SPREAD)
    scale = net.spec.scale * spread / OBJECTIVES
    return net.with_spec(
        net.spec.model_copy(update={"shift": shift, "spread": spread, "scale": scale})
    )


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


def _frozen(net: RewardNet, segments: list[LabelledSegment]) -> RewardNet:
    starts = [item.observations[:1] for item in segments if item.start_step == 0]
    initial = np.concatenate(starts) if starts else np.empty((0, net.spec.inputs), np.float32)
    return freeze_constants(
        net,
        spaced_observations(segments),
        initial,
        in_objectives=any(item.positions is not None for item in segments),
    )


def _widened(
    net: RewardNet, wide: RewardNet, read: NDArray[np.int64], gains: NDArray[np.float32]
) -> RewardNet:
    """`wide` with the weights of `net`, which reads the slots `read`, scaled by their gains."""
    state = net.state_dict()
    narrow = state["net.0.weight"]
    first = narrow.new_zeros(*narrow.shape[:-1], len(gains))
    first[..., read] = narrow * torch.from_numpy(gains[read])
    wide.load_state_dict({**state, "net.0.weight": first})
    return wide.eval().requires_grad_(False)


def _evened(net: RewardNet, observations: Tensor) -> RewardNet:
    """The same ensemble with members of equal mean and deviation, the most typical one first.

    A member with larger logits would otherwise outvote the rest. Only the last layer changes.
    """
    if net.spec.members == 1:
        return net
    with torch.inference_mode():
        logits = net.member_logits(observations).double()
        means, deviations = logits.mean(dim=1), logits.std(dim=1)
        usual = deviations.mean()
        factors = torch.where(deviations > 0, usual / deviations, torch.ones_like(deviations))
        evened = (logits - means[:, None]) * factors[:, None]
        distance = (evened - evened.mean(dim=0)).square().mean(dim=1)
        order = torch.argsort(distance, stable=True)
        state = {name: value[order].clone() for name, value in net.state_dict().items()}
        last = f"net.{2 * len(net.spec.hidden)}"
        scale, offset = factors[order].float(), (means * factors)[order].float()
        state[f"{last}.weight"] *= scale[:, None, None]
        state[f"{last}.bias"] = state[f"{last}.bias"] * scale[:, None] - offset[:, None]
    copy = RewardNet(net.spec)
    copy.load_state_dict(state)
    return copy.eval().requires_grad_(False)


def _stretched(net: RewardNet, observations: Tensor, *, width: float) -> RewardNet:
    """The same network with outputs of mean 0 and deviation `width`."""
    with torch.inference_mode():
        logits = net(observations).double()
    mean, factor = float(logits.mean()), width / max(float(logits.std()), 1e-6)
    copy = RewardNet(net.spec)
    copy.load_state_dict(net.state_dict())
    weight, bias = list(copy.net.children())[-1].parameters()
    with torch.no_grad():
        weight.mul_(factor)
        bias.sub_(mean).mul_(factor)
    return copy.eval().requires_grad_(False)


@dataclass(frozen=True)
class _Things:
    """Slots of things that can be owned, among those that are read, and the step of one more."""

    at: Tensor
    one_more: Tensor

    @classmethod
    def of(cls, read: NDArray[np.int64], gains: NDArray[np.float32]) -> "_Things":
        slots = np.array(QUEST_SLOTS, np.int64)
        steps = np.array([1.0 / max(1.0, LAYOUT[at].scale) for at in slots], np.float32)
        at = np.searchsorted(read, slots)
        return cls(torch.from_numpy(at), torch.from_numpy(gains[slots] * steps))


@dataclass(frozen=True)
class _Learned:
    """A side as float32 tensors.

    `ends` has the slots that are read, scaled by their gains; `weights` `[members, N]` have mean 1.
    `centres`, `[members, 1, 1]`, are the mean positions of each member's segments. `target` and
    `weight`, `[N, N]`, describe pairs; `compared` says whether any weight is above 0. `things` is
    None for an unknown layout.
    """

    ends: Tensor
    positions: Tensor
    centres: Tensor
    weights: Tensor
    target: Tensor
    weight: Tensor
    compared: bool
    things: _Things | None

    @classmethod
    def of(
        cls,
        side: Side,
        weights: NDArray[np.float32],
        ends: NDArray[np.float32],
        things: _Things | None,
    ) -> "_Learned":
        positions = np.array([item.positions or _UNKNOWN for item in side.segments], np.float64)
        known = np.asarray(np.isfinite(positions).all(axis=1))
        target, weight = _preferences(side, known)
        counted = np.where(known, weights, 0.0)
        middle = np.where(known, positions.mean(axis=1), 0.0)
        centres = (counted @ middle) / np.maximum(counted.sum(axis=1), 1e-9)
        return cls(
            ends=torch.from_numpy(ends),
            positions=torch.from_numpy(positions.astype(np.float32)),
            centres=torch.from_numpy(centres.astype(np.float32))[:, None, None],
            weights=torch.from_numpy(weights / weights.mean(axis=1, keepdims=True)),
            target=torch.from_numpy(target),
            weight=torch.from_numpy(weight),
            compared=bool(weight.any()),
            things=things,
        )


def _preferences(
    side: Side, known: NDArray[np.bool_]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """(`[N, N]` P(row better than column), `[N, N]` weight) of pairs that positions do not answer.

    These are pairs with a segment without positions, and pairs that were compared side by side.
    """
    count = len(side.segments)
    target, weight = np.full((count, count), 0.5, np.float32), np.zeros((count, count), np.float32)
    others = np.arange(count)

    def fill(a: NDArray[np.int64], b: NDArray[np.int64]) -> None:
        found = side.table.compare(a, b)
        counted = np.where(a == b, 0.0, found.weight)
        target[a, b], target[b, a] = found.target, 1.0 - found.target
        weight[a, b] = weight[b, a] = counted

    for row in np.flatnonzero(~known):
        fill(np.full(count, row), others)
    compared = side.table.compared_pairs
    if len(compared):
        fill(compared[:, 0], compared[:, 1])
    return target, weight


def _loss(net: RewardNet, learned: _Learned, chosen: Tensor, generator: torch.Generator) -> Tensor:
    """Loss of one batch, summed over the members: a mean would divide the learning rate."""
    ends = learned.ends[chosen]
    count = 2 * len(ends)
    rows = ends.flatten(0, 1)
    if learned.things is not None:
        some = rows[::_SWITCHED_EVERY]
        rows = torch.cat([rows, *_switched(some, learned.things, generator)])
    # All observations in one pass: the time of a step is dominated by many small calls.
    outputs = net.member_logits(rows)
    logits = outputs[:, :count].reshape(len(outputs), -1, 2)
    weights = learned.weights[:, chosen]
    rises = logits[..., 1] - logits[..., 0]
    centred = logits + learned.centres
    loss = _position_errors(centred, rises, learned.positions[chosen], weights)
    if learned.compared:
        loss = loss + _PREFERENCES * _entropy(rises / _RISE_SCALE, weights, learned, chosen)
    if learned.things is not None:
        without, owned = outputs[:, count:].chunk(2, dim=1)
        counted = (weights > 0).repeat_interleave(2, dim=1)[:, ::_SWITCHED_EVERY]
        loss = loss + _OWNED * _hinge(owned - without, counted)
    return loss


def _position_errors(logits: Tensor, rises: Tensor, positions: Tensor, weights: Tensor) -> Tensor:
    """Loss of positions `[K, S, 2]` and rises `[K, S]`; 0 where positions are unknown."""
    known = torch.isfinite(positions).all(dim=1)
    if not bool(known.any()):
        return logits.sum() * 0.0
    target, counted = positions[known], weights[:, known]
    ends = _huber(logits[:, known] - target).mean(dim=2)
    errors = ends + _RISES * _huber(rises[:, known] - (target[:, 1] - target[:, 0]))
    return (errors * counted).mean(dim=1).sum()


def _huber(error: Tensor) -> Tensor:
    return 2.0 * functional.huber_loss(
        error, torch.zeros_like(error), reduction="none", delta=_EXACT
    )


def _entropy(statistic: Tensor, weights: Tensor, learned: _Learned, chosen: Tensor) -> Tensor:
    """Cross-entropy, in nats per pair of the chosen segments; `statistic`, `weights` `[K, S]`."""
    a, b = torch.triu_indices(len(chosen), len(chosen), offset=1)
    weight = learned.weight[chosen[a], chosen[b]]
    kept = torch.nonzero(weight).flatten()
    if not len(kept):
        return statistic.sum() * 0.0
    a, b = a[kept], b[kept]
    probability = torch.sigmoid(statistic[:, a] - statistic[:, b])
    # Label smoothing bounds the pull of a wrong label.
    mixed = (1.0 - LABEL_NOISE) * probability + 0.5 * LABEL_NOISE
    counted = weight[kept] * weights[:, a] * weights[:, b]
    target = learned.target[chosen[a], chosen[b]].expand_as(mixed)
    entropy = functional.binary_cross_entropy(mixed, target, weight=counted, reduction="none")
    # A single comparison counts as one pair, not as a whole batch.
    return (entropy.sum(dim=1) / counted.sum(dim=1).clamp_min(float(len(chosen)))).sum()


def _switched(rows: Tensor, things: _Things, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    drawn = torch.randint(len(things.at), (len(rows),), generator=generator)
    each, slots = torch.arange(len(rows)), things.at[drawn]
    without, owned = rows.clone(), rows.clone()
    without[each, slots] = 0.0
    owned[each, slots] = things.one_more[drawn]
    return without, owned


def _hinge(gained: Tensor, counted: Tensor) -> Tensor:
    """Hinge loss of owned things that raise r by less than the margin.

    `gained` `[K, M]`; `counted` `[K, M]` bool: whether the member learns from the row.
    """
    missing = torch.relu(_OWNED_MARGIN - gained) * counted
    return (missing.sum(dim=1) / counted.sum(dim=1).clamp_min(1)).sum()
