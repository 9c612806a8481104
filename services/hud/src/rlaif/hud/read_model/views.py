"""What the page and the REST clients get to see: the read model's JSON, section by section.

A value that is not known is null, never 0. Times are UTC. A score lies in [0, 1].
"""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from rlaif.contracts.assistance import AssistanceEvent
from rlaif.contracts.ids import Id
from rlaif.contracts.quest import Source, Standing
from rlaif.contracts.reward_models import GateMetrics
from rlaif.contracts.scores import CriterionScore, JudgeCallRecord
from rlaif.contracts.segments import SegmentManifest
from rlaif.contracts.telemetry import (
    MapPosition,
    Missing,
    RewardBreakdown,
    TrainingProgress,
    WatchedPay,
)


class View(BaseModel):
    """Base of all views."""

    model_config = ConfigDict(frozen=True)


class RunView(TrainingProgress):
    """The trainer's newest reading."""

    received_at: datetime = Field(description="HUD clock; the reading's own clock is `at`.")
    status_since: datetime = Field(description="HUD clock; when it first heard of this status.")
    episodes: int | None = Field(  # type: ignore[assignment]  # a reading says 0 until then
        description="Finished episodes; null before the first iteration since the trainer started."
    )
    segments_skipped: int | None = Field(  # type: ignore[assignment]  # likewise
        description="Not captured: over the budget; null like `episodes`."
    )


class RewardView(RewardBreakdown):
    """The reward's newest breakdown into parts."""

    received_at: datetime


class MapView(MapPosition):
    """Where the watched player stood last."""

    received_at: datetime


class PayView(WatchedPay):
    """What the live reward model said of the watched screen last, and what it paid there."""

    received_at: datetime
    paid_sum: float | None = Field(description="Of `paid`; null when that is.")
    paid_seconds: float | None = Field(description="The time that `paid` covers; null likewise.")


class ScreenView(View):
    """What is known of the live game screen."""

    env: str = Field(description="The environment that is watched.")
    sequence: int = Field(description="Frames that the HUD has shown since it started.")
    env_step: int = Field(description="Environment step of the run, low 32 bits.")
    captured_at: datetime = Field(description="Trainer's clock.")
    received_at: datetime = Field(description="HUD clock.")
    frames_per_second: float | None = Field(description="Over the last 2 s; null with one frame.")


class LoopView(View):
    """How far segments of the current run have come around the ring.

    Counts are null until the HUD follows the event streams. Then they count distinct segments that
    came at least so far: none is greater than the one before it.
    """

    run_id: str | None
    captured: int | None
    exported: int | None
    scored: int | None
    without_score: int | None = Field(description="Of `scored`: the judges abstained.")
    captured_at: datetime | None
    exported_at: datetime | None
    scored_at: datetime | None
    published: int | None = Field(description="Reward-model versions, over all runs.")
    published_at: datetime | None
    champion_version: int | None = Field(description="Of the newest activation.")
    loaded_version: int | None = Field(description="What the trainer says it uses.")
    loaded_at_step: int | None


class Rationale(View):
    """Words of one judge. Written by a language model: show it as text only."""

    judge: str
    text: str


class QuestView(View):
    """Where a segment started and ended on the quest, as the judges have it."""

    start: Standing
    end: Standing
    objectives: int = Field(description="Objectives of the game's guide.")
    rise: float = Field(description="In objectives; below 0 is away from the next one.")
    votes: int
    source: Source


class ScoreDetail(View):
    """What the score object says beyond its event."""

    criteria: dict[str, CriterionScore]
    abstentions: dict[str, str]
    agreement: float | None = Field(description="Mean over the judged criteria.")
    shares: dict[Source, float] = Field(
        description="Of the rubric's weight that was judged: who decided it. `votes` are language "
        "models, `computed` is the game's RAM. Empty when nothing was judged."
    )
    quest: QuestView | None = Field(description="Null when no judge could say.")
    rationales: tuple[Rationale, ...]
    calls_ok: int
    calls: int


class SegmentRow(View):
    """One segment and how far it came."""

    segment_id: Id
    episode_id: Id
    run_id: Id
    env_step: int | None = Field(default=None, description="Of the run, when captured.")
    decision_steps: int | None = None
    frames: int | None = Field(default=None, description="Game frames at 60 Hz.")
    captured_at: datetime | None = None
    exported_at: datetime | None = None
    scored_at: datetime | None = None
    judge_config: Id | None = None
    weighted: float | None = Field(default=None, description="Null when too little was judged.")
    abstained: tuple[str, ...] = ()
    score: ScoreDetail | None = Field(default=None, description="Null until the object was read.")
    score_problem: str | None = Field(
        default=None, description="Why the object was not read, or cannot be read now."
    )


class RewardModelRow(View):
    """One published version."""

    version: int
    published_at: datetime
    parent_version: int | None
    labels: int
    episodes: int
    heldout_accuracy: float
    heldout_pairs: int
    champion: bool
    in_use: bool = Field(description="The trainer says that it uses this version.")
    loaded_at_steps: tuple[int, ...] = Field(
        description="Environment steps of the current run at which the trainer loaded it."
    )


class RejectionRow(View):
    """One candidate that the gate refused."""

    candidate_id: str
    rejected_at: datetime
    reasons: tuple[str, ...]
    labels: int
    episodes: int
    heldout_accuracy: float | None


class ChampionView(View):
    """The reward model that is live, and whether it may be replaced."""

    version: int
    since: datetime | None = Field(description="Null when the HUD saw no event of it.")
    went_back_from: int | None = Field(
        description="The newer version that was live before it; null unless it was a way back."
    )
    pinned: bool | None = Field(description="Null until the reward-model service has told.")
    pin_reason: str | None
    pinned_until: datetime | None = Field(
        description="When the pin ends by itself; null: when a person unpins it."
    )
    gate: GateMetrics | None = Field(
        description="What the gate measured of it; null until the reward-model service has told."
    )


class NextModelView(View):
    """What the reward-model service does towards its next version."""

    state: str = Field(description="idle or training.")
    labels: int
    missing: tuple[Missing, ...] = Field(
        description="What there is not enough of for the next training to start by itself."
    )


class RewardModelsView(View):
    """The champion, the next one, and versions and refused candidates, newest first."""

    champion: ChampionView | None
    next: NextModelView | None = Field(description="Null until the service has told.")
    published: tuple[RewardModelRow, ...]
    rejected: tuple[RejectionRow, ...]
    rejected_count: int | None


class JudgeRow(View):
    """Calls of one judge inside the window."""

    judge: str
    model: str
    calls: int
    ok: int
    latency_p50_seconds: float | None


class JudgeFailure(View):
    """The newest call that did not end well."""

    at: datetime
    judge: str
    outcome: str


class FailingJudge(View):
    """A judge whose newest calls all went without an answer."""

    judge: str
    route: str
    outcome: str = Field(description="Of the newest of these calls.")
    since: datetime = Field(description="When the first of them ended.")
    calls: int


class JudgeView(View):
    """Health of the language-model calls that the HUD has seen lately."""

    window: int = Field(description="Newest calls that are counted, at most.")
    calls: int
    ok: int
    outcomes: dict[str, int]
    latency_p50_seconds: float | None
    latency_p95_seconds: float | None
    last_call_at: datetime | None
    last_failure: JudgeFailure | None
    judges: tuple[JudgeRow, ...]
    failing: tuple[FailingJudge, ...] = Field(
        description="Judges that do not answer now; empty when all do, or none was asked."
    )


class AssistanceMode(View):
    """What the language model did on one route of the planner, over the run."""

    calls: int = Field(description="Calls that ended, cached answers and dropped ones left out.")
    ok: int = Field(description="Of `calls`: with a usable answer.")
    cached: int = Field(description="Answers from an equal situation that cost no call.")
    in_flight: int = Field(description="Questions without an answer, at the last report.")
    latency_mean_seconds: float | None = Field(description="Null while no call has ended.")
    plans: int = Field(description="Plans that arrived.")
    stale: int = Field(description="Of `plans`: the room or the situation had changed.")
    takeovers: int = Field(description="Takeovers that ended.")
    done: int = Field(description="Of `takeovers`: the plan was played to its end.")
    planner_steps: int = Field(description="Environment steps that the planner played.")
    suggestions: int = Field(description="Suggestions that ended.")
    followed: int = Field(description="Of `suggestions`: the policy chose the button.")
    bonus: float = Field(description="Reward paid for that.")


class PlayerCallView(AssistanceEvent):
    """One question to the language model that plays. Its words are its own: show them as text."""

    at: datetime = Field(description="Trainer's clock, when it told; an iteration late at most.")


class AssistanceView(View):
    """The language model that plays along; sums are over all routes and the current run."""

    run_id: Id
    received_at: datetime = Field(description="HUD clock.")
    has_planner: bool | None = Field(description="Null before the trainer knows.")
    env_steps: int
    planner_steps: int
    calls: int
    ok: int
    takeovers: int
    done: int
    suggestions: int
    followed: int
    modes: dict[str, AssistanceMode]
    down: dict[str, str] = Field(description="Route that gives no answer now → why.")
    newest: tuple[PlayerCallView, ...] = Field(
        description="Newest first; of each iteration only the newest."
    )


class DeadLetterRow(View):
    """One event that a consumer gave up."""

    dead_at: datetime
    stream: str
    consumer: str
    event_id: str
    reason: str
    detail: str
    attempts: int


class DeadLettersView(View):
    """Events that were given up."""

    count: int | None
    last: DeadLetterRow | None


class VersionMark(View):
    """One load: the step at which the trainer began to use a reward model."""

    step: int
    version: int


class SeriesView(View):
    """Curves over environment steps of the current run, as (step, value) points."""

    episode_return: tuple[tuple[int, float], ...]
    score_mean: tuple[tuple[int, float], ...] = Field(
        description="Mean weighted score of a segment and the ones before it, `score_window` each."
    )
    score_window: int
    versions: tuple[VersionMark, ...]


class CheckView(View):
    """Whether something that the HUD needs is there."""

    ok: bool
    detail: str | None = None


ServiceState = Literal["ready", "not ready", "stopping", "stopped", "silent", "unknown"]
"""`silent`: it was heard and is not any more; `unknown`: not heard yet, or nobody is heard."""


class ServiceView(View):
    """One service of the ring, by its own word."""

    name: str
    state: ServiceState
    heard_at: datetime | None = Field(description="HUD clock; its newest word.")
    instances: int = Field(description="Processes that are heard now.")
    checks: dict[str, CheckView] = Field(description="As in its `/readyz`; the worst of all.")


class TroubleView(View):
    """Something that stops the ring."""

    key: str = Field(description="Stays the same while the trouble lasts.")
    who: str = Field(description="The service.")
    what: str = Field(description="What is wrong and what to do.")
    since: datetime = Field(description="HUD clock.")


class HealthView(View):
    """The HUD's own condition."""

    started_at: datetime | None
    checks: dict[str, CheckView]
    clients: int


class JournalEntry(View):
    """One line of the event log. `id` rises by one within an `epoch` of the HUD."""

    id: int
    at: datetime
    kind: str
    about: str | None
    text: str
    level: Literal["info", "warning"] = "info"


class EventsPage(View):
    """Lines of the event log after an id, oldest first."""

    epoch: str = Field(description="Changes when the HUD restarts; ids start again then.")
    items: tuple[JournalEntry, ...]
    gap: bool = Field(description="Older lines were asked for than are kept.")
    last_id: int


class Snapshot(View):
    """Everything that the page shows, at one moment."""

    epoch: str
    taken_at: datetime
    last_event_id: int
    run: RunView | None
    reward: RewardView | None
    map: MapView | None
    pay: PayView | None = Field(description="Null until the trainer has told.")
    screen: ScreenView | None
    loop: LoopView
    segments: tuple[SegmentRow, ...]
    reward_models: RewardModelsView
    judge: JudgeView
    assistance: AssistanceView | None = Field(description="Null until the trainer has told.")
    dead_letters: DeadLettersView
    series: SeriesView
    services: tuple[ServiceView, ...]
    troubles: tuple[TroubleView, ...] = Field(description="Empty when nothing is in the way.")
    health: HealthView
    events: tuple[JournalEntry, ...]


class PictureLink(View):
    """A picture of a segment."""

    step: int | None = Field(description="Decision step after which it was taken.")
    url: str


class SegmentDetail(View):
    """One segment: what the exporter wrote and what the judges said of it."""

    segment: SegmentRow | None = Field(description="Null when the HUD saw no event of it.")
    manifest: SegmentManifest
    score: ScoreDetail | None
    calls: tuple[JudgeCallRecord, ...]
    score_problem: str | None
    pictures: tuple[PictureLink, ...]


Section = Any
"""A JSON-able value of one field of `Snapshot`."""
