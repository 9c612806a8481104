"""The page's first sentence: how the agent changed, what the judges say, which model is live.

The sentence has parts: each number has the path of its field, so that the page, REST and
screen readers use the same words.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from string import Formatter
from typing import Literal

from rlaif.hud.read_model.history.comparison import (
    CONFIDENCE,
    MIN_EPISODES,
    Difference,
    difference,
)
from rlaif.hud.read_model.history.run_story import MAX_COHORT, Episode, RunStory
from rlaif.hud.read_model.history.scores import by_episode
from rlaif.hud.read_model.history.views import (
    ComparedRunsView,
    HeadlineView,
    ScorePoint,
    SentencePart,
)

_MINUS = "\N{MINUS SIGN}"
_ARROW = "\N{RIGHTWARDS ARROW}"


@dataclass(frozen=True)
class Trend:
    """Milestones per episode before and after `since_step`.

    Attributes:
        since: The run's first reward model, or its first episodes.
        since_version: That model; None for the first episodes.
    """

    since: Literal["load", "start"]
    since_version: int | None
    since_step: int
    milestones: Difference
    positions: Difference


def headline(
    run: RunStory | None,
    others: Sequence[RunStory],
    scores: Sequence[ScorePoint],
    *,
    live_version: int | None,
    pinned: bool | None,
    known: bool,
) -> HeadlineView:
    """The headline of one run; `known`: no `live_version` means that no model is live."""
    found = _trend(run, scores) if run else None
    view = HeadlineView(
        text="",
        parts=(),
        run_id=run.run_id if run else None,
        since=found.since if found else None,
        since_version=found.since_version if found else None,
        since_step=found.since_step if found else None,
        min_episodes=MIN_EPISODES,
        confidence=CONFIDENCE,
        milestones=found.milestones if found else None,
        positions=found.positions if found else None,
        live_version=live_version,
        pinned=pinned,
        runs=_side_by_side(run, others) if run else None,
    )
    parts = tuple(_parts("; ".join(_clauses(view, known=known)) + ".", view))
    return view.model_copy(update={"parts": parts, "text": "".join(part.text for part in parts)})


def _trend(run: RunStory, scores: Sequence[ScorePoint]) -> Trend:
    """The trend from before the first reward model to now.

    If too few episodes started before it, from the run's first episodes to its newest.
    """
    first = run.loads[0] if run.loads and run.loads[0].version is not None else None
    before = run.cohort(0)
    if first is not None and (len(before) >= MIN_EPISODES or not run.is_complete(first.step)):
        now = [each for each in run.newest() if each.began >= first.step]
        step, version = first.step, first.version
        since: Literal["load", "start"] = "load"
    else:
        before, now = run.ends()
        step, version, since = now[0].began if now else 0, None, "start"
    earlier, later = (
        tuple(by_episode(each, lambda score: score.position))
        for each in (
            [score for score in scores if score.env_step < step],
            [score for score in scores if score.env_step >= step],
        )
    )
    return Trend(
        since=since,
        since_version=version,
        since_step=step,
        milestones=_compare(before, now),
        positions=difference(earlier[-MAX_COHORT:], later[-MAX_COHORT:]),
    )


def counterpart(run: RunStory, others: Iterable[RunStory]) -> RunStory | None:
    """The newest run that differs from this one in the judges alone; None without one."""
    if run.recipe is None or run.judged is None or not run.points:
        return None
    alike = [
        other
        for other in others
        if other.recipe == run.recipe and other.judged is (not run.judged) and other.points
    ]
    return alike[-1] if alike else None


def _side_by_side(run: RunStory, others: Sequence[RunStory]) -> ComparedRunsView | None:
    other = counterpart(run, others)
    if other is None:
        return None
    return compare_runs(other, run) if run.judged else compare_runs(run, other)


def compare_runs(before: RunStory, after: RunStory) -> ComparedRunsView:
    """Milestones per episode of two runs, up to the last step that both have finished."""
    until = min(before.oldest_open or 0, after.oldest_open or 0)
    return ComparedRunsView(
        before_run=before.run_id,
        after_run=after.run_id,
        until_step=until,
        milestones=_compare(
            *(each.between(3 * until // 4, until) for each in (before, after)),
        ),
    )


def _compare(before: Sequence[Episode], after: Sequence[Episode]) -> Difference:
    groups = (
        tuple(float(each.gained) for each in group if each.gained is not None)
        for group in (before, after)
    )
    return difference(*groups)


def _clauses(view: HeadlineView, *, known: bool) -> Iterator[str]:
    """Format strings over the fields of the view."""
    yield _of_milestones(view)
    if view.positions and view.milestones and view.milestones.change is not None:
        yield _of_judges(view.positions)
    if view.live_version is not None:
        yield "{live_version:v} is live, pinned" if view.pinned else "{live_version:v} is live"
    elif known:
        yield "no reward model is live"


def _of_judges(found: Difference) -> str:
    if found.change is None:
        fewer = "after" if found.n_after <= found.n_before else "before"
        return (
            "too few uniform samples to compare the judged positions "
            f"({{positions.n_{fewer}}} of {{min_episodes}} episodes)"
        )
    clear = "" if found.direction else ", no clear change"
    return (
        f"judges place the player at {{positions.before:.1f}} {_ARROW} {{positions.after:.1f}} "
        f"objectives{clear}"
    )


def _of_milestones(view: HeadlineView) -> str:
    found = view.milestones
    if found is None:
        return "No episodes have been reported yet"
    since = (
        "its first episodes"
        if view.since == "start"
        else "reward model {since_version:v} was loaded"
    )
    if found.after is None:
        if found.before is None:
            return "No episode has finished yet"
        return f"No episode that started since {since} has finished yet"
    if found.change is None or found.before is None:
        fewer, end = ("after", "") if found.n_after <= found.n_before else ("before", " before it")
        past = since if view.since == "start" else f"those before {since}"
        return (
            "Milestones per episode {milestones.after:.2f} ({milestones.n_after} episodes); too "
            f"early to compare with {past}: {{milestones.n_{fewer}}} of {{min_episodes}} "
            f"episodes{end}"
        )
    rose = {1: "rose", -1: "fell", 0: "did not change clearly:"}[found.direction or 0]
    link = f" {_ARROW} " if not found.direction else " to "
    start = "" if not found.direction else " from"
    return (
        f"Milestones per episode {rose}{start} {{milestones.before:.2f}}{link}"
        f"{{milestones.after:.2f}} since {since} ({{milestones.n_before}} and "
        "{milestones.n_after} episodes; change {milestones.low:+z.2f} to {milestones.high:+z.2f}, "
        "{confidence:.0%})"
    )


def _parts(template: str, view: HeadlineView) -> Iterator[SentencePart]:
    for literal, field, spec, _ in Formatter().parse(template):
        if literal:
            yield SentencePart(text=literal, figure=None)
        if field:
            value = attrgetter(field)(view)
            text = f"v{value}" if spec == "v" else format(value, spec or "")
            text = text.replace("-", _MINUS).replace("%", " %")
            yield SentencePart(text=text, figure=f"headline.{field}")
