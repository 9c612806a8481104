"""Fits an ensemble of potentials to what judges said: positions of moments, and preferences.

The network's answer r to an observation is a position on the quest, in objectives. It is fitted to

* moments: r is where the judges put a segment's start and its end;
* rises: r(end) - r(start) is how far they saw the player come, which is what the trainer pays;
* preferences: of two segments, P(A > B) = sigmoid((rise of A - rise of B) / a scale). Judges who
  were shown both speak here, and those whose score has no position: people, games without a guide.

Preferences alone rank held-out pairs of 500 segments 0.87 right, positions 0.93 (ADR 0009): what
judges told is how far, and a preference keeps only which. The loss of positions is Huber's: beyond
a tenth of an objective it grows linearly, so that one judge who errs by five objectives pulls no
more than fifty who err by a tenth.

The potential reads what lasts and nothing else (`lasting.py`): weights of other inputs are 0, so
that no menu, no text and no turn of the head can change it. What is owned for good never counts
against the player: a hinge on possessions that are switched on says so, because where labels are
few a network makes up the effect of what it has rarely seen.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from rlaif.contracts.observation import (
    LAYOUT,
    QUEST_SLOTS,
)
from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_model.labels.preferences import PairTable
from rlaif.reward_model.learning.batches import batches
from rlaif.reward_model.learning.lasting import input_gains, is_known_layout
from rlaif.reward_model.learning.settings import FitSettings
from rlaif.reward_net.network import RewardNet

LEAST_SPREAD = 10.0
"""Objectives over which the potential rises from 0 to 0.76, at least. While play is early one
objective would otherwise be all of Φ, and a weight that suits the quest would pay ten for it."""

_BATCH_SEGMENTS = 192
"""Segments a step; all pairs among them are compared."""

_EXACT = 0.1
"""Error of a position, in objectives, from which on the loss grows linearly; two half screens."""

_RISES = 3.0
"""Weight of the error of rises beside that of positions: what is paid counts more than where it is.
With 30 they crowd the positions out: held-out pairs of all play are ranked 0.73 right, not 0.80."""

_PREFERENCES = 0.1
"""Weight of a preference, in nats, beside that of a squared objective."""

_SURE_RISE = 0.15
"""Difference of two rises, in objectives, at which a preference is sigmoid(1) = 0.73 sure."""

_OWNED = 1.0
"""Weight of the hinge."""

_SWITCHED_EVERY = 6
"""Of so many moments of a batch one is asked with a possession off and on; they come in random
order, first and last moments in turn."""

_OWNED_MARGIN = 0.5
"""By how many objectives r shall rise when something of the quest is owned that was not."""


@dataclass(frozen=True)
class FitData:
    """What is learned from.

    Attributes:
        ends: `[N, 2, inputs]` float32, first and last observation of each segment.
        positions: `[N, 2]` float64, where judges put them on the quest; NaN where they did not.
        weights: `[members, N]` float32, how much each segment counts for each member. What counts
            0 teaches a member nothing; something counts for each.
        table: The segments' preferences.
    """

    ends: NDArray[np.float32]
    positions: NDArray[np.float64]
    weights: NDArray[np.float32]
    table: PairTable


def fit(
    data: FitData,
    *,
    spec: RewardNetSpec,
    settings: FitSettings,
    seed: int,
    epochs: int,
) -> RewardNet:
    """An ensemble fitted to `data`; its constants are still those of `spec`.

    It begins with fresh weights whatever is live, so that a model is what its labels make it and
    not what its forerunners happened to be. Equal seeds, data and thread counts give equal weights:
    no global generator is used.
    """
    generator = torch.Generator().manual_seed(seed)
    gains = input_gains(spec.layout_version, spec.inputs).astype(np.float32)
    read = np.flatnonzero(gains)
    # Most numbers come and go and are not read: a network without them is fitted, three times
    # smaller, and they are 0 in the one that is given back.
    net = RewardNet(spec.model_copy(update={"inputs": len(read)}), generator=generator)
    net.train().requires_grad_(True)
    steps = epochs * -(-len(data.ends) // _BATCH_SEGMENTS)
    optimiser = torch.optim.AdamW(
        net.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True
    )
    # Up and down again: large steps in the middle, and an end that does not depend on the last
    # batch (Smith & Topin 2018, arXiv 1708.07120).
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, settings.learning_rate, total_steps=max(2, steps)
    )
    known = is_known_layout(spec.layout_version, spec.inputs)
    things = _Things.of(read, gains) if known else None
    learned = _Learned.of(data, data.ends[..., read] * gains[read], things=things)
    for _ in range(epochs):
        order = torch.randperm(len(data.ends), generator=generator).numpy()
        for batch in batches(order, data.table.side_by_side.pairs, _BATCH_SEGMENTS):
            chosen = torch.from_numpy(batch)
            optimiser.zero_grad(set_to_none=True)
            torch.autograd.backward(_loss(net, learned, chosen, settings.noise, generator))
            optimiser.step()
            schedule.step()
    wide = RewardNet(spec, generator=generator)
    return _widened(net, wide, read, gains)


def freeze_constants(
    net: RewardNet,
    observations: NDArray[np.float32],
    initial: NDArray[np.float32],
    *,
    in_objectives: bool = True,
) -> RewardNet:
    """Bring the members to one scale, and fix the potential's shift and spread, once and for all.

    The potential is then near 0 at `initial`, `[M, inputs]`, where episodes start (or at the data's
    mean when M is 0). Near there one objective is a tenth of the scale, or less when the training
    `observations`, `[N, inputs]`, reach farther: their root mean square is 0.7 at most. Where no
    judge could tell positions the unit of r means nothing; it is stretched to that width. The
    members have equal mean and deviation there, the first one is the nearest to their mean.
    """
    net = _evened(net, torch.from_numpy(observations))
    if not in_objectives:
        net = _stretched(net, torch.from_numpy(observations), width=LEAST_SPREAD)
    with torch.inference_mode():
        logits = net(torch.from_numpy(observations)).double()
        centre = net(torch.from_numpy(initial)).double() if len(initial) else logits
    shift = float(centre.mean())
    spread = float((logits - shift).square().mean().sqrt())
    return net.with_constants(shift=shift, spread=max(spread, LEAST_SPREAD))


def _widened(
    net: RewardNet, wide: RewardNet, read: NDArray[np.int64], gains: NDArray[np.float32]
) -> RewardNet:
    """`wide`, saying of whole observations what `net` says of their stretched `read` numbers.

    `read` are indices of the `[inputs]` gains.
    """
    state = net.state_dict()
    narrow = state["net.0.weight"]
    first = narrow.new_zeros(*narrow.shape[:-1], len(gains))
    first[..., read] = narrow * torch.from_numpy(gains[read])
    wide.load_state_dict({**state, "net.0.weight": first})
    return wide.eval().requires_grad_(False)


def _evened(net: RewardNet, observations: Tensor) -> RewardNet:
    """The same ensemble with members of one mean and deviation, the most usual one first.

    A member with larger logits would otherwise outvote the rest. The change lies in the last
    layer's weights, so that no reader has to know of it.
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
    """The same network with answers of mean 0 and deviation `width`."""
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
    """What can be owned: where in the numbers that are read, and what one more of each is there."""

    at: Tensor
    one_more: Tensor

    @classmethod
    def of(cls, read: NDArray[np.int64], gains: NDArray[np.float32]) -> "_Things":
        """Those of the known layout: one more level, key or essence, stretched."""
        slots = np.array(QUEST_SLOTS, np.int64)
        steps = np.array([1.0 / max(1.0, LAYOUT[at].scale) for at in slots], np.float32)
        at = np.searchsorted(read, slots)
        return cls(torch.from_numpy(at), torch.from_numpy(gains[slots] * steps))


@dataclass(frozen=True)
class _Learned:
    """`FitData` as float32 tensors.

    `ends` are the numbers that are read, stretched; `weights` `[members, N]` have mean 1.
    `centres`, `[members, 1, 1]`, are the means of what each member is told, so that it begins in
    the middle of it. `target` and `weight`, `[N, N]`, are what is known of each pair, `compared`
    says whether that is anything. `things` are None in a layout whose possessions are not known.
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
    def of(cls, data: FitData, ends: NDArray[np.float32], *, things: _Things | None) -> "_Learned":
        target, weight = _preferences(data)
        weights = data.weights
        known = np.isfinite(data.positions).all(axis=1)
        counted = np.where(known, weights, 0.0)
        told = np.where(known, data.positions.mean(axis=1), 0.0)
        centres = (counted @ told) / np.maximum(counted.sum(axis=1), 1e-9)
        return cls(
            ends=torch.from_numpy(ends),
            positions=torch.from_numpy(data.positions.astype(np.float32)),
            centres=torch.from_numpy(centres.astype(np.float32))[:, None, None],
            weights=torch.from_numpy(weights / weights.mean(axis=1, keepdims=True)),
            target=torch.from_numpy(target),
            weight=torch.from_numpy(weight),
            compared=bool(weight.any()),
            things=things,
        )


def _preferences(data: FitData) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """(`[N, N]` P(row better than column), `[N, N]` weight): what positions do not say already.

    Two positions say which segment is better and by how much. What is left are pairs with a segment
    that has none, and pairs that judges were shown side by side.
    """
    count = len(data.ends)
    target, weight = np.full((count, count), 0.5, np.float32), np.zeros((count, count), np.float32)
    others = np.arange(count)

    def fill(a: NDArray[np.int64], b: NDArray[np.int64]) -> None:
        found = data.table.compare(a, b)
        counted = np.where(a == b, 0.0, found.weight)
        target[a, b], target[b, a] = found.target, 1.0 - found.target
        weight[a, b] = weight[b, a] = counted

    for row in np.flatnonzero(~np.isfinite(data.positions.sum(axis=1))):
        fill(np.full(count, row), others)
    side = data.table.side_by_side.pairs
    if len(side):
        fill(side[:, 0], side[:, 1])
    return target, weight


def _loss(
    net: RewardNet, learned: _Learned, chosen: Tensor, noise: float, generator: torch.Generator
) -> Tensor:
    """What one batch costs, summed over the members.

    Summed, because a mean would divide the learning rate by their number.
    """
    ends = learned.ends[chosen]
    count = 2 * len(ends)
    rows = ends.flatten(0, 1)
    if learned.things is not None:
        some = rows[::_SWITCHED_EVERY]
        rows = torch.cat([rows, *_switched(some, learned.things, generator)])
    # Every moment once, and all in one pass: a step is mostly the cost of its many small calls.
    said = net.member_logits(rows)
    logits = said[:, :count].reshape(len(said), -1, 2)
    weights = learned.weights[:, chosen]
    rises = logits[..., 1] - logits[..., 0]
    centred = logits + learned.centres
    loss = _position_errors(centred, rises, learned.positions[chosen], weights)
    if learned.compared:
        loss = loss + _PREFERENCES * _entropy(rises / _SURE_RISE, weights, learned, chosen, noise)
    if learned.things is not None:
        without, owned = said[:, count:].chunk(2, dim=1)
        counted = (weights > 0).repeat_interleave(2, dim=1)[:, ::_SWITCHED_EVERY]
        loss = loss + _OWNED * _hinge(owned - without, counted)
    return loss


def _position_errors(logits: Tensor, rises: Tensor, positions: Tensor, weights: Tensor) -> Tensor:
    """Errors of moments `[K, S, 2]` and of rises `[K, S]`; 0 where positions are not known."""
    known = torch.isfinite(positions).all(dim=1)
    if not bool(known.any()):
        return logits.sum() * 0.0
    told, counted = positions[known], weights[:, known]
    moments = _huber(logits[:, known] - told).mean(dim=2)
    errors = moments + _RISES * _huber(rises[:, known] - (told[:, 1] - told[:, 0]))
    return (errors * counted).mean(dim=1).sum()


def _huber(error: Tensor) -> Tensor:
    """Squares of small errors; of large ones what continues them as a line."""
    return 2.0 * functional.huber_loss(
        error, torch.zeros_like(error), reduction="none", delta=_EXACT
    )


def _entropy(
    statistic: Tensor, weights: Tensor, learned: _Learned, chosen: Tensor, noise: float
) -> Tensor:
    """Cross-entropy in nats a pair of the chosen segments; `statistic`, `weights` `[K, S]`."""
    a, b = torch.triu_indices(len(chosen), len(chosen), offset=1)
    weight = learned.weight[chosen[a], chosen[b]]
    kept = torch.nonzero(weight).flatten()
    if not len(kept):
        return statistic.sum() * 0.0
    a, b = a[kept], b[kept]
    probability = torch.sigmoid(statistic[:, a] - statistic[:, b])
    # A mixture with chance, so that one wrong label pulls with bounded force.
    mixed = (1.0 - noise) * probability + 0.5 * noise
    counted = weight[kept] * weights[:, a] * weights[:, b]
    target = learned.target[chosen[a], chosen[b]].expand_as(mixed)
    entropy = functional.binary_cross_entropy(mixed, target, weight=counted, reduction="none")
    # A lone comparison counts as the one pair that it is, not as a whole batch of them.
    return (entropy.sum(dim=1) / counted.sum(dim=1).clamp_min(float(len(chosen)))).sum()


def _switched(rows: Tensor, things: _Things, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Rows with one thing, drawn at random in each, taken away and owned."""
    drawn = torch.randint(len(things.at), (len(rows),), generator=generator)
    each, slots = torch.arange(len(rows)), things.at[drawn]
    without, owned = rows.clone(), rows.clone()
    without[each, slots] = 0.0
    owned[each, slots] = things.one_more[drawn]
    return without, owned


def _hinge(gained: Tensor, counted: Tensor) -> Tensor:
    """How far possessions fall short of raising r by the margin, in the rows of each member.

    `gained` `[K, M]`; `counted` `[K, M]` bool, whether a row is one that the member learns from.
    """
    missing = torch.relu(_OWNED_MARGIN - gained) * counted
    return (missing.sum(dim=1) / counted.sum(dim=1).clamp_min(1)).sum()
