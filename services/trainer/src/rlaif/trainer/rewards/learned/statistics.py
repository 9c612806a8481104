"""Statistics of the parts of the reward: a few numbers per part from `[T, N]` arrays."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from rlaif.trainer.rewards.learned.shaping import Bool, Float32
from rlaif.trainer.run_folder.protocol import PartFigures


def part_statistics(
    parts: dict[str, list[Float32]],
    ended: list[Bool],
    *,
    decay: float | Sequence[float | Float32],
    own: list[Bool] | None = None,
) -> dict[str, PartFigures]:
    """Statistics by part, from `[T, N]` rewards and ends for each fragment.

    The advantage share of a part is cov(part, whole) / var(whole), where both are sums of rewards
    discounted by gamma * lambda. The parts add up to 1; an opposing part is below 0.

    `decay` is gamma * lambda of the advantages: one number, or for each fragment one or `[T, N]`.
    Only the steps in `own`, `[T, N] bool` each, count; None: all. Empty without any.
    """
    own = own or [np.ones(ends.shape, dtype=np.bool_) for ends in ended]
    flat = {
        name: np.concatenate(
            [grid[counts] for grid, counts in zip(grids, own, strict=True)]
        ).astype(np.float64)
        for name, grids in parts.items()
    }
    if not any(counts.any() for counts in own):
        return {}
    weight = {name: float(np.abs(values).sum()) for name, values in flat.items()}
    everything = sum(weight.values())
    decays = [decay] * len(ended) if isinstance(decay, float | int) else decay
    shares = _advantage_shares(parts, ended, own, decays)
    return {
        name: PartFigures(
            sum=float(values.sum()),
            mean=float(values.mean()),
            std=float(values.std()),
            share=weight[name] / everything if everything else None,
            advantage_share=shares[name] if shares else None,
        )
        for name, values in flat.items()
    }


def _advantage_shares(
    parts: dict[str, list[Float32]],
    ended: list[Bool],
    own: list[Bool],
    decay: Sequence[float | Float32],
) -> dict[str, float] | None:
    sums: list[npt.NDArray[np.float64]] = []
    for length in sorted({len(ends) for ends in ended}):
        # Fragments of one length side by side: the recursion costs by the step, not by the column.
        alike = [number for number, ends in enumerate(ended) if len(ends) == length]
        rewards = np.stack(
            [np.concatenate([grids[n] for n in alike], axis=1) for grids in parts.values()]
        )
        counts = np.concatenate([own[n] for n in alike], axis=1)
        kept = np.concatenate([np.where(ended[n], 0.0, decay[n]) for n in alike], axis=1)
        sums.append(_discounted(rewards.astype(np.float64), kept)[:, counts])
    every = np.concatenate(sums, axis=1)
    every -= every.mean(axis=1, keepdims=True)
    whole = every.sum(axis=0)
    variance = float(whole @ whole)
    if variance <= 0.0:
        return None
    return dict(zip(parts, (every @ whole / variance).tolist(), strict=True))


def _discounted(
    rewards: npt.NDArray[np.float64], kept: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """`[P, T, N]` discounted sums of rewards until the end of the fragment.

    `kept` is `[T, N]`, the discount after each step: 0 at the end of an episode.
    """
    sums = np.empty_like(rewards)
    running = np.zeros_like(rewards[:, 0])
    for t in range(rewards.shape[1] - 1, -1, -1):
        running = rewards[:, t] + kept[t] * running
        sums[:, t] = running
    return sums
