"""Before and after each load: two cohorts of one run, figure by figure.

It says what came after, never why: the policy learns all the time, with or without another model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from rlaif.hud.read_model.history.bootstrap import Difference, difference
from rlaif.hud.read_model.history.run_story import COHORT, Episode, RunStory
from rlaif.hud.read_model.history.scores import Score, by_episode

FIGURES: dict[str, Callable[[Episode], float | None]] = {
    "milestones": lambda episode: episode.gained,
    "rooms": lambda episode: episode.rooms,
    "deaths": lambda episode: episode.died,
    "episode_return": lambda episode: episode.reward,
    "shaped_return": lambda episode: episode.shaped,
}
"""Figure → its value of one episode; None when it is not known."""

SCORE = "judge_score"


@dataclass(frozen=True)
class Sides:
    """What two groups of episodes are compared by.

    Attributes:
        before, after: Figure → values, one an episode.
        unfinished: Episodes of the second group that wait for others to end.
    """

    before: dict[str, list[float]]
    after: dict[str, list[float]]
    unfinished: int = 0

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal groups: what a comparison can be kept by."""
        return tuple(
            (name, tuple(group)) for side in (self.before, self.after)
            for name, group in side.items()
        )  # fmt: skip


@dataclass(frozen=True)
class LoadSides:
    """A load and the groups before and after it."""

    version: int | None
    replaced: int | None
    env_step: int
    until_step: int | None
    at: datetime
    sides: Sides


def sides_of_loads(run: RunStory, scores: Sequence[Score]) -> list[LoadSides]:
    """Every load of a run with the cohorts on both sides of it, oldest first."""
    borders = [load.env_step for load in run.loads]
    found = []
    for index, load in enumerate(run.loads):
        since = borders[index - 1] if index else 0
        until = borders[index + 1] if index + 1 < len(borders) else None
        before = values(run.cohort(index), _within(scores, since, load.env_step))
        after = values(run.cohort(index + 1), _within(scores, load.env_step, until))
        found.append(
            LoadSides(
                version=load.version,
                replaced=run.loads[index - 1].version if index else None,
                env_step=load.env_step,
                until_step=until,
                at=load.at,
                sides=Sides(before, after, run.unfinished(index + 1)),
            )
        )
    return found


def values(episodes: Sequence[Episode], scores: Sequence[Score] = ()) -> dict[str, list[float]]:
    """Figure → what is known of it, one value an episode."""
    found = {
        name: [float(value) for each in episodes if (value := read(each)) is not None]
        for name, read in FIGURES.items()
    }
    return {**found, SCORE: by_episode(scores)[-COHORT:]}


def compared(sides: Sides) -> dict[str, Difference]:
    """Figure → how both groups differ in it; 30 ms for groups of 100."""
    return {name: difference(group, sides.after[name]) for name, group in sides.before.items()}


def _within(scores: Sequence[Score], since: int, until: int | None) -> list[Score]:
    return [
        score
        for score in scores
        if since <= score.env_step and (until is None or score.env_step < until)
    ]
