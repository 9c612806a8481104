"""Generalized advantage estimation over fragments of N environments.

Source: Schulman et al. 2016, arXiv 1506.02438, equation 16; truncated episodes bootstrap, ended
ones do not. Decisions of their own length discount by it; lambda counts decisions: it weighs how
far the critic is trusted, from choice to choice. Where a planner takes over, the policy's part is
cut as by a limit (ADR 0023).
"""

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]
Bool = npt.NDArray[np.bool_]


def advantages(
    rewards: Float32,
    values: Float32,
    next_values: Float32,
    ended: Bool,
    *,
    gamma: float | Float32,
    lam: float,
) -> Float32:
    """Advantages, with the recursion cut at the end of each episode.

    Args:
        rewards: `[T, N]`, shaping included.
        values: `[T, N]`, V of the state in which each action was chosen.
        next_values: `[T, N]`, V of the state after it: 0 where the game ended the episode, V of
            the final observation where a limit cut it.
        ended: `[T, N] bool`, terminated or truncated, or `cut_by_planner`.
        gamma: Discount of a decision, of all alike or `[T, N] float32` (`discounting.discounts`).
        lam: Lambda; 0 is one-step TD, 1 is Monte Carlo minus the baseline.

    Returns:
        `[T, N] float32`. Value targets are `advantages + values`.
    """
    deltas = rewards + gamma * next_values - values
    decay = np.broadcast_to(np.asarray(gamma * lam, dtype=np.float32), deltas.shape)
    result: Float32 = np.empty_like(deltas)
    running = np.zeros(deltas.shape[1], dtype=np.float32)
    for t in range(deltas.shape[0] - 1, -1, -1):
        running = deltas[t] + decay[t] * np.where(ended[t], 0.0, running).astype(np.float32)
        result[t] = running
    return result


def cut_by_planner(ended: Bool, by_planner: Bool) -> Bool:
    """Ends of the policy's own stretches: of episodes, and the last step before a takeover.

    Both `[T, N] bool`. The next value of such a step is V of the state in which the planner takes
    over, which is there anyway. What the planner's own steps get is to be left out.
    """
    cut = ended | by_planner
    cut[:-1] |= by_planner[1:]
    return cut


def standardized(values: Float32) -> Float32:
    """Zero mean and unit deviation; the floor of 1e-4 on the deviation is RLlib's.

    What is no number stays none, and does not count.
    """
    flat = values.astype(np.float64)
    known = flat[np.isfinite(flat)]
    if not len(known):
        return values
    scaled = (flat - known.mean()) / max(1e-4, float(known.std()))
    narrow: Float32 = scaled.astype(np.float32)
    return narrow
