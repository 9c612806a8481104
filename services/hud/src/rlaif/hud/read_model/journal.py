"""The event log: one sentence per event, with increasing ids."""

from collections import deque
from datetime import datetime
from typing import Literal

from rlaif.contracts.events import (
    ChampionChanged,
    DeadLetter,
    EventData,
    RewardModelPublished,
    RewardModelRejected,
    RunStarted,
    SegmentCaptured,
    SegmentExported,
    SegmentScored,
)
from rlaif.contracts.telemetry import JudgeCall
from rlaif.hud.read_model.judge_health import Recovery
from rlaif.hud.read_model.views import EventsPage, FailingJudge, JournalEntry, Takeover

Level = Literal["info", "warning"]


def sentence(data: EventData, *, went_back_from: int | None = None) -> tuple[str, Level]:
    """What happened, and whether somebody should look at it."""
    match data:
        case SegmentCaptured():
            return (
                f"Captured segment {data.segment_id} at step {data.env_step:,}: "
                f"{data.decision_steps} decisions.",
                "info",
            )
        case SegmentExported():
            return f"Exported segment {data.segment_id}: {data.frames} frames verified.", "info"
        case SegmentScored():
            return _scored(data), "info"
        case RewardModelPublished() if went_back_from is not None:
            text = f"The champion went back from v{went_back_from} to reward model v{data.version}."
            return text, "warning"
        case RewardModelPublished():
            return (
                f"Reward model v{data.version} is the champion: {data.labels} labels, held-out "
                f"accuracy {data.heldout_accuracy:.0%} of {data.heldout_pairs} pairs.",
                "info",
            )
        case RewardModelRejected():
            return f"Rejected {data.candidate_id}: {'; '.join(data.reasons)}.", "info"
        case DeadLetter():
            return (
                f"{data.consumer} gave up {data.event_id} after {data.attempts} "
                f"{'try' if data.attempts == 1 else 'tries'}: {data.reason}. {data.detail}",
                "warning",
            )
        case ChampionChanged():
            return _changed(data)
        case RunStarted():
            how = "goes on from" if data.attempt else "begins at"
            return f"Run {data.run_id} {how} step {data.env_step:,}.", "info"
    return type(data).__name__, "info"


def outage_sentence(news: FailingJudge | Recovery, call: JudgeCall) -> tuple[str, Level]:
    """That a judge's language model does not answer, or answers again."""
    if isinstance(news, FailingJudge):
        text = f"The {news.judge} judge gets no answer from {call.model} ({news.route}): "
        return text + f"{news.calls} calls in a row ended with {news.outcome}.", "warning"
    seconds = (call.at - news.since).total_seconds()
    text = f"The {news.judge} judge gets answers again, after {news.calls} calls without one"
    return f"{text} in {seconds:.0f} s.", "info"


def _changed(data: ChampionChanged) -> tuple[str, Level]:
    if data.withdrawn is not None:
        return f"No reward model is live: {data.withdrawn}.", "warning"
    if data.why in ("watchdog", "demotion"):
        pinned = ", pinned" if data.pinned else ""
        return f"Reward model v{data.version} is live again{pinned}: {data.words}.", "warning"
    if data.pinned:
        return f"Reward model v{data.version} is pinned: {data.pin_reason}.", "info"
    return f"Reward model v{data.version} is not pinned any more.", "info"


def takeover_sentence(takeover: Takeover) -> tuple[str, Level]:
    """That the page shows another environment, and why."""
    at = "" if takeover.env_step is None else f" at step {takeover.env_step:,}"
    if takeover.why == "chosen":
        return f"The screen shows {takeover.taken} in place of {takeover.left}{at}: chosen.", "info"
    text = f"{takeover.taken} took over the screen{at}: {takeover.left} gave no sign of life."
    return text, "warning"


def _scored(data: SegmentScored) -> str:
    if data.weighted is None:
        return f"Judges gave segment {data.segment_id} no score: too few criteria were judged."
    without = f", without {', '.join(data.abstained)}" if data.abstained else ""
    return f"Judges gave segment {data.segment_id} {data.weighted:.2f}{without}."


class Journal:
    """Keeps the newest lines, 300 bytes of JSON each; ids compare within one `epoch` only."""

    def __init__(self, epoch: str, *, keep: int = 1000) -> None:
        self.epoch = epoch
        self.last_id = 0
        self._lines: deque[JournalEntry] = deque(maxlen=keep)

    def write(
        self,
        kind: str,
        text: str,
        *,
        at: datetime,
        about: str | None = None,
        level: Literal["info", "warning"] = "info",
    ) -> None:
        """Add one line with the next id."""
        self.last_id += 1
        self._lines.append(
            JournalEntry(id=self.last_id, at=at, kind=kind, about=about, text=text, level=level)
        )

    def latest(self, count: int) -> tuple[JournalEntry, ...]:
        """The newest lines, oldest first."""
        return tuple(self._lines)[-count:]

    def after(self, last_seen: int, *, limit: int) -> EventsPage:
        """The first `limit` lines whose id is greater than `last_seen`."""
        items = tuple(line for line in self._lines if line.id > last_seen)[:limit]
        oldest = self._lines[0].id if self._lines else self.last_id + 1
        return EventsPage(
            epoch=self.epoch, items=items, gap=last_seen + 1 < oldest, last_id=self.last_id
        )
