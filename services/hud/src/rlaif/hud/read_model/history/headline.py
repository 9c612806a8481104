"""What the first sentence of the page is made of: then and now, the judges, two runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rlaif.hud.read_model.history.bootstrap import LEAST, Difference, difference
from rlaif.hud.read_model.history.loads import values
from rlaif.hud.read_model.history.run_story import COHORT, Episode, RunStory
from rlaif.hud.read_model.history.scores import Score, by_episode

Judges = Literal[
    "agree", "disagree", "see no difference", "see better play", "see worse play", "unknown"
]


@dataclass(frozen=True)
class Trend:
    """Milestones an episode then and now.

    Attributes:
        since: What parts then from now: the run's first reward model, or its first episodes.
        since_version: That model; None for the first episodes.
        since_step: From which step on `now` counts.
    """

    since: Literal["load", "start"]
    since_version: int | None
    since_step: int
    milestones: Difference
    scores: Difference

    @property
    def judges(self) -> Judges:
        """Whether the judges' scores moved as the milestones did."""
        theirs, ours = self.scores.direction, self.milestones.direction
        if theirs is None or ours is None:
            return "unknown"
        if theirs == 0:
            return "see no difference"
        if ours == 0:
            return "see better play" if theirs > 0 else "see worse play"
        return "agree" if theirs == ours else "disagree"


@dataclass(frozen=True)
class SideBySide:
    """A run with judges and one of the same recipe without, up to the same step.

    Attributes:
        until_step: Where the shorter one stands.
        milestones: `before` is without judges, `after` with them.
    """

    with_run: str
    without_run: str
    until_step: int
    milestones: Difference


def trend(run: RunStory, scores: Sequence[Score]) -> Trend:
    """Then and now of one run.

    Then is before its first reward model, if enough episodes began before it or still may; else it
    is the run's first episodes. Now are the newest ones.
    """
    first = run.loads[0] if run.loads and run.loads[0].version is not None else None
    before = run.cohort(0)
    if first is not None and (len(before) >= LEAST or not run.is_complete(first.env_step)):
        now = [each for each in run.newest() if each.began >= first.env_step]
        step, version = first.env_step, first.version
        since: Literal["load", "start"] = "load"
    else:
        before, now = run.ends()
        step, version, since = now[0].began if now else 0, None, "start"
    return Trend(
        since=since,
        since_version=version,
        since_step=step,
        milestones=_compare(before, now),
        scores=difference(
            by_episode([each for each in scores if each.env_step < step])[-COHORT:],
            by_episode([each for each in scores if each.env_step >= step])[-COHORT:],
        ),
    )


def side_by_side(run: RunStory, others: Sequence[RunStory]) -> SideBySide | None:
    """The run and the newest one that differs from it in the judges alone; None without one.

    Of both the last quarter of the way is taken that both have gone.
    """
    if run.recipe is None or run.judged is None:
        return None
    alike = [
        other
        for other in others
        if other.recipe == run.recipe and other.judged is (not run.judged) and other.pieces
    ]
    if not alike or not run.pieces:
        return None
    other = alike[-1]
    until = min(run.oldest_open or 0, other.oldest_open or 0)
    since = 3 * until // 4
    mine, theirs = run.between(since, until), other.between(since, until)
    judged, plain = (run, other) if run.judged else (other, run)
    before, after = (theirs, mine) if run.judged else (mine, theirs)
    return SideBySide(judged.run_id, plain.run_id, until, _compare(before, after))


def _compare(before: Sequence[Episode], after: Sequence[Episode]) -> Difference:
    return difference(values(before)["milestones"], values(after)["milestones"])
