"""The read model: events and readings go in, in any order and repeated; JSON views come out.

Nothing here reads a clock or waits. Each `apply_*` says which sections of the snapshot changed, so
that the shell sends only these.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from rlaif.contracts.envelope import CloudEvent
from rlaif.contracts.events import (
    DeadLetter,
    RewardModelPublished,
    RewardModelRejected,
    SegmentCaptured,
    SegmentExported,
    SegmentScored,
)
from rlaif.contracts.scores import ScoreRecord
from rlaif.contracts.telemetry import (
    AssistanceStatus,
    JudgeCall,
    MapPosition,
    PlayerCall,
    RewardBreakdown,
    RewardModelStatus,
    RunHistory,
    ScreenFrame,
    ServiceHealth,
    Telemetry,
    TrainingProgress,
    WatchedPay,
)
from rlaif.hud.read_model.assistance import Assistance
from rlaif.hud.read_model.dead_letters import DeadLetters
from rlaif.hud.read_model.journal import Journal
from rlaif.hud.read_model.judge_health import JudgeHealth
from rlaif.hud.read_model.loop_counts import LoopCounts, Stage
from rlaif.hud.read_model.outages import Outages
from rlaif.hud.read_model.reward_model_history import RewardModelHistory
from rlaif.hud.read_model.score_detail import score_detail
from rlaif.hud.read_model.screen import Screen, ShownFrame
from rlaif.hud.read_model.segment_table import SegmentTable, UnreadScore
from rlaif.hud.read_model.sentences import outage_sentence, sentence
from rlaif.hud.read_model.series import Series
from rlaif.hud.read_model.views import (
    CheckView,
    HealthView,
    LoopView,
    MapView,
    PayView,
    RewardModelsView,
    RewardView,
    RunView,
    Section,
    Snapshot,
)

Changed = frozenset[str]
"""Names of `Snapshot` fields."""

NOTHING: Changed = frozenset()

SEGMENTS_SHOWN = 25
"""Rows of the page's score table; their score objects are read."""

EVENTS_SHOWN = 100
"""Lines of the event log in a snapshot."""


class HudState:
    """Everything the HUD knows; `epoch` names this life of it, such as its start time."""

    def __init__(
        self,
        *,
        epoch: str,
        takeover: timedelta = timedelta(seconds=10),
        started_at: datetime | None = None,
    ) -> None:
        self.journal = Journal(epoch)
        self.segments = SegmentTable()
        self.screen = Screen(takeover=takeover)
        self._loop = LoopCounts()
        self._models = RewardModelHistory()
        self._judge = JudgeHealth()
        self._assistance = Assistance()
        self._dead = DeadLetters()
        self._series = Series()
        self._run: RunView | None = None
        self._reward: RewardView | None = None
        self._map: MapView | None = None
        self._pay: PayView | None = None
        self._outages = Outages(started_at)
        self._health = HealthView(started_at=started_at, checks={}, clients=0)
        self._loads_told: set[tuple[str, int, int]] = set()
        self._followed = False
        self._on_event: Mapping[type, Callable[[CloudEvent[Any]], Changed]] = {
            SegmentCaptured: self._on_captured,
            SegmentExported: self._on_exported,
            SegmentScored: self._on_scored,
            RewardModelPublished: self._on_published,
            RewardModelRejected: self._on_rejected,
            DeadLetter: self._on_dead_letter,
        }
        self._sections: Mapping[str, Callable[[], Section]] = {
            "run": lambda: self._run,
            "reward": lambda: self._reward,
            "map": lambda: self._map,
            "pay": lambda: self._pay,
            "screen": self.screen.view,
            "loop": self._loop_view,
            "segments": lambda: self.segments.newest(SEGMENTS_SHOWN),
            "reward_models": self._models_view,
            "judge": self._judge.view,
            "assistance": self._assistance.view,
            "dead_letters": lambda: self._dead.view(followed=self._followed),
            "series": lambda: self._series.view(self._loop.run_id),
            "services": lambda: self._outages.services,
            "troubles": lambda: self._outages.troubles,
            "health": lambda: self._health,
        }

    def streams_opened(self) -> Changed:
        """The event streams are followed from now on: a count of nothing is 0, not unknown."""
        self._followed = True
        return frozenset({"loop", "reward_models", "dead_letters"})

    def apply_event(self, event: CloudEvent[Any]) -> Changed:
        """Fold one event; an event of no known class changes nothing."""
        fold = self._on_event.get(type(event.data))
        return fold(event) if fold else NOTHING

    def apply_reading(self, reading: Telemetry, now: datetime) -> Changed:
        """Fold one reading that was received at `now`."""
        match reading:
            case TrainingProgress():
                return self._on_progress(reading, now)
            case RunHistory():
                self._series.history(reading)
                self._tell_loads()
                return frozenset({"series", "reward_models"})
            case RewardModelStatus():
                self._models.told(reading)
                return frozenset({"loop", "reward_models"})
            case ServiceHealth():
                self._outages.heard(reading, now)
                return NOTHING  # `look` sees it
            case RewardBreakdown():
                self._reward = RewardView(**reading.model_dump(), received_at=now)
                return frozenset({"reward"})
            case MapPosition():
                self._map = MapView(**reading.model_dump(), received_at=now)
                return frozenset({"map"})
            case WatchedPay():
                self._pay = _pay_view(reading, now)
                return frozenset({"pay"})
            case JudgeCall():
                self._on_call(reading)
                return frozenset({"judge"})
            case PlayerCall():
                self._assistance.called(reading)
                return frozenset({"assistance"})
            case AssistanceStatus():
                self._assistance.told(reading, now)
                return frozenset({"assistance"})
        return NOTHING

    def apply_frame(self, env: str, frame: ScreenFrame, now: datetime) -> ShownFrame | None:
        """Take in one screen; returns what browsers are to see, if anything."""
        return self.screen.offer(env, frame, now)

    def apply_score(self, unread: UnreadScore, record: ScoreRecord) -> Changed:
        """Add what a score object says beyond its event."""
        self.segments.score_read(unread, score_detail(record), env_step=record.env_step)
        self._series.captured(record.segment_id, record.run_id, record.env_step)
        return frozenset({"segments", "series"})

    def score_delayed(self, unread: UnreadScore, problem: str) -> Changed:
        """The score object cannot be read now."""
        return frozenset({"segments"} if self.segments.score_delayed(unread, problem) else ())

    def score_unreadable(self, unread: UnreadScore, problem: str) -> Changed:
        """The score object is not there, or is not what its event said."""
        self.segments.score_read(unread, None, problem=problem)
        return frozenset({"segments"})

    def apply_health(self, checks: dict[str, str | None], clients: int, now: datetime) -> Changed:
        """The HUD's own condition: check → why it fails, or None."""
        self._health = HealthView(
            started_at=self._outages.started_at,
            checks={name: CheckView(ok=why is None, detail=why) for name, why in checks.items()},
            clients=clients,
        )
        self._outages.own(checks, now)
        return frozenset({"health"})

    def look(self, now: datetime) -> Changed:
        """See what may change by time alone: who has fallen silent, what waits for too long."""
        self._refresh(now)
        return frozenset({"services", "troubles"})

    def section(self, name: str) -> Section:
        """One field of the snapshot."""
        return self._sections[name]()

    def snapshot(self, now: datetime) -> Snapshot:
        """Everything that the page shows."""
        self._refresh(now)
        return Snapshot(
            epoch=self.journal.epoch,
            taken_at=now,
            last_event_id=self.journal.last_id,
            events=self.journal.latest(EVENTS_SHOWN),
            **{name: view() for name, view in self._sections.items()},
        )

    def _refresh(self, now: datetime) -> None:
        current = self._loop.current()
        counts = current.counts
        given_up = self._dead.of_consumer("judge")
        self._outages.look(
            now,
            self._judge,
            waiting=max(0, counts["exported"] - counts["scored"] - given_up),
            scored_at=current.last_at.get("scored"),
            run=self._run,
        )

    def _count(self, stage: Stage, event: CloudEvent[Any]) -> bool:
        data = event.data
        if not self._loop.count(stage, data.run_id, data.segment_id, event.time):
            return False
        self._log(event)
        return True

    def _log(self, event: CloudEvent[Any], *, went_back_from: int | None = None) -> None:
        text, level = sentence(event.data, went_back_from=went_back_from)
        kind = event.type.removeprefix("rlaif.").rsplit(".v", 1)[0]
        self.journal.write(kind, text, at=event.time, about=event.subject, level=level)

    def _on_captured(self, event: CloudEvent[SegmentCaptured]) -> Changed:
        if not self._count("captured", event):
            return NOTHING
        data = event.data
        self.segments.captured(event)
        self._series.captured(data.segment_id, data.run_id, data.env_step)
        return frozenset({"loop", "segments", "series"})

    def _on_exported(self, event: CloudEvent[SegmentExported]) -> Changed:
        if not self._count("exported", event):
            return NOTHING
        self.segments.exported(event)
        return frozenset({"loop", "segments"})

    def _on_scored(self, event: CloudEvent[SegmentScored]) -> Changed:
        data = event.data
        if self._count("scored", event) and data.weighted is None:
            self._loop.count_abstention(data.run_id)
        self.segments.scored(event)
        self._series.scored(data.segment_id, data.run_id, data.weighted)
        return frozenset({"loop", "segments", "series"})

    def _on_published(self, event: CloudEvent[RewardModelPublished]) -> Changed:
        if not self._models.published(event):
            return NOTHING
        self._log(event, went_back_from=self._models.went_back(event))
        return frozenset({"loop", "reward_models"})

    def _on_rejected(self, event: CloudEvent[RewardModelRejected]) -> Changed:
        if not self._models.rejected(event):
            return NOTHING
        self._log(event)
        return frozenset({"reward_models"})

    def _on_dead_letter(self, event: CloudEvent[DeadLetter]) -> Changed:
        if not self._dead.add(event):
            return NOTHING
        self._log(event)
        return frozenset({"dead_letters"})

    def _on_progress(self, reading: TrainingProgress, now: datetime) -> Changed:
        last, known = self._run, (reading.run_id, reading.status)
        same = last is not None and (last.run_id, last.status) == known
        self._run = _run_view(
            reading, now, since=last.status_since if last is not None and same else now
        )
        self._loop.report_run(reading.run_id)
        self._series.progress(reading)
        if not same:
            text = f"Run {reading.run_id} is {reading.status}."
            self.journal.write("run.status", text, at=reading.at, about=reading.run_id)
        self._tell_loads()
        return frozenset({"run", "series", "loop", "reward_models"})

    def _tell_loads(self) -> None:
        """Write a line for each load of the current run that has none yet."""
        run_id = self._loop.run_id
        for load in self._series.loads(run_id):
            key = (run_id or "", load.version, load.env_step)
            if key in self._loads_told:
                continue
            self._loads_told.add(key)
            text = f"The trainer uses reward model v{load.version} since step {load.env_step:,}."
            self.journal.write("rm.loaded", text, at=load.at, about=f"v{load.version}")

    def _on_call(self, reading: JudgeCall) -> None:
        news = self._judge.called(reading)
        if news is None:
            return
        text, level = outage_sentence(news, reading)
        self.journal.write("judge.outage", text, at=reading.at, about=news.judge, level=level)

    def _models_view(self) -> RewardModelsView:
        return self._models.view(
            followed=self._followed,
            in_use=self._run.reward_model_version if self._run else None,
            loads=self._series.loads(self._loop.run_id),
        )

    def _loop_view(self) -> LoopView:
        run, known = self._loop.current(), self._followed
        return LoopView(
            run_id=self._loop.run_id,
            captured=run.counts["captured"] if known else None,
            exported=run.counts["exported"] if known else None,
            scored=run.counts["scored"] if known else None,
            without_score=run.without_score if known else None,
            captured_at=run.last_at.get("captured"),
            exported_at=run.last_at.get("exported"),
            scored_at=run.last_at.get("scored"),
            published=self._models.count if known else None,
            published_at=self._models.published_at,
            champion_version=self._models.champion_version,
            loaded_version=self._run.reward_model_version if self._run else None,
            loaded_at_step=self._run.reward_model_loaded_at_step if self._run else None,
        )


def _pay_view(reading: WatchedPay, now: datetime) -> PayView:
    paid = reading.paid
    return PayView(
        **reading.model_dump(),
        received_at=now,
        paid_sum=None if paid is None else sum(paid),
        paid_seconds=None if paid is None else len(paid) * reading.bin_seconds,
    )


def _run_view(reading: TrainingProgress, now: datetime, *, since: datetime) -> RunView:
    """The reading as shown: before the first iteration its counts are not 0 but not known."""
    shown = reading.model_dump()
    if reading.steps_per_second is None:
        shown |= {"episodes": None, "segments_skipped": None}
    return RunView(**shown, received_at=now, status_since=since)
