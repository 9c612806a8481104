"""The read model: events and readings go in, in any order and repeated; JSON views come out.

Nothing here reads a clock or waits. Each `apply_*` says which sections of the snapshot changed, so
that the shell sends only these.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from rlaif.contracts.envelope import CloudEvent
from rlaif.contracts.events import (
    ChampionChanged,
    DeadLetter,
    RewardModelPublished,
    RewardModelRejected,
    RunIterated,
    RunLoaded,
    RunStarted,
    SegmentCaptured,
    SegmentExported,
    SegmentScored,
)
from rlaif.contracts.scores import ScoreRecord
from rlaif.contracts.telemetry import (
    AssistanceStatus,
    CurriculumProgress,
    EnvironmentsSeen,
    JudgeCall,
    MapPosition,
    PaidSteps,
    PlayerCall,
    RewardBreakdown,
    RewardModelStatus,
    ScreenFrame,
    SearchProgress,
    ServiceHealth,
    Telemetry,
    TrainingProgress,
    WatchedPay,
    WorldProgress,
)
from rlaif.hud.read_model.health import Outages
from rlaif.hud.read_model.history.history import History
from rlaif.hud.read_model.history.views import HeadlineView, ScorePointsView
from rlaif.hud.read_model.journal import Journal, outage_sentence, sentence, takeover_sentence
from rlaif.hud.read_model.judge_health import JudgeHealth
from rlaif.hud.read_model.llm import CallsView, LlmCalls, LlmView, User
from rlaif.hud.read_model.models import ModelStanding, RejectionDetail, RewardModelHistory
from rlaif.hud.read_model.pipeline import DeadLetters, LoopCounts, Stage
from rlaif.hud.read_model.screen import Screen, ShownFrame
from rlaif.hud.read_model.segments.detail import score_detail
from rlaif.hud.read_model.segments.table import SegmentTable, UnreadScore
from rlaif.hud.read_model.trainer import Assistance, Quest, StepWindow
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
from rlaif.hud.read_model.world import Environments, MapOfRun, World

Changed = frozenset[str]
"""Names of `Snapshot` fields."""

NOTHING: Changed = frozenset()

SEGMENTS_SHOWN = 25
"""Rows of the page's score table; their score objects are read."""

EVENTS_SHOWN = 100
"""Lines of the event log in a snapshot."""


class HudState:
    """Everything the HUD knows.

    `epoch` names this life of it, such as its start time, and `build` the files of its page.
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
        self.segments = SegmentTable()
        self.screen = Screen(takeover=takeover)
        self._loop = LoopCounts()
        self._models = RewardModelHistory()
        self._judge = JudgeHealth()
        self._assistance = Assistance()
        self._llm = LlmCalls(self._judge)
        self._quest = Quest()
        self.world = World()
        self._takeover_told: datetime | None = None
        self._watch_told = self.screen.watch()
        self._dead = DeadLetters()
        self.history = History()
        self.paid_steps = StepWindow()
        self._run: RunView | None = None
        self._reward: RewardView | None = None
        self._map: MapView | None = None
        self._pay: PayView | None = None
        self._outages = Outages(started_at)
        self._health = HealthView(started_at=started_at, checks={}, clients=0)
        self._followed = False
        self._on_event: Mapping[type, Callable[[CloudEvent[Any]], Changed]] = {
            SegmentCaptured: self._on_captured,
            SegmentExported: self._on_exported,
            SegmentScored: self._on_scored,
            RewardModelPublished: self._on_published,
            RewardModelRejected: self._on_rejected,
            DeadLetter: self._on_dead_letter,
            RunStarted: self._on_past,
            RunIterated: self._on_past,
            RunLoaded: self._on_past,
            ChampionChanged: self._on_changed,
        }
        self._sections: Mapping[str, Callable[[], Section]] = {
            "run": lambda: self._run,
            "reward": lambda: self._reward,
            "map": lambda: self._map,
            "pay": lambda: self._pay,
            "screen": self.screen.view,
            "watch": self.screen.watch,
            "loop": self._loop_view,
            "segments": lambda: self.segments.newest(SEGMENTS_SHOWN),
            "reward_models": self._models_view,
            "judge": self._judge.view,
            "assistance": self._assistance.view,
            "search": lambda: self._quest.search(self._run),
            "curriculum": lambda: self._quest.curriculum(self._run),
            "dead_letters": lambda: self._dead.view(followed=self._followed),
            "headline": self._headline_view,
            "services": lambda: self._outages.services,
            "troubles": lambda: self._outages.troubles,
            "health": lambda: self._health,
        }

    def streams_opened(self) -> Changed:
        """The event streams are followed from now on: a count of nothing is 0, not unknown."""
        self._followed = True
        return frozenset({"loop", "reward_models", "dead_letters", "headline"})

    def apply_event(self, event: CloudEvent[Any]) -> Changed:
        """Fold one event; an event of no known class changes nothing."""
        fold = self._on_event.get(type(event.data))
        return fold(event) if fold else NOTHING

    def apply_reading(self, reading: Telemetry, now: datetime) -> Changed:
        """Fold one reading that was received at `now`."""
        match reading:
            case TrainingProgress():
                return self._on_progress(reading, now)
            case RewardModelStatus():
                self._models.told(reading)
                return frozenset({"loop", "reward_models", "headline"})
            case ServiceHealth() | PaidSteps():
                self._take(reading, now)
                return NOTHING
            case RewardBreakdown() | MapPosition() | WatchedPay():
                return self._on_watched(reading, now)
            case WorldProgress():
                self.world.told(reading, now)
                return NOTHING  # the map asks for it
            case EnvironmentsSeen():
                self._on_environments(reading, now)
                return NOTHING  # `look` sees who is silent
            case JudgeCall():
                self._on_call(reading)
                return frozenset({"judge"})
            case PlayerCall():
                self._assistance.called(reading)
                self._llm.played(reading)
                return frozenset({"assistance"})
            case AssistanceStatus():
                self._assistance.told(reading, now)
                self._llm.told(reading)
                return frozenset({"assistance"})
            case SearchProgress() | CurriculumProgress():
                is_new = self._quest.told(reading, now)
                return frozenset({"search", "curriculum"} if is_new else ())
        return NOTHING

    def _take(self, reading: ServiceHealth | PaidSteps, now: datetime) -> None:
        """Keep what no page is told of: `look` sees the one, the other is asked for."""
        if isinstance(reading, PaidSteps):
            self.paid_steps.told(reading, now)
        else:
            self._outages.heard(reading, now)

    def apply_frame(self, env: str, frame: ScreenFrame, now: datetime) -> ShownFrame | None:
        """Take in one screen; returns what browsers are to see, if anything."""
        env_step = self._run.env_steps if self._run else None
        return self.screen.offer(env, frame, now, env_step=env_step)

    def look_at_screen(self, now: datetime) -> ShownFrame | None:
        """See whether another environment takes the screen over; gives its first frame then."""
        return self.screen.look(now, env_step=self._run.env_steps if self._run else None)

    def choose_screen(self, env: str, now: datetime) -> Changed:
        """A person wants to see this environment."""
        self.screen.choose(env, now)
        return frozenset({"watch"})

    def map(self) -> MapOfRun:
        """The world, as far as the run has seen it."""
        return self.world.map(self._run, self._score_of)

    def environments(self) -> Environments:
        """Where all environments stand."""
        return self.world.environments(self._run, self.screen.env)

    def apply_score(self, unread: UnreadScore, record: ScoreRecord) -> Changed:
        """Add what a score object says beyond its event."""
        self.segments.score_read(unread, score_detail(record), env_step=record.env_step)
        return frozenset({"segments"})

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
        self._tell_takeovers()
        before, self._watch_told = self._watch_told, self.screen.watch()
        changed = frozenset({"services", "troubles"})
        return changed if before == self._watch_told else changed | {"watch"}

    @property
    def current_run_id(self) -> str | None:
        """The run that the trainer tells of, or the newest one that something is known of."""
        known = self._loop.run_id
        if known is not None and self.history.run(known) is not None:
            return known
        newest = self.history.run(None)
        return known if newest is None or self._run is not None else newest.run_id

    def score_points(self, run_id: str | None, most: int) -> ScorePointsView:
        """The scored segments of a run over its steps; of the current one without a name."""
        return self.history.score_points(run_id or self.current_run_id, most)

    def section(self, name: str) -> Section:
        """One field of the snapshot."""
        return self._sections[name]()

    def snapshot(self, now: datetime) -> Snapshot:
        """Everything that the page shows."""
        self._refresh(now)
        return Snapshot(
            epoch=self.journal.epoch,
            build=self._build,
            taken_at=now,
            last_event_id=self.journal.last_id,
            events=self.journal.latest(EVENTS_SHOWN),
            **{name: view() for name, view in self._sections.items()},
        )

    def llm(self) -> LlmView:
        """How the language models answer."""
        return self._llm.view(self._episode_of)

    def llm_calls(self, *, user: User | None, failed: bool | None, limit: int) -> CallsView:
        """What they were asked and said lately."""
        return self._llm.calls(self._episode_of, user=user, failed=failed, limit=limit)

    def _episode_of(self, segment_id: str) -> str | None:
        row = self.segments.get(segment_id)
        return row.episode_id if row else None

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
            alarm=self._models.gaming_alarm,
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
        self.history.scores.captured(data.run_id, data.episode_id, data.segment_id, data.env_step)
        return frozenset({"loop", "segments"})

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
        self.history.scores.scored(data.run_id, data.episode_id, data.segment_id, data.weighted)
        return frozenset({"loop", "segments", "headline"})

    def _on_published(self, event: CloudEvent[RewardModelPublished]) -> Changed:
        if not self._models.published(event):
            return NOTHING
        self._log(event, went_back_from=self._models.went_back(event))
        return frozenset({"loop", "reward_models", "headline"})

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

    def _on_past(self, event: CloudEvent[Any]) -> Changed:
        if not self.history.apply(event):
            return NOTHING
        if isinstance(event.data, RunIterated):
            return frozenset({"headline"})
        if isinstance(event.data, RunStarted):
            self._log(event)
        if isinstance(event.data, RunLoaded):
            self._log_load(event.data)
        return frozenset({"headline", "reward_models"})

    def _on_changed(self, event: CloudEvent[ChampionChanged]) -> Changed:
        before = self.history.change
        if not self.history.apply(event):
            return NOTHING
        self._models.changed(event.data)
        # What is published has a line of its own.
        if _is_news(event.data, before):
            self._log(event)
        return frozenset({"loop", "reward_models", "headline"})

    def sent_again(self, event_id: str, now: datetime) -> Changed:
        """A dead event was sent again, and its letter was taken away."""
        if not self._dead.remove(event_id):
            return NOTHING
        self.journal.write("letter.redriven", f"{event_id} was sent again.", at=now, about=event_id)
        return frozenset({"dead_letters"})

    def _on_progress(self, reading: TrainingProgress, now: datetime) -> Changed:
        last, known = self._run, (reading.run_id, reading.status)
        same = last is not None and (last.run_id, last.status) == known
        self._run = _run_view(
            reading, now, since=last.status_since if last is not None and same else now
        )
        self._loop.report_run(reading.run_id)
        if not same:
            text = f"Run {reading.run_id} is {reading.status}."
            self.journal.write("run.status", text, at=reading.at, about=reading.run_id)
        changed = frozenset({"run", "loop", "reward_models"})
        another = last is not None and last.run_id != reading.run_id
        return changed | {"search", "curriculum"} if another else changed

    def _log_load(self, load: RunLoaded) -> None:
        which = "no reward model" if load.version is None else f"reward model v{load.version}"
        text = f"The trainer uses {which} since step {load.env_step:,}."
        about = load.run_id if load.version is None else f"v{load.version}"
        self.journal.write("rm.loaded", text, at=load.at, about=about)

    def _on_watched(
        self, reading: RewardBreakdown | MapPosition | WatchedPay, now: datetime
    ) -> Changed:
        match reading:
            case RewardBreakdown():
                self._reward = RewardView(**reading.model_dump(), received_at=now)
                return frozenset({"reward"})
            case MapPosition():
                name = self.world.name(reading.group, reading.room)
                self._map = MapView(**reading.model_dump(), name=name, received_at=now)
                return frozenset({"map"})
            case WatchedPay():
                self._pay = _pay_view(reading, now)
                return frozenset({"pay"})

    def _on_environments(self, reading: EnvironmentsSeen, now: datetime) -> None:
        self.world.stand(reading, now)
        self.screen.told(reading.watched)
        signs = {sign.runner: sign for sign in reading.runners}
        for each in reading.environments:
            sign = signs.get(each.runner)
            if sign is not None:
                still = sign.still_seconds
                self.screen.heard(
                    each.env,
                    now - timedelta(seconds=sign.silent_seconds),
                    still=None if still is None else timedelta(seconds=still),
                )

    def _tell_takeovers(self) -> None:
        """Write a line for each change of the screen that has none yet."""
        for takeover in self.screen.takeovers:
            if self._takeover_told is not None and takeover.at <= self._takeover_told:
                continue
            self._takeover_told = takeover.at
            text, level = takeover_sentence(takeover)
            self.journal.write(
                "screen.takeover", text, at=takeover.at, about=takeover.taken, level=level
            )

    def _score_of(self, segment_id: str) -> float | None:
        row = self.segments.get(segment_id)
        return None if row is None else row.weighted

    def _on_call(self, reading: JudgeCall) -> None:
        news = self._judge.called(reading)
        if news is None:
            return
        text, level = outage_sentence(news, reading)
        self.journal.write("judge.outage", text, at=reading.at, about=news.judge, level=level)

    def rejections(self) -> list[RejectionDetail]:
        """Refused candidates with all that the gate measured, newest first."""
        return self._models.rejections()

    def model_standing(self, version: int) -> ModelStanding | None:
        """What became of a published version."""
        return self._models.standing(
            version,
            in_use=self._run.reward_model_version if self._run else None,
            loads=self._loads(),
        )

    def _models_view(self) -> RewardModelsView:
        return self._models.view(
            followed=self._followed,
            in_use=self._run.reward_model_version if self._run else None,
            loads=self._loads(),
        )

    def _loads(self) -> list[tuple[int, int]]:
        """(version, environment step) of each model load of the current run, oldest first."""
        story = self.history.run(self.current_run_id) if self.current_run_id else None
        loads = [
            (load.version, load.step)
            for load in (story.loads if story else ())
            if load.version is not None
        ]
        run = self._run
        if run and run.reward_model_version and run.reward_model_loaded_at_step is not None:
            newest = (run.reward_model_version, run.reward_model_loaded_at_step)
            # The reading can be ahead of the event.
            if newest not in loads:
                loads.append(newest)
        return loads

    def _headline_view(self) -> HeadlineView:
        champion = self._models.champion()
        return self.history.headline(
            self.current_run_id,
            live_version=champion.version if champion else None,
            pinned=champion.pinned if champion else None,
            known=self._followed,
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


def _is_news(change: ChampionChanged, before: ChampionChanged | None) -> bool:
    """Whether it says more than that a version was published."""
    pinned = before.pinned if before is not None else False
    is_cause = change.why in ("watchdog", "demotion")
    return change.why != "start" and (
        is_cause or change.pinned != pinned or change.withdrawn is not None
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
