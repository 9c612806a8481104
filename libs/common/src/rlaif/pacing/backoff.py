"""How long to wait before the next try."""

_MOST_DOUBLINGS = 30
"""2^30 bases exceed any cap; larger powers overflow."""


def backoff(
    attempt: int, *, base: float, cap: float = float("inf"), jitter: float | None = None
) -> float:
    """Exponential wait in seconds; jitter keeps many clients from coming back together.

    Args:
        attempt: 1 for the first failure.
        base: Seconds after the first failure.
        cap: Most seconds, before jitter.
        jitter: Uniform in [0, 1), 0.5 is the middle; None for none.

    Returns:
        `base * 2^(attempt - 1)`, at most `cap`; with jitter, times a factor in [0.75, 1.25).
    """
    wait = min(cap, base * 2.0 ** min(max(attempt, 1) - 1, _MOST_DOUBLINGS))
    return wait if jitter is None else wait * (0.75 + 0.5 * jitter)
