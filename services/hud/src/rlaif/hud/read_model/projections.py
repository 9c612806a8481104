"""The read model: folds events and readings, in any order and repeated, into a snapshot.

This module reads no clock and never blocks.
"""

from collections import deque
from datetime import datetime, timedelta
from typing import Any

from rlaif.contracts.events import (
    ChampionChanged,
    CloudEvent,
    DeadLetter,
    RewardModelPublished,
    RewardModelRejected,
    RunDescribed,
    RunEvaluated,
    RunIterated,
    RunLoaded,
    RunStarted,
    SegmentCaptured,
    SegmentExported,
    SegmentScored,
)
from rlaif.contracts.judging.scores import ScoreRecord
from rlaif.contracts.telemetry.frames import ScreenFrame
from rlaif.contracts.telemetry.readings import (
    EnvironmentsSeen,
    JudgeCall,
    MapPosition,
    PaidSteps,
    PlayerCall,
    RewardModelStatus,
    ServiceHealth,
    Telemetry,
    WorldProgress,
)
from rlaif.hud.read_model.health import PipelineHealth
from rlaif.hud.read_model.history.history import History
from rlaif.hud.read_model.history.views import HeadlineView
from rlaif.hud.read_model.journal import Journal, is_news, sentence
from rlaif.hud.read_model.llm import WINDOW, plans_view
from rlaif.hud.read_model.models import RewardModels
from rlaif.hud.read_model.pipeline import PipelineCounts, Stage
from rlaif.hud.read_model.screen import Screen, ShownFrame
from rlaif.hud.read_model.sections import SECTIONS, Sections
from rlaif.hud.read_model.segments.detail import score_detail
from rlaif.hud.read_model.segments.table import SegmentTable, UnreadScore
from rlaif.hud.read_model.trainer import TrainerReadings
from rlaif.hud.read_model.views import LoopView, RewardModelsView, Section, Snapshot
from rlaif.hud.read_model.world import Environments, MapOfRun, World

SEGMENTS_SHOWN = 25
"""Rows of the page's score table; their score objects are read."""

PLANS_SHOWN = 20

EVENTS_SHOWN = 100
"""Lines of the event log in a snapshot."""


class HudState:
    """The whole state of the HUD.

    `epoch` identifies this process, such as its start time, and `build` the files of its page.
    """

    def __init__(
        self,
        *,
        epoch: str,
        takeover: timedelta = timedelta(seconds=10),
        started_at: datetime | None = None,
        build: str = "",
    ) -> None:
        self._build = build
        self.journal = Journal(epoch)
        self.trainer = TrainerReadings()
        self.segments = SegmentTable()
        self.screen = Screen(takeover=takeover)
        self.world = World()
        self.history = History()
        self.models = RewardModels()
        self.judge_calls: deque[JudgeCall] = deque(maxlen=WINDOW)
        self.health = PipelineHealth(started_at)
        self._counts = PipelineCounts()
        self.dead_letters = self._counts.dead
        self.sections = Sections(self._section)

    def streams_opened(self) -> None:
        self._counts.followed = True

    def apply_event(self, event: CloudEvent[Any]) -> None:
        match event.data:
            case SegmentCaptured() | SegmentExported() | SegmentScored():
                self._on_segment(event)
            case RunStarted() | RunIterated() | RunLoaded() | RunEvaluated() | RunDescribed():
                self._on_history(event)
            case ChampionChanged():
                self._on_history(event)
            case RewardModelPublished():
                if self.models.published(event):
                    self._log(event, replaced=self.models.rolled_back_from(event))
            case RewardModelRejected():
                if self.models.rejected(event):
                    self._log(event)
            case DeadLetter():
                if self._counts.dead.add(event):
                    self._log(event)

    def apply_reading(self, reading: Telemetry, now: datetime) -> None:
        match reading:
            case RewardModelStatus():
                self.models.reported(reading)
            case ServiceHealth():
                self.health.reported(reading, now)
            case WorldProgress():
                self.world.reported(reading, now)
            case EnvironmentsSeen():
                self.world.stand(reading, now)
                self.screen.reported(reading, now)
            case JudgeCall():
                self.judge_calls.append(reading)
            case MapPosition():
                name = self.world.name(reading.group, reading.room)
                self.trainer.moved(reading, name)
            case PlayerCall() | PaidSteps():
                self.trainer.apply(reading, now)
            case _:
                started = self.trainer.apply(reading, now)
                if started is not None:
                    text = f"Run {started.run_id} is {started.status}."
                    self.journal.add("run.status", text, at=started.at, about=started.run_id)

    def apply_frame(self, env: str, frame: ScreenFrame, now: datetime) -> ShownFrame | None:
        """Add one frame; returns the frame for browsers, if its environment is shown."""
        return self.screen.offer(env, frame, now, env_step=self._env_step)

    def check_screen(self, now: datetime) -> ShownFrame | None:
        """Switch to another environment if one is due; returns its frame, or None."""
        return self.screen.check(now, env_step=self._env_step)

    def apply_score(self, unread: UnreadScore, record: ScoreRecord) -> None:
        self.segments.score_read(unread, score_detail(record), env_step=record.env_step)

    def redriven(self, event_id: str, now: datetime) -> None:
        if self._counts.dead.remove(event_id):
            text = f"{event_id} was sent again."
            self.journal.add("letter.redriven", text, at=now, about=event_id)

    def refresh(self, now: datetime) -> None:
        """Update states that depend on time alone, such as silent services."""
        for switch in self.screen.new_switches():
            self.journal.add_switch(switch)
        self.health.check(now, run=self.trainer.run, alarm=self.models.gaming_alarm)

    def snapshot(self, now: datetime) -> Snapshot:
        self.refresh(now)
        return Snapshot(
            epoch=self.journal.epoch,
            build=self._build,
            taken_at=now,
            events=self.journal.latest(EVENTS_SHOWN),
            **{name: self.sections.make(name) for name in SECTIONS},
        )

    def _section(self, name: str) -> Section:
        match name:
            case "screen":
                return self.screen.view()
            case "watch":
                return self.screen.watch()
            case "loop":
                return self._loop_view()
            case "segments":
                return self.segments.newest(SEGMENTS_SHOWN)
            case "reward_models":
                return self._models_view()
            case "dead_letters":
                return self._counts.dead.view(followed=self._counts.followed)
            case "assistance":
                return self.trainer.assistance_view(plans_view(self.trainer, PLANS_SHOWN))
            case "headline":
                return self._headline()
            case "services":
                return self.health.services
            case "issues":
                return self.health.issues
            case "health":
                return self.health.own
            case _:
                return self.trainer.section(name)

    @property
    def current_run_id(self) -> str | None:
        known = self._run_id
        if known is not None and self.history.run(known) is not None:
            return known
        newest = self.history.run(None)
        return known if newest is None or self.trainer.run is not None else newest.run_id

    def map(self) -> MapOfRun:

        def score_of(segment_id: str) -> float | None:
            row = self.segments.get(segment_id)
            return None if row is None else row.weighted

        return self.world.map(self.trainer.run, score_of)

    def environments(self) -> Environments:
        return self.world.environments(self.trainer.run, self.screen.env)

    def episode_of(self, segment_id: str) -> str | None:
        """The episode of a segment; None if the segment is unknown."""
        row = self.segments.get(segment_id)
        return row.episode_id if row else None

    @property
    def _env_step(self) -> int | None:
        return self.trainer.run.env_steps if self.trainer.run else None

    @property
    def _in_use(self) -> int | None:
        return self.trainer.run.reward_model_version if self.trainer.run else None

    @property
    def _run_id(self) -> str | None:
        return self.trainer.run.run_id if self.trainer.run else self._counts.newest_run_id

    def _on_segment(self, event: CloudEvent[Any]) -> None:
        data = event.data
        stage: Stage = "captured"
        match data:
            case SegmentExported():
                stage = "exported"
            case SegmentScored():
                stage = "scored"
        is_new = self._counts.count(stage, data.run_id, data.segment_id, event.time)
        if is_new:
            self._log(event)
        match data:
            case SegmentCaptured() if is_new:
                self.segments.captured(event)
                self.history.scores.captured(data)
            case SegmentExported() if is_new:
                self.segments.exported(event)
            case SegmentScored():
                if is_new and data.weighted is None:
                    self._counts.count_abstention(data.run_id)
                self.segments.scored(event)
                self.history.scores.scored(data)

    def _on_history(self, event: CloudEvent[Any]) -> None:
        before = self.history.change
        if not self.history.apply(event):
            return
        match event.data:
            case RunStarted() | RunLoaded() | RunEvaluated():
                self._log(event)
            case ChampionChanged() as data:
                self.models.changed(event)
                if is_news(data, before):
                    self._log(event)

    def _log(self, event: CloudEvent[Any], *, replaced: int | None = None) -> None:
        text, level, about = sentence(event.data, replaced=replaced)
        kind = event.type.removeprefix("rlaif.").rsplit(".v", 1)[0]
        at = event.time
        if isinstance(event.data, RunLoaded):
            kind, at = "rm.loaded", event.data.at
        self.journal.add(kind, text, level, at=at, about=about or event.subject)

    def _models_view(self) -> RewardModelsView:
        return self.models.view(
            followed=self._counts.followed, in_use=self._in_use, loads=self._loads()
        )

    def _loads(self) -> list[tuple[int, int]]:
        """(version, environment step) of each model load of the current run, oldest first."""
        story = self.history.run(self.current_run_id) if self.current_run_id else None
        loads = [
            (load.version, load.step)
            for load in (story.loads if story else ())
            if load.version is not None
        ]
        run = self.trainer.run
        if run and run.reward_model_version and run.reward_model_loaded_at_step is not None:
            newest = (run.reward_model_version, run.reward_model_loaded_at_step)
            # The reading can be ahead of the event.
            if newest not in loads:
                loads.append(newest)
        return loads

    def _headline(self) -> HeadlineView:
        champion = self.models.champion()
        return self.history.headline(
            self.current_run_id,
            live_version=champion.version if champion else None,
            pinned=champion.pinned if champion else None,
            known=self._counts.followed,
        )

    def _loop_view(self) -> LoopView:
        run, known = self._counts.of(self._run_id), self._counts.followed
        return LoopView(
            run_id=self._run_id,
            captured=run.counts["captured"] if known else None,
            exported=run.counts["exported"] if known else None,
            scored=run.counts["scored"] if known else None,
            without_score=run.without_score if known else None,
            captured_at=run.last_at.get("captured"),
            exported_at=run.last_at.get("exported"),
            scored_at=run.last_at.get("scored"),
        )
