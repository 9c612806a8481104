"""The JSON of the history."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from rlaif.contracts.events import ChampionChanged, RunEvaluated
from rlaif.contracts.model import Id
from rlaif.hud.read_model import View
from rlaif.hud.read_model.history.comparison import Difference
from rlaif.hud.read_model.history.points import Point


class LoadMark(View):
    """The trainer uses another reward model from this step on; version null for none."""

    version: int | None
    step: int
    at: datetime


class StartMark(View):
    """A training process started or resumed the run."""

    attempt: int
    step: int
    at: datetime


class HistoryView(View):
    """The history of a run, and of the champion over all runs."""

    run_id: str | None = Field(description="Null before the first report.")
    points: tuple[Point, ...]
    loads: tuple[LoadMark, ...]
    starts: tuple[StartMark, ...]
    evaluations: tuple[RunEvaluated, ...] = Field(
        description="Frozen policy at the end of epochs, and random policy; oldest first."
    )
    control: tuple[RunEvaluated, ...] = Field(
        description="Those of the newest run that differs from it in the judges alone."
    )
    changes: tuple[ChampionChanged, ...] = Field(
        description="Changes of the champion or its pin, oldest first; the newest 300."
    )


class LoadView(View):
    """A model load, and the episodes before and after it; not a causal effect."""

    version: int | None = Field(description="Null: no model is used from here on.")
    replaced: int | None = Field(description="The version before; null for none.")
    env_step: int
    until_step: int | None = Field(description="The next load; null while it is in use.")
    at: datetime
    enough: bool = Field(description="Whether both groups have the required number of episodes.")
    unfinished: int = Field(
        description="Finished episodes that do not count yet, since others that started with them "
        "are still running; counting them would favour short episodes."
    )
    figures: dict[str, Difference] = Field(
        description="milestones, rooms, deaths (share), episode_return, shaped_return, judge_score."
    )


class LoadsView(View):
    """Before and after each model load of a run, newest first."""

    run_id: str | None
    min_episodes: int = Field(description="Required per group.")
    max_episodes: int = Field(description="Newest episodes of each group that are compared.")
    known: int = Field(description="Loads of the run in memory; `loads` are the newest.")
    loads: tuple[LoadView, ...]


class ComparedRunsView(View):
    """Two runs at the same step. Another seed may give another difference."""

    before_run: str = Field(description="Run of `before`; in the headline, the one without judges.")
    after_run: str
    until_step: int = Field(description="The last quarter of the steps up to here is compared.")
    milestones: Difference


class SentencePart(View):
    """Words, or a number of `/api/v1/state`."""

    text: str
    figure: str | None = Field(description="Path of the field that it shows; null for words.")


class HeadlineView(View):
    """Whether the agent improves, in one sentence, and the figures of the sentence."""

    text: str
    parts: tuple[SentencePart, ...] = Field(description="The same in parts.")
    run_id: str | None
    since: Literal["load", "start"] | None = Field(
        description="load: `before` is until the run's first reward model; start: its first "
        "episodes. `after` are always the newest ones. Null before the first report."
    )
    since_version: int | None
    since_step: int | None
    min_episodes: int = Field(description="Of each group.")
    confidence: float = Field(description="Confidence level of the intervals.")
    milestones: Difference | None = Field(
        description="Milestones per episode since its start, from RAM."
    )
    positions: Difference | None = Field(
        description="Mean position on the quest per episode, in objectives reached, as the judges "
        "place the player in uniform samples. Their scores rate five seconds each, not progress."
    )
    live_version: int | None
    pinned: bool | None
    runs: ComparedRunsView | None = Field(
        description="Null unless a run is known that differs in the judges alone."
    )


class ScorePoint(View):
    """A scored segment over the steps of its run."""

    env_step: int
    weighted: float
    position: float | None = Field(
        description="On the quest at its end, in objectives reached; null: not judged."
    )
    is_fair: bool = Field(
        description="Uniform sample of an episode from the run's own start: these are compared."
    )
    episode_id: Id
    segment_id: Id


class ScorePointsView(View):
    """Scores of the segments of one run, over its environment steps."""

    run_id: str | None = Field(description="Null while no run is known.")
    scored: int = Field(description="Scored segments in memory; an even sample if there are many.")
    window: int = Field(description="Maximum number of segments in a moving mean.")
    means: tuple[tuple[int, float], ...] = Field(
        description="(step, mean of the segment there and those before it)."
    )
    points: tuple[ScorePoint, ...] = Field(
        description="By step. If there are more than requested: the lowest and the highest of "
        "each interval, and the newest."
    )
