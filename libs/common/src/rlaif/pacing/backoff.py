"""Exponential back-off."""

_MAX_DOUBLINGS = 30
"""2^30 bases exceed any cap; larger powers overflow."""


def backoff(
    attempt: int, *, base: float, cap: float = float("inf"), jitter: float | None = None
) -> float:
    """`base * 2^(attempt - 1)` seconds, at most `cap`; `attempt` is 1 for the first failure.

    `jitter` in [0, 1) scales the result by [0.75, 1.25), so that clients do not retry in step.
    """
    wait = min(cap, base * 2.0 ** min(max(attempt, 1) - 1, _MAX_DOUBLINGS))
    return wait if jitter is None else wait * (0.75 + 0.5 * jitter)
