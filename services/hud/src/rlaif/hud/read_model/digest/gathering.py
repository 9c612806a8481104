"""What the HUD keeps, reduced to what happened since a moment: counts, means, the newest of each.

Times are those of who told them. What lies in the future by more than `AHEAD` is left out: by a
clock that is wrong it would be news for ever.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from statistics import fmean
from typing import Protocol, TypeVar

from rlaif.contracts.envelope import CloudEvent
from rlaif.contracts.events import ChampionChanged, RewardModelPublished
from rlaif.hud.read_model.digest.first_reached import FirstSegment
from rlaif.hud.read_model.digest.happenings import (
    Agreed,
    Begun,
    ByHand,
    GivenUp,
    Happenings,
    Many,
    Passed,
    Paying,
    Played,
    Reached,
    Refused,
    Scored,
    Several,
    Silence,
    TakenBack,
    TookOver,
)
from rlaif.hud.read_model.history.bootstrap import CONFIDENCE, LEAST, difference
from rlaif.hud.read_model.history.loads import values
from rlaif.hud.read_model.history.run_story import RunStory
from rlaif.hud.read_model.judge_health import JudgeHealth
from rlaif.hud.read_model.model_views import RejectionDetail
from rlaif.hud.read_model.views import DeadLetterRow, SegmentRow
from rlaif.hud.read_model.world_views import Takeover

AHEAD = timedelta(minutes=1)
"""Clocks of two machines may differ by so much."""


@dataclass(frozen=True)
class Window:
    """From `since` on until `now`; what began before and lasts is in it, too."""

    since: datetime
    now: datetime

    def holds(self, at: datetime | None) -> bool:
        """Whether something that happened `at` is in it."""
        return at is not None and self.since < at <= self.now + AHEAD


@dataclass(frozen=True)
class Kept:
    """What the HUD keeps, in any order unless said.

    Attributes:
        changes: Of the champion, oldest first.
        published: The first publication of each version.
        refused_full, letters_full: Whether there were more, which are forgotten.
        rows: Segments of the run; those that moved last before `rows_from` are forgotten.
        first_reached: Milestone → the first segment of the run that is known to reach it.
    """

    run: RunStory | None
    changes: Sequence[ChampionChanged]
    published: Iterable[CloudEvent[RewardModelPublished]]
    rejections: Iterable[RejectionDetail]
    refused_full: bool
    letters: Iterable[DeadLetterRow]
    letters_full: bool
    rows: Iterable[SegmentRow]
    rows_from: datetime | None
    first_reached: dict[str, FirstSegment]
    judges: JudgeHealth
    takeovers: Iterable[Takeover]


def gather(kept: Kept, window: Window) -> Callable[[], Happenings]:
    """All that happened in the window, as it stands now.

    The call compares how it was played, in any thread: 0.1 s with groups of another size.
    """
    rows, play = list(kept.rows), _played(kept.run, window)
    happened = Happenings(
        taken_back=_taken_back(kept.changes, window),
        by_hand=_by_hand(kept.changes, window),
        passed=_passed(kept.published, window),
        paying=_paying(kept.run, window),
        refused=_refused(kept, window),
        silences=_silences(kept.judges, window),
        given_up=_given_up(kept, window),
        begun=_begun(kept.run, window),
        reached=_reached(kept.first_reached, rows, window),
        scored=_scored(rows, kept.rows_from, window),
        agreed=_agreed(rows, kept.rows_from, window),
        took_over=_took_over(kept.takeovers, window),
    )
    return lambda: happened if play is None else replace(happened, played=play())


def _taken_back(changes: Sequence[ChampionChanged], window: Window) -> TakenBack | None:
    for before, change in _with_the_one_before(changes):
        if change.why not in ("watchdog", "demotion") or not window.holds(change.changed_at):
            continue
        # A withdrawal names the version that went; another change the one that came.
        gone = change.withdrawn is not None
        left = change.version if gone else before.version if before else None
        return TakenBack(
            at=change.changed_at,
            by="watchdog" if change.why == "watchdog" else "demotion",
            left=left,
            taken=None if gone else change.version,
            words=change.words or change.withdrawn,
        )
    return None


def _by_hand(changes: Sequence[ChampionChanged], window: Window) -> ByHand | None:
    for before, change in _with_the_one_before(changes):
        if change.why != "person" or not window.holds(change.changed_at):
            continue
        pinned = before.pinned if before is not None else False
        is_another = before is None or before.activation != change.activation
        if change.pinned and (is_another or not pinned):
            return ByHand(change.changed_at, "pinned", change.version, change.pin_reason)
        if is_another:
            return ByHand(change.changed_at, "chose", change.version, change.words)
        if pinned and not change.pinned:
            return ByHand(change.changed_at, "unpinned", change.version, change.words)
    return None


def _with_the_one_before(
    changes: Sequence[ChampionChanged],
) -> list[tuple[ChampionChanged | None, ChampionChanged]]:
    """The newest first."""
    return list(zip([None, *changes], changes, strict=False))[::-1]


def _passed(
    published: Iterable[CloudEvent[RewardModelPublished]], window: Window
) -> Several[Passed] | None:
    found = [
        Passed(each.time, each.data.version, each.data.heldout_accuracy, each.data.heldout_pairs)
        for each in published
        if window.holds(each.time)
    ]
    return _several(found)


def _paying(run: RunStory | None, window: Window) -> Paying | None:
    load = run.loads[-1] if run is not None and run.loads else None
    if load is None or not window.holds(load.at):
        return None
    return Paying(load.at, load.version, load.env_step)


def _refused(kept: Kept, window: Window) -> Several[Refused] | None:
    known = [Refused(each.rejected_at, each.reasons) for each in kept.rejections]
    found = [each for each in known if window.holds(each.at)]
    return _several(found, at_least=kept.refused_full and len(found) == len(known))


def _given_up(kept: Kept, window: Window) -> Several[GivenUp] | None:
    known = [GivenUp(each.dead_at, each.consumer, each.reason) for each in kept.letters]
    found = [each for each in known if window.holds(each.at)]
    return _several(found, at_least=kept.letters_full and len(found) == len(known))


def _silences(judges: JudgeHealth, window: Window) -> tuple[Silence, ...]:
    now = [Silence(each.since, each.judge, each.calls, None) for each in judges.failing]
    over = [
        Silence(each.since, each.judge, each.calls, each.until)
        for each in judges.recoveries
        if window.holds(each.until)
    ]
    return tuple(sorted([*now, *over], key=lambda each: (each.at, each.judge)))


def _begun(run: RunStory | None, window: Window) -> Several[Begun] | None:
    if run is None:
        return None
    found = [
        Begun(start.at, run.run_id, start.attempt, start.env_step)
        for start in run.starts
        if window.holds(start.at)
    ]
    return _several(found)


def _reached(
    first: dict[str, FirstSegment], rows: Sequence[SegmentRow], window: Window
) -> tuple[Reached, ...]:
    exported = {each.segment_id for each in rows if each.exported_at or each.scored_at}
    found = [
        Reached(
            at=segment.at,
            milestone=milestone,
            env_step=segment.env_step,
            episode_id=segment.episode_id,
            segment_id=segment.segment_id,
            can_be_opened=segment.segment_id in exported,
        )
        for milestone, segment in first.items()
        if window.holds(segment.at)
    ]
    return tuple(sorted(found, key=lambda each: (-each.env_step, each.milestone)))


def _scored(
    rows: Iterable[SegmentRow], rows_from: datetime | None, window: Window
) -> Scored | None:
    found = [
        (each.weighted, each.scored_at, each)
        for each in rows
        if each.weighted is not None and each.scored_at and window.holds(each.scored_at)
    ]
    if not found:
        return None
    best, at, row = max(found, key=lambda each: (each[0], each[1], each[2].segment_id))
    return Scored(
        at=at,
        segments=Many(len(found), at_least=window.holds(rows_from)),
        mean=fmean(weighted for weighted, _, _ in found),
        best=best,
        episode_id=row.episode_id,
        segment_id=row.segment_id,
    )


def _agreed(
    rows: Iterable[SegmentRow], rows_from: datetime | None, window: Window
) -> Agreed | None:
    found = [
        (each.votes_agreement, each.scored_at)
        for each in rows
        if each.votes_agreement is not None and each.scored_at and window.holds(each.scored_at)
    ]
    if not found:
        return None
    return Agreed(
        at=max(at for _, at in found),
        segments=Many(len(found), at_least=window.holds(rows_from)),
        mean=fmean(agreement for agreement, _ in found),
    )


def _played(run: RunStory | None, window: Window) -> Callable[[], Played] | None:
    pieces = [each for each in run.pieces if window.holds(each.at)] if run is not None else []
    if run is None or not pieces:
        return None
    border, at, until = pieces[0].since_step, pieces[-1].at, pieces[-1].env_step
    episodes = sum(each.episodes for each in pieces)
    earlier = Window(window.since - (window.now - window.since), window.since)
    started = next((each.since_step for each in run.pieces if earlier.holds(each.at)), border)
    before, after = (
        values(side)["milestones"] for side in run.around(min(started, border), border)
    )
    return lambda: Played(
        at=at,
        from_step=border,
        to_step=until,
        episodes=episodes,
        milestones=difference(before, after),
        least=LEAST,
        confidence=CONFIDENCE,
    )


def _took_over(takeovers: Iterable[Takeover], window: Window) -> Several[TookOver] | None:
    found = [
        TookOver(each.at, each.left, each.taken)
        for each in takeovers
        if each.why == "silent" and window.holds(each.at)
    ]
    return _several(found)


class _Timed(Protocol):
    @property
    def at(self) -> datetime: ...


T = TypeVar("T", bound=_Timed)


def _several(found: Sequence[T], *, at_least: bool = False) -> Several[T] | None:
    if not found:
        return None
    newest = max(found, key=lambda each: (each.at, repr(each)))  # of one moment always the same
    return Several(newest, Many(len(found), at_least))
