"""Pieces of a run as charts need them: sums that neighbours add up to, and what lay between."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from rlaif.contracts.run_points import RunPoint

FIGURES = ("milestones", "rooms", "deaths", "episode_return", "entropy", "policy_lag",
           "steps_per_second")  # fmt: skip
"""What has a mean, a lowest and a highest value in a piece that was put together."""

_MODEL = "shaping"


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean that can be joined with another."""

    sum: float = 0.0
    weight: float = 0.0

    @property
    def value(self) -> float | None:
        """The mean; None of nothing."""
        return self.sum / self.weight if self.weight else None

    def __add__(self, other: "Mean") -> "Mean":
        return Mean(self.sum + other.sum, self.weight + other.weight)


@dataclass(frozen=True, slots=True)
class Piece:
    """What happened in a run between two environment steps of it.

    Attributes:
        means: Figure → its mean: over episodes, or over iterations.
        low, high: Figure → its least and greatest mean of the pieces that it was put together of.
        paid: Part of the reward → its sum.
        learned_from: Sum of what PPO learned from; None when it is not known of all of it.
    """

    since_step: int
    env_step: int
    at: datetime
    iterations: int
    episodes: int
    version: int | None
    means: dict[str, Mean]
    paid: dict[str, float]
    learned_from: float | None
    low: dict[str, float] = field(default_factory=dict)
    high: dict[str, float] = field(default_factory=dict)

    @property
    def model_paid(self) -> float:
        """What the reward model paid."""
        return self.paid.get(_MODEL, 0.0)

    @property
    def unexplained(self) -> float | None:
        """What PPO learned from beyond the parts; None when it is not known."""
        if self.learned_from is None:
            return None
        return self.learned_from - sum(self.paid.values())


def piece_of(point: RunPoint) -> Piece:
    """A piece as the trainer told it."""
    rows = point.episodes
    by_iteration = {
        name: Mean() if value is None else Mean(value * point.iterations, point.iterations)
        for name, value in (
            ("entropy", point.entropy),
            ("policy_lag", point.policy_lag),
            ("steps_per_second", point.steps_per_second),
        )
    }
    by_episode = {
        name: _mean_of(column, rows.stride)
        for name, column in (
            ("milestones", rows.gained),
            ("rooms", rows.rooms),
            ("deaths", rows.died),
            ("episode_return", rows.returns),
        )
    }
    means = by_episode | by_iteration
    known = {name: mean.value for name, mean in means.items() if mean.value is not None}
    return Piece(
        since_step=point.since_step,
        env_step=point.env_step,
        at=point.at,
        iterations=point.iterations,
        episodes=rows.count,
        version=point.reward_model_version,
        means=means,
        paid=dict(point.paid),
        learned_from=point.learned_from,
        low=known,
        high=known,
    )


def joined(one: Piece, later: Piece) -> Piece:
    """Two pieces as one; all sums are theirs."""
    known = None not in (one.learned_from, later.learned_from)
    return Piece(
        since_step=one.since_step,
        env_step=later.env_step,
        at=later.at,
        iterations=one.iterations + later.iterations,
        episodes=one.episodes + later.episodes,
        version=later.version,
        means={name: one.means[name] + later.means[name] for name in FIGURES},
        paid={
            name: one.paid.get(name, 0.0) + later.paid.get(name, 0.0)
            for name in {**one.paid, **later.paid}
        },
        learned_from=(one.learned_from or 0.0) + (later.learned_from or 0.0) if known else None,
        low=_of_both(min, one.low, later.low),
        high=_of_both(max, one.high, later.high),
    )


def thinned(pieces: Sequence[Piece], most: int) -> list[Piece]:
    """At most `most` pieces of equal width in steps, with the same sums."""
    if len(pieces) <= most:
        return list(pieces)
    first, width = pieces[0].since_step, (pieces[-1].env_step - pieces[0].since_step) / most
    found: list[Piece] = []
    last = -1
    for piece in pieces:
        # By where it ends; the last one ends inside the last bin.
        bin_of = min(most - 1, int((piece.env_step - 1 - first) / width))
        if found and bin_of == last:
            found[-1] = joined(found[-1], piece)
        else:
            found.append(piece)
        last = bin_of
    return found


def _mean_of(column: Sequence[float | None], stride: int) -> Mean:
    known = [value for value in column if value is not None]
    return Mean(float(sum(known)) * stride, float(len(known) * stride))


def _of_both(
    pick: Callable[[float, float], float], one: dict[str, float], other: dict[str, float]
) -> dict[str, float]:
    return {
        name: pick(one[name], other[name]) if name in one and name in other
        else one.get(name, other.get(name, 0.0))
        for name in {**one, **other}
    }  # fmt: skip
