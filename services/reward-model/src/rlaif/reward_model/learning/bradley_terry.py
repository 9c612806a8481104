"""Fits an ensemble to preferences: P(A > B) = sigmoid(R(A) - R(B)).

R is one number of a segment, made of the network's logits r:

* `mean` (default): the mean of r over the segment, as PEBBLE and Motif do. The potential is then
  high where good segments are played, which is what the additive mode pays.
* `end_minus_start`: r(last) - r(first). The trainer's potential mode pays F = γΦ(s') - Φ(s), whose
  sum over a segment is the potential's rise, so this trains what is used. But most of what judges
  see happens between the two, and what a segment did there is lost.

On 201 segments of the built-in cartridge the mean ranked held-out pairs 0.83 right, the rise 0.60;
on the first 80 it was 0.68 against 0.42 (ADR 0009). Shaping keeps the optimal policies with either.

Novelty and efficiency belong to a path, and no function of one state can express them fully.

Every step takes some segments and compares all pairs among them: each segment is evaluated once and
teaches against all others, which costs a sixth of drawing the same number of pairs.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_model.labels.preferences import PairTable, by_degree
from rlaif.reward_model.learning.batches import batches
from rlaif.reward_model.learning.settings import FitSettings, Statistic
from rlaif.reward_net.network import RewardNet

MEAN_ROWS = 8
"""Observations, evenly spaced, that stand for a segment under `mean`."""

_LEAST_SPREAD = 1e-3

_BATCH_SEGMENTS = 64
"""Segments a step; all pairs among them are compared."""

_CENTRING = 1e-2
"""Weight of mean(r²), which keeps the scale of r from growing without end: preferences fix
differences only."""


def segment_rows(observations: NDArray[np.float32], statistic: Statistic) -> NDArray[np.float32]:
    """`[R, inputs]`: the rows of one segment, `[T, inputs]`, that its statistic is made of."""
    last = len(observations) - 1
    if statistic == "end_minus_start":
        return observations[[0, last]]
    return observations[np.linspace(0, last, MEAN_ROWS).round().astype(np.int64)]


def row_weights(statistic: Statistic) -> NDArray[np.float32]:
    """`[R]` float32: the statistic is the sum of these times the values of the rows."""
    if statistic == "end_minus_start":
        return np.array([-1.0, 1.0], np.float32)
    return np.full(MEAN_ROWS, 1.0 / MEAN_ROWS, np.float32)


def fit(
    rows: NDArray[np.float32],
    table: PairTable,
    bags: NDArray[np.float32],
    *,
    spec: RewardNetSpec,
    settings: FitSettings,
    seed: int,
    epochs: int,
    start: RewardNet | None = None,
) -> RewardNet:
    """An ensemble fitted to `rows`, `[N, R, inputs]`; its constants are still those of `spec`.

    `bags`, `[members, N]`, is how much each segment counts for each member. `start` has the same
    shape; without it the weights are fresh. Equal seeds, data and thread counts give equal weights:
    no global generator is used.
    """
    generator = torch.Generator().manual_seed(seed)
    net = RewardNet(spec, generator=generator)
    if start is not None:
        net.load_state_dict(start.state_dict())
    net.train().requires_grad_(True)
    optimiser = torch.optim.Adam(
        net.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
    )
    data = torch.from_numpy(rows)
    weights = torch.from_numpy(bags)
    combine = torch.from_numpy(row_weights(settings.statistic))
    for _ in range(epochs):
        order = torch.randperm(len(rows), generator=generator).numpy()
        for batch in batches(order, table.side_by_side.pairs, _BATCH_SEGMENTS):
            pairs = _all_pairs(table, batch)
            if pairs is None:
                continue
            chosen = torch.from_numpy(batch)
            optimiser.zero_grad(set_to_none=True)
            loss = _loss(net, data[chosen], weights[:, chosen], combine, pairs, settings)
            torch.autograd.backward(loss)
            optimiser.step()
    return net.eval().requires_grad_(False)


def freeze_constants(
    net: RewardNet, observations: NDArray[np.float32], initial: NDArray[np.float32]
) -> RewardNet:
    """Bring the members to one scale, and fix the potential's shift and spread, once and for all.

    The potential is then near 0 at `initial`, `[M, inputs]`, where episodes start (or at the data's
    mean when M is 0) and has root mean square about 0.7 over the training `observations`,
    `[N, inputs]`. The members have equal mean and deviation there, the first one is the nearest to
    their mean.
    """
    net = _evened(net, torch.from_numpy(observations))
    with torch.inference_mode():
        logits = net(torch.from_numpy(observations)).double()
        centre = net(torch.from_numpy(initial)).double() if len(initial) else logits
    shift = float(centre.mean())
    spread = float((logits - shift).square().mean().sqrt())
    return net.with_constants(shift=shift, spread=max(spread, _LEAST_SPREAD))


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


@dataclass(frozen=True)
class _Pairs:
    """`[P]` tensors: places of A and B in the batch, targets and weights."""

    a: Tensor
    b: Tensor
    target: Tensor
    weight: Tensor


def _all_pairs(table: PairTable, chosen: NDArray[np.int64]) -> _Pairs | None:
    """All pairs among the chosen segments that teach something; None without any."""
    a, b = np.triu_indices(len(chosen), k=1)
    compared = table.compare(chosen[a], chosen[b])
    weight = by_degree(compared.weight, a, b, len(chosen))
    weight *= table.importance(chosen[a], chosen[b])
    kept = np.flatnonzero(weight)
    if not len(kept):
        return None
    return _Pairs(
        a=torch.from_numpy(a[kept]),
        b=torch.from_numpy(b[kept]),
        target=torch.from_numpy(compared.target[kept].astype(np.float32)),
        weight=torch.from_numpy(weight[kept].astype(np.float32)),
    )


def _loss(
    net: RewardNet,
    data: Tensor,
    bags: Tensor,
    combine: Tensor,
    pairs: _Pairs,
    settings: FitSettings,
) -> Tensor:
    """Cross-entropy in nats a pair plus the centring term, summed over the members.

    Summed, because a mean over members would divide the learning rate by their number.
    """
    # [S, R, inputs] -> [K, S * R] logits -> [K, S, R]: every segment is evaluated once.
    logits = net.member_logits(data.flatten(0, 1)).view(-1, *data.shape[:2])
    statistic = logits @ combine
    probability = torch.sigmoid(statistic[:, pairs.a] - statistic[:, pairs.b])
    mixed = (1.0 - settings.noise) * probability + 0.5 * settings.noise
    weight = pairs.weight * bags[:, pairs.a] * bags[:, pairs.b]
    entropy = functional.binary_cross_entropy(
        mixed, pairs.target.expand_as(mixed), weight=weight, reduction="none"
    )
    preference = (entropy.sum(dim=1) / weight.sum(dim=1)).sum()
    loss: Tensor = preference + _CENTRING * logits.square().mean(dim=(1, 2)).sum()
    return loss
