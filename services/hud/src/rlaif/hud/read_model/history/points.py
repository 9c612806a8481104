"""Points of a run's charts: sums over a range of environment steps, and means with their range."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from pydantic import Field, computed_field

from rlaif.contracts.run_points import RunPoint
from rlaif.hud.read_model import View

FIGURES = {
    "milestones": "milestones_mean",
    "rooms": "rooms_mean",
    "deaths": "deaths_mean",
    "episode_return": "returns_mean",
    "entropy": "entropy",
    "policy_lag": "policy_lag",
    "steps_per_second": "steps_per_second",
}
"""Figure (a key of `low` and `high`) → the field of its mean."""


class Point(View):
    """A run between two environment steps; consecutive points add up to the run.

    Means are over the episodes that ended in it, or over its iterations; null if there are none.
    """

    since_step: int
    env_step: int
    at: datetime = Field(description="Trainer's clock.")
    iterations: int
    episodes: int = Field(description="Episodes that ended.")
    reward_model_version: int | None = Field(description="In use at the end; null for none.")
    milestones_mean: float | None = Field(description="Milestones since the episode's start.")
    rooms_mean: float | None
    deaths_mean: float | None = Field(
        description="Share of episodes that ended by death; null if deaths do not end episodes."
    )
    returns_mean: float | None = Field(description="Of the game's own reward.")
    entropy: float | None
    policy_lag: float | None = Field(description="Updates.")
    steps_per_second: float | None
    low: dict[str, float] = Field(description="Minimum of each mean over the merged points.")
    high: dict[str, float] = Field(description="Maximum of each mean over the merged points.")
    paid: dict[str, float] = Field(
        description="Part of the reward → its sum; `shaping` is the reward model's, the others "
        "are the game's and those that the learner adds."
    )
    learned_from: float | None = Field(description="Sum of the rewards that PPO learned from.")
    learner: dict[str, float] = Field(
        description="Losses and other figures of PPO by RLlib's names: means over iterations."
    )
    weights: dict[str, float] = Field(exclude=True)

    @computed_field  # type: ignore[prop-decorator]  # as documented by pydantic
    @property
    def paid_total(self) -> float:
        return sum(self.paid.values())

    @computed_field  # type: ignore[prop-decorator]
    @property
    def unexplained(self) -> float | None:
        """`learned_from` minus `paid_total`: discounting inside decisions, and planner steps."""
        return None if self.learned_from is None else self.learned_from - self.paid_total


def point_of(point: RunPoint) -> Point:
    """A point as the trainer reported it."""
    rows = point.episodes
    figures = {
        name: (value, point.iterations if value is not None else 0)
        for name, value in (
            ("entropy", point.entropy),
            ("policy_lag", point.policy_lag),
            ("steps_per_second", point.steps_per_second),
        )
    }
    for name, column in (
        ("milestones", rows.gained),
        ("rooms", rows.rooms),
        ("deaths", rows.died),
        ("episode_return", rows.returns),
    ):
        known = [float(value) for value in column if value is not None]
        mean = sum(known) / len(known) if known else None
        figures[name] = (mean, len(known) * rows.stride)
    extremes = {name: mean for name, (mean, _) in figures.items() if mean is not None}
    return Point(
        since_step=point.since_step,
        env_step=point.env_step,
        at=point.at,
        iterations=point.iterations,
        episodes=rows.count,
        reward_model_version=point.reward_model_version,
        paid=point.paid,
        learned_from=point.learned_from,
        learner=point.learner,
        low=extremes,
        high=extremes,
        weights={name: weight for name, (_, weight) in figures.items()},
        **{FIGURES[name]: mean for name, (mean, _) in figures.items()},
    )


def joined(one: Point, later: Point) -> Point:
    """Two consecutive points merged into one."""
    known = None not in (one.learned_from, later.learned_from)
    means = {field: _mean(one, later, name) for name, field in FIGURES.items()}
    return later.model_copy(
        update={
            **means,
            "since_step": one.since_step,
            "iterations": one.iterations + later.iterations,
            "episodes": one.episodes + later.episodes,
            "paid": _merged(float.__add__, one.paid, later.paid),
            "learned_from": (one.learned_from or 0.0) + (later.learned_from or 0.0)
            if known
            else None,
            "learner": _merged(
                lambda a, b: (
                    (a * one.iterations + b * later.iterations)
                    / (one.iterations + later.iterations)
                ),
                one.learner,
                later.learner,
            ),
            "low": _merged(min, one.low, later.low),
            "high": _merged(max, one.high, later.high),
            "weights": {name: one.weights[name] + later.weights[name] for name in FIGURES},
        }
    )


def thinned(
    points: Sequence[Point], most: int, borders: Collection[int] = frozenset()
) -> list[Point]:
    """Merge points into at most `most` of equal width in steps; sums are preserved.

    A point also starts at each of the steps `borders`.
    """
    if len(points) <= most:
        return list(points)
    first, width = points[0].since_step, (points[-1].env_step - points[0].since_step) / most
    found: list[Point] = []
    last = -1
    for point in points:
        bin_of = min(most - 1, int((point.env_step - 1 - first) / width))
        if bin_of == last and point.since_step not in borders:
            found[-1] = joined(found[-1], point)
        else:
            found.append(point)
        last = bin_of
    return found


def _mean(one: Point, later: Point, name: str) -> float | None:
    field, weight = FIGURES[name], one.weights[name] + later.weights[name]
    if not weight:
        return None
    total = sum((getattr(each, field) or 0.0) * each.weights[name] for each in (one, later))
    return float(total / weight)


def _merged(
    merge: Callable[[float, float], float], one: dict[str, float], other: dict[str, float]
) -> dict[str, float]:
    both = {name: merge(one[name], other[name]) for name in one if name in other}
    return {**one, **other, **both}
