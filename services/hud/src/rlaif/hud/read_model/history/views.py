"""The JSON of the past."""

from datetime import datetime

from pydantic import Field

from rlaif.hud.read_model.view import View
from rlaif.hud.read_model.views import DifferenceView


class PieceView(View):
    """What happened between two environment steps of a run; neighbours add up to the run.

    Means are over the episodes that ended in it, or over its iterations; null of none.
    """

    since_step: int
    env_step: int
    at: datetime = Field(description="Trainer's clock.")
    iterations: int
    episodes: int = Field(description="That ended in it.")
    reward_model_version: int | None = Field(description="That paid last; null for none.")
    milestones_mean: float | None = Field(description="Story steps since an episode's start.")
    rooms_mean: float | None
    deaths_mean: float | None = Field(
        description="Share of episodes that a death ended; null where deaths end nothing."
    )
    returns_mean: float | None = Field(description="Of the game's own reward.")
    entropy: float | None
    policy_lag: float | None = Field(description="Updates.")
    steps_per_second: float | None
    low: dict[str, float] = Field(
        description="Lowest value of each of these where a point stands for several pieces."
    )
    high: dict[str, float]
    paid: dict[str, float] = Field(
        description="Part → sum; `shaping` is the reward model's, the others the game's and what "
        "the learner adds."
    )
    paid_total: float = Field(description="Of `paid`, exactly.")
    model_paid: float = Field(description="Of that, by the reward model.")
    learned_from: float | None = Field(description="Sum of what PPO learned from.")
    unexplained: float | None = Field(
        description="`learned_from` less `paid_total`: what is discounted inside decisions of many "
        "steps, and steps of a planner; null when it was not measured."
    )


class LoadMark(View):
    """From this step on a reward model paid; version null for none."""

    version: int | None
    step: int
    at: datetime


class StartMark(View):
    """A training process began with the run, or went on with it."""

    attempt: int
    step: int
    at: datetime


class ChangeView(View):
    """The champion or its pin changed."""

    version: int
    activation: int
    why: str
    words: str | None = Field(description="Not written by a language model.")
    pinned: bool
    pin_reason: str | None
    pinned_until: datetime | None
    withdrawn: str | None
    at: datetime


class RunName(View):
    """A run of which something is kept."""

    run_id: str
    env_step: int
    judged: bool | None = Field(description="Whether a reward model may pay in it.")
    recipe: str | None = Field(description="Runs of one recipe differ in the judges and the seed.")
    loads: int
    last_at: datetime | None


class HistoryView(View):
    """The past of a run, and of the champion over all runs."""

    run_id: str | None = Field(description="Null while nothing was told.")
    from_step: int | None = Field(description="Above 0: what came before is not kept any more.")
    to_step: int | None
    pieces: int = Field(description="That are kept; `points` are put together of them.")
    points: tuple[PieceView, ...]
    loads: tuple[LoadMark, ...]
    starts: tuple[StartMark, ...]
    changes: tuple[ChangeView, ...] = Field(description="Oldest first; the newest 300.")
    runs: tuple[RunName, ...] = Field(description="Oldest first.")


class LoadView(View):
    """A load, and the episodes before and after it. What came after is not because of it."""

    version: int | None = Field(description="Null: from here on no model paid.")
    replaced: int | None = Field(description="That paid before; null for none.")
    env_step: int
    until_step: int | None = Field(description="The next load; null while it pays.")
    at: datetime
    enough: bool = Field(description="Whether both sides have as many episodes as are needed.")
    unfinished: int = Field(
        description="Episodes since that ended but do not count yet: others that began with them "
        "still run, and only the short ones would speak."
    )
    figures: dict[str, DifferenceView] = Field(
        description="milestones, rooms, deaths (share), episode_return, shaped_return, judge_score."
    )


class LoadsView(View):
    """Before and after each load of a run, newest first."""

    run_id: str | None
    least: int = Field(description="Episodes that each side needs; of fewer nothing is claimed.")
    most: int = Field(description="Newest episodes of each side that are compared.")
    known: int = Field(description="Loads of the run that are kept; `loads` are the newest.")
    loads: tuple[LoadView, ...]
