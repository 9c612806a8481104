"""The page's first sentence: how the agent changed, what the judges say, which model is live.

The sentence has parts: each number names the field that it shows, so that the page, REST and
screen readers have the same words.
"""

from collections.abc import Sequence
from dataclasses import dataclass
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
    Judges,
    ScorePoint,
    SentencePart,
)

_MINUS = "\N{MINUS SIGN}"
_ARROW = "\N{RIGHTWARDS ARROW}"

_JUDGES = {
    "agree": "judges agree",
    "disagree": "judges see the opposite",
    "see no difference": "judges see no difference",
    "see better play": "judges see better play",
    "see worse play": "judges see worse play",
    "unknown": "too few scores for a statement of the judges",
}

Parts = list[SentencePart]


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
    scores: Difference

    @property
    def judges(self) -> Judges:
        theirs, ours = self.scores.direction, self.milestones.direction
        if theirs is None or ours is None:
            return "unknown"
        if theirs == 0:
            return "see no difference"
        if ours == 0:
            return "see better play" if theirs > 0 else "see worse play"
        return "agree" if theirs == ours else "disagree"


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
    parts = _sentence(found, live_version, pinned=bool(pinned), known=known)
    return HeadlineView(
        text="".join(part.text for part in parts),
        parts=tuple(parts),
        run_id=run.run_id if run else None,
        since=found.since if found else None,
        since_version=found.since_version if found else None,
        since_step=found.since_step if found else None,
        least=MIN_EPISODES,
        confidence=CONFIDENCE,
        milestones=found.milestones if found else None,
        scores=found.scores if found else None,
        judges=found.judges if found else None,
        live_version=live_version,
        pinned=pinned,
        runs=_side_by_side(run, others) if run else None,
    )


def _trend(run: RunStory, scores: Sequence[ScorePoint]) -> Trend:
    """Before the first reward model against now.

    If too few episodes started before it, the run's first episodes against its newest.
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
    earlier = by_episode([each for each in scores if each.env_step < step])
    later = by_episode([each for each in scores if each.env_step >= step])
    return Trend(
        since=since,
        since_version=version,
        since_step=step,
        milestones=_compare(before, now),
        scores=difference(tuple(earlier[-MAX_COHORT:]), tuple(later[-MAX_COHORT:])),
    )


def _side_by_side(run: RunStory, others: Sequence[RunStory]) -> ComparedRunsView | None:
    """The run and the newest one that differs from it in the judges alone; None without one."""
    if run.recipe is None or run.judged is None or not run.points:
        return None
    alike = [
        other
        for other in others
        if other.recipe == run.recipe and other.judged is (not run.judged) and other.points
    ]
    if not alike:
        return None
    other = alike[-1]
    until = min(run.oldest_open or 0, other.oldest_open or 0)
    judged, plain = (run, other) if run.judged else (other, run)
    before, after = (each.between(3 * until // 4, until) for each in (plain, judged))
    return ComparedRunsView(
        with_run=judged.run_id,
        without_run=plain.run_id,
        until_step=until,
        milestones=_compare(before, after),
    )


def _compare(before: Sequence[Episode], after: Sequence[Episode]) -> Difference:
    groups = (
        tuple(float(each.gained) for each in group if each.gained is not None)
        for group in (before, after)
    )
    return difference(*groups)


def _sentence(trend: Trend | None, version: int | None, *, pinned: bool, known: bool) -> Parts:
    clauses = [_of_trend(trend), _of_judges(trend), _of_champion(version, pinned, known)]
    parts: Parts = []
    for clause in filter(None, clauses):
        parts += [_words("; "), *clause] if parts else clause
    return [*parts, _words(".")]


def _of_trend(trend: Trend | None) -> Parts:
    if trend is None:
        return [_words("No episodes have been reported yet")]
    found = trend.milestones
    since = [
        _words("its first episodes")
        if trend.since == "start"
        else _number("since_version", f"v{trend.since_version}")
    ]
    if found.after is None:
        if found.before is None:
            return [_words("No episode has finished yet")]
        return [_words("No episode that started since "), *since, _words(" has finished")]
    now = _number("milestones.after", f"{found.after:.2f}")
    if found.change is None or found.before is None:
        return [_words("Milestones per episode "), now, *_too_few(found, since)]
    return [
        _words("Milestones per episode "),
        _number("milestones.before", f"{found.before:.2f}"),
        _words(f" {_ARROW} "),
        now,
        _words(" since "),
        *since,
        _words(", no clear change (n = " if found.direction == 0 else " (n = "),
        _number("milestones.n_before", str(found.n_before)),
        _words(" and "),
        _number("milestones.n_after", str(found.n_after)),
        _words("; "),
        _number("confidence", "95 %"),
        _words(" interval of the change "),
        _number("milestones.low", _signed(found.low)),
        _words(" to "),
        _number("milestones.high", _signed(found.high)),
        _words(")"),
    ]


def _too_few(found: Difference, since: Parts) -> Parts:
    fewer = "after" if found.n_after <= found.n_before else "before"
    return [
        _words(" (n = "),
        _number("milestones.n_after", str(found.n_after)),
        _words("); too few episodes to compare since "),
        *since,
        _words(" ("),
        _number(f"milestones.n_{fewer}", str(min(found.n_after, found.n_before))),
        _words(" of "),
        _number("least", str(MIN_EPISODES)),
        _words(" before it)" if fewer == "before" else ")"),
    ]


def _of_judges(trend: Trend | None) -> Parts:
    if trend is None or trend.milestones.change is None:
        return []
    return [_words(_JUDGES[trend.judges])]


def _of_champion(version: int | None, pinned: bool, known: bool) -> Parts:
    if version is None:
        return [_words("no reward model is live")] if known else []
    return [
        _number("live_version", f"v{version}"),
        _words(" is live, pinned" if pinned else " is live"),
    ]


def _signed(value: float | None) -> str:
    if value is None:
        return "\N{EM DASH}"
    text = f"{abs(value):.2f}"
    return f"{_MINUS}{text}" if value < 0 and float(text) else f"+{text}"


def _words(text: str) -> SentencePart:
    return SentencePart(text=text, figure=None)


def _number(field: str, text: str) -> SentencePart:
    return SentencePart(text=text, figure=f"headline.{field}")
