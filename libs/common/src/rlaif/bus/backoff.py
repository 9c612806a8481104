"""How long to wait before the next try."""

from datetime import timedelta


def backoff(attempt: int, *, base: timedelta, cap: timedelta, jitter: float) -> timedelta:
    """Exponential wait, spread so that many clients do not come back together.

    Args:
        attempt: 1 for the first failure.
        base: Wait after the first failure.
        cap: Longest wait before jitter.
        jitter: Uniform in [0, 1); 0.5 is the middle.

    Returns:
        `base * 2^(attempt - 1)`, at most `cap`, times a factor in [0.75, 1.25).
    """
    doublings = min(max(attempt, 1) - 1, 30)  # 2^30 bases exceed any cap; larger ones overflow
    wait: timedelta = min(cap, base * 2**doublings)
    return wait * (0.75 + 0.5 * jitter)
