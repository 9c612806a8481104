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
    RunEvaluated,
    RunLoaded,
    RunStarted,
    SegmentCaptured,
    SegmentExported,
    SegmentScored,
)
from rlaif.hud.read_model.views import JournalEntry, ScreenSwitch

Level = Literal["info", "warning"]
Line = tuple[str, Level, str | None]
"""Text, level, and the id of the object concerned; None for that of the event."""


class Journal:
    """Keeps the newest lines, 300 bytes of JSON each; ids are unique within one `epoch` only."""

    def __init__(self, epoch: str, *, keep: int = 1000) -> None:
        self.epoch = epoch
        self.last_id = 0
        self._lines: deque[JournalEntry] = deque(maxlen=keep)

    def add(
        self, kind: str, text: str, level: Level = "info", *, at: datetime, about: str | None = None
    ) -> None:
        self.last_id += 1
        self._lines.append(
            JournalEntry(id=self.last_id, at=at, kind=kind, about=about, text=text, level=level)
        )

    def add_switch(self, switch: ScreenSwitch) -> None:
        at = "" if switch.env_step is None else f" at step {switch.env_step:,}"
        text = f"The screen switched from {switch.from_env} to {switch.to_env}{at}: "
        selected = switch.reason == "selected"
        text += "selected by a person." if selected else f"{switch.from_env} is unresponsive."
        level: Level = "info" if selected else "warning"
        self.add("screen.switch", text, level, at=switch.at, about=switch.to_env)

    def latest(self, count: int) -> tuple[JournalEntry, ...]:
        return tuple(self._lines)[-count:]

    def after(self, last_seen: int) -> tuple[JournalEntry, ...] | None:
        """The lines after an id, oldest first; None if some of them are no longer in memory."""
        oldest = self._lines[0].id if self._lines else self.last_id + 1
        if last_seen + 1 < oldest:
            return None
        return tuple(line for line in self._lines if line.id > last_seen)


def sentence(data: EventData, *, replaced: int | None = None) -> Line:
    """The line of an event; `replaced` is the newer version that an activation rolled back."""
    match data:
        case SegmentCaptured():
            text = f"Captured segment {data.segment_id} at step {data.env_step:,}: "
            return f"{text}{data.decision_steps} emulator steps.", "info", None
        case SegmentExported():
            text = f"Exported segment {data.segment_id}: {data.frames} frames verified."
            return text, "info", None
        case SegmentScored():
            return _scored(data), "info", None
        case RewardModelPublished() if replaced is not None:
            text = f"The champion was rolled back from v{replaced} to reward model v{data.version}."
            return text, "warning", None
        case RewardModelPublished():
            text = f"Reward model v{data.version} is the champion: {data.labels} labels, held-out "
            text += f"accuracy {data.heldout_accuracy:.0%} of {data.heldout_pairs} pairs."
            return text, "info", None
        case RewardModelRejected():
            return f"Rejected {data.candidate_id}: {'; '.join(data.reasons)}.", "info", None
        case DeadLetter():
            tries = "attempt" if data.attempts == 1 else "attempts"
            text = f"{data.consumer} gave up {data.event_id} after {data.attempts} {tries}: "
            return f"{text}{data.reason}. {data.detail}", "warning", None
        case ChampionChanged():
            return *_changed(data), None
        case RunStarted():
            how = "is resumed from" if data.attempt else "starts at"
            return f"Run {data.run_id} {how} step {data.env_step:,}.", "info", None
        case RunLoaded():
            which = "no reward model" if data.version is None else f"reward model v{data.version}"
            about = data.run_id if data.version is None else f"v{data.version}"
            return f"The trainer uses {which} since step {data.env_step:,}.", "info", about
        case RunEvaluated():
            text = f"Evaluation at step {data.env_step:,}: {data.milestones:.2f} milestones per "
            text += f"episode ({data.low:.2f} to {data.high:.2f}) of the {data.player} policy."
            return text, "info", data.run_id
    return type(data).__name__, "info", None


def is_news(change: ChampionChanged, before: ChampionChanged | None) -> bool:
    """Whether a change is not just the publication of a version, which has its own line."""
    pinned = before.pinned if before is not None else False
    is_rollback = change.why in ("watchdog", "demotion")
    return change.why != "start" and (
        is_rollback or change.pinned != pinned or change.withdrawn is not None
    )


def _changed(data: ChampionChanged) -> tuple[str, Level]:
    if data.withdrawn is not None:
        return f"No reward model is live: {data.withdrawn}.", "warning"
    if data.why in ("watchdog", "demotion"):
        pinned = ", pinned" if data.pinned else ""
        return f"Reward model v{data.version} is live again{pinned}: {data.words}.", "warning"
    if data.pinned:
        return f"Reward model v{data.version} is pinned: {data.pin_reason}.", "info"
    return f"Reward model v{data.version} is no longer pinned.", "info"


def _scored(data: SegmentScored) -> str:
    if data.weighted is None:
        return f"Judges gave segment {data.segment_id} no score: too few criteria were judged."
    without = f", without {', '.join(data.abstained)}" if data.abstained else ""
    return f"Judges gave segment {data.segment_id} {data.weighted:.2f}{without}."
