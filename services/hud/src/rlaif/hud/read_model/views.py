"""What the page and the REST clients get to see: the read model's JSON, section by section.

A value that is not known is null, never 0. Times are UTC. A score lies in [0, 1].
"""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from rlaif.contracts.assistance import AssistanceEvent
from rlaif.contracts.ids import Id
from rlaif.contracts.quest import Source, Standing
from rlaif.contracts.reward_models import GateMetrics
from rlaif.contracts.scores import CriterionScore
from rlaif.contracts.telemetry import (
    CurriculumProgress,
    MapPosition,
    Missing,
    PaidStep,
    RewardBreakdown,
    SearchProgress,
    TrainingProgress,
    WatchedPay,
)
from rlaif.hud.read_model.history.views import HeadlineView
from rlaif.hud.read_model.view import View


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


class SearchView(SearchProgress):
    """What the search of the run found, as the trainer told last."""

    received_at: datetime = Field(description="HUD clock.")


class CurriculumView(CurriculumProgress):
    """How far the curriculum of the run came, as the trainer told last."""

    received_at: datetime = Field(description="HUD clock.")


class MapView(MapPosition):
    """Where the watched player stood last."""

    received_at: datetime
    name: str | None = Field(
        default=None, description="What the room is called; null when nothing is known."
    )


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


class Takeover(View):
    """The screen of another environment took the place of the one before."""

    at: datetime = Field(description="HUD clock.")
    env_step: int | None = Field(description="Environment steps of the run; null: not known.")
    left: Id
    taken: Id
    why: Literal["silent", "chosen"] = Field(
        description="The one before gave no sign of life for too long, or a person chose."
    )


class WatchView(View):
    """Whose screen is shown, and what becomes of that when it falls silent."""

    env: Id | None = Field(description="Whose screen is shown; null: none's yet.")
    chosen: Id | None = Field(description="Whose a person chose and is being waited for.")
    silent_since: datetime | None = Field(
        description="HUD clock: its last sign of life, once that is two seconds ago."
    )
    still_seconds: float | None = Field(
        description="It lives, but has not played for so long; null while it plays, or not known."
    )
    next: Id | None = Field(description="Who takes over if it stays silent; null: nobody is heard.")
    takes_over_at: datetime | None = Field(description="When; null while nobody does.")
    takeovers: tuple[Takeover, ...] = Field(description="The newest, oldest first.")


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
    votes_agreement: float | None = Field(
        default=None,
        description="Of the language models' votes; null when they decided nothing, or not told.",
    )
    selected_by: str | None = Field(default=None, description="Why it was captured.")
    reward_model_version: int | None = Field(
        default=None, description="That was live; null: none, or not told."
    )
    rooms: tuple[tuple[int, int], ...] | None = Field(
        default=None, description="(group, room) of what it shows, in order."
    )
    room_names: tuple[str | None, ...] | None = Field(
        default=None, description="What the game calls them; only lists tell it."
    )
    milestones: tuple[str, ...] | None = Field(default=None, description="Reached in it.")
    model_rise: float | None = Field(
        default=None, description="Of that model's potential; what judges said later it never saw."
    )
    model_gap: float | None = Field(
        default=None,
        description="Its rank by `model_rise` less its rank by `weighted`, each from 0 to 1, among "
        "segments of the same version: above 0 the model thinks more of it than the judges do. "
        "Only lists tell it; null with too few segments.",
    )
    model_gap_of: int | None = Field(default=None, description="How many were ranked.")
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
    withdrawn: str | None = Field(
        default=None, description="Why the last champion pays no more, with none in its place."
    )
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


class PaidStepsView(View):
    """What the newest decisions of the watched game were paid, one by one without a gap."""

    env: str | None = Field(description="Null before the trainer told.")
    received_at: datetime | None = Field(description="HUD clock; of the newest.")
    kept: int = Field(
        description="Decisions that are known; `steps` has those that were asked for."
    )
    reward_sum: float | None = Field(description="Of the game, over all that are kept.")
    paid_sum: float | None = Field(
        description="Of the reward model, likewise; null when it is not known of one of them."
    )
    steps: tuple[PaidStep, ...] = Field(description="Oldest first.")


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
    """Something that stops the ring, or that people should look at."""

    key: str = Field(description="Stays the same while the trouble lasts.")
    who: str = Field(description="The service.")
    what: str = Field(description="What is wrong and what to do.")
    since: datetime = Field(description="HUD clock.")
    page: str | None = Field(
        description="Address on the HUD that shows more of it; null where none does."
    )


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

    epoch: str = Field(description="Changes when the HUD restarts.")
    build: str = Field(description="Names the page's files: another one is a new version of it.")
    taken_at: datetime
    last_event_id: int
    run: RunView | None
    reward: RewardView | None
    map: MapView | None
    pay: PayView | None = Field(description="Null until the trainer has told.")
    screen: ScreenView | None
    watch: WatchView
    loop: LoopView
    segments: tuple[SegmentRow, ...]
    reward_models: RewardModelsView
    judge: JudgeView
    assistance: AssistanceView | None = Field(description="Null until the trainer has told.")
    search: SearchView | None = Field(description="Null while the run has had no search.")
    curriculum: CurriculumView | None = Field(description="Null while the run has none.")
    dead_letters: DeadLettersView
    headline: HeadlineView
    services: tuple[ServiceView, ...]
    troubles: tuple[TroubleView, ...] = Field(description="Empty when nothing is in the way.")
    health: HealthView
    events: tuple[JournalEntry, ...]


class PictureLink(View):
    """A picture of a segment."""

    step: int | None = Field(description="Decision step after which it was taken.")
    url: str


Section = Any
"""A JSON-able value of one field of `Snapshot`."""
