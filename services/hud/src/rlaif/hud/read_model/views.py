"""JSON of the page and of REST clients, section by section.

An unknown value is null, never 0. Times are UTC. A score lies in [0, 1].
"""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field, computed_field

from rlaif.contracts.judging.quest import QuestProgress, Source
from rlaif.contracts.judging.scores import CriterionScore
from rlaif.contracts.model import Id
from rlaif.contracts.reward_models import GateMetrics
from rlaif.contracts.telemetry.readings import (
    CurriculumProgress,
    MapPosition,
    Missing,
    PaidStep,
    RewardBreakdown,
    SearchProgress,
    TrainingProgress,
    WatchedPay,
)
from rlaif.hud.read_model import View
from rlaif.hud.read_model.history.views import HeadlineView


class RunView(TrainingProgress):
    """The trainer's newest reading."""

    received_at: datetime = Field(description="HUD clock; the reading's own clock is `at`.")
    status_since: datetime = Field(description="HUD clock; first report of this status.")
    episodes: int | None = Field(  # type: ignore[assignment]  # 0 in a reading until then
        description="Finished episodes; null before the first iteration since the trainer started."
    )
    segments_skipped: int | None = Field(  # type: ignore[assignment]  # likewise
        description="Not captured: over the budget; null like `episodes`."
    )


class MapView(MapPosition):
    """The last position of the watched player."""

    name: str | None = Field(default=None, description="Name of the room; null if it is unknown.")


class PayView(WatchedPay):
    """Potential of the watched player by the reward model in use, as reported last."""

    rise: float | None = Field(description="Sum of `rises`; null if that is null.")
    rise_seconds: float | None = Field(description="Duration that `rises` covers, or null.")


class ScreenView(View):
    """The live game screen."""

    env: str = Field(description="The environment that is shown.")
    sequence: int = Field(description="Frames shown since the HUD started.")
    env_step: int = Field(description="Environment step of the run, low 32 bits.")
    captured_at: datetime = Field(description="Trainer's clock.")
    received_at: datetime = Field(description="HUD clock.")
    frames_per_second: float | None = Field(description="Over the last 2 s; null with one frame.")


class ScreenSwitch(View):
    """The screen was switched to another environment."""

    at: datetime = Field(description="HUD clock.")
    env_step: int | None = Field(description="Environment steps of the run; null if unknown.")
    from_env: Id
    to_env: Id
    reason: Literal["silent", "selected"] = Field(
        description="The previous one was silent for too long, or a person selected another one."
    )


class WatchView(View):
    """The environment that is shown."""

    env: Id | None = Field(default=None, description="Null before the first frame.")
    selected: Id | None = Field(
        default=None, description="Selected by a person, and not shown yet."
    )
    silent_since: datetime | None = Field(
        default=None,
        description="HUD clock; last sign of life, if that is more than two seconds ago.",
    )
    switches: tuple[ScreenSwitch, ...] = Field(default=(), description="The newest, oldest first.")


class LoopView(View):
    """Segments of the current run per stage of the pipeline.

    Counts are null until the HUD follows the event streams. They count distinct segments that
    reached at least this stage: none is greater than the one before it.
    """

    run_id: str | None
    captured: int | None
    exported: int | None
    scored: int | None
    without_score: int | None = Field(description="Of `scored`: the judges abstained.")
    captured_at: datetime | None
    exported_at: datetime | None
    scored_at: datetime | None


class Rationale(View):
    """Rationale of one judge, written by a language model: show it as text only."""

    judge: str
    text: str


class QuestView(QuestProgress):
    """Quest progress at the start and the end of a segment, according to the judges."""

    @computed_field  # type: ignore[prop-decorator]  # as pydantic documents it
    @property
    def rise(self) -> float:
        """Progress in objectives; negative away from the next one."""
        return self.end.position - self.start.position


class ScoreDetail(View):
    """Content of the score object beyond its event."""

    criteria: dict[str, CriterionScore]
    abstentions: dict[str, str]
    agreement: float | None = Field(description="Mean over the judged criteria.")
    shares: dict[Source, float] = Field(
        description="Of the judged weight of the rubric: `votes` of language models, `computed` "
        "from RAM. Empty when nothing was judged."
    )
    quest: QuestView | None = Field(description="Null without a valid vote.")
    rationales: tuple[Rationale, ...]
    calls: int


class SegmentRow(View):
    """One segment and its stages."""

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
        description="Of the votes of language models; null without votes, or if not reported.",
    )
    selected_by: str | None = Field(default=None, description="Why it was captured.")
    reward_model_version: int | None = Field(
        default=None, description="In use then; null: none, or not reported."
    )
    rooms: tuple[tuple[int, int], ...] | None = Field(
        default=None, description="(group, room), in order of visit."
    )
    room_names: tuple[str | None, ...] | None = Field(
        default=None, description="Names of the rooms; only in lists."
    )
    milestones: tuple[str, ...] | None = Field(default=None, description="Reached in it.")
    model_rise: float | None = Field(
        default=None,
        description="Rise of that model's potential; the score was not among its training labels.",
    )
    model_gap: float | None = Field(
        default=None,
        description="Rank by `model_rise` minus rank by `weighted`, each from 0 to 1, among "
        "segments of the same version: positive if the model values it more than the judges do. "
        "Only in lists; null with too few segments.",
    )
    model_gap_of: int | None = Field(default=None, description="Number of ranked segments.")
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
    in_use: bool = Field(description="Used by the trainer.")
    loaded_at_steps: tuple[int, ...] = Field(
        description="Environment steps of the current run at which the trainer loaded it."
    )


class ChampionView(View):
    """The reward model that is live, and whether it may be replaced."""

    version: int
    since: datetime | None = Field(description="Null if no event of it is known.")
    rolled_back_from: int | None = Field(
        description="The newer version that was rolled back; null unless it was a rollback."
    )
    pinned: bool | None = Field(description="Null until the reward-model service has reported.")
    pin_reason: str | None
    pinned_until: datetime | None = Field(
        description="Expiry of the pin; null: until a person unpins it."
    )
    gate: GateMetrics | None = Field(
        description="The gate's measurements; null until the reward-model service has reported."
    )


class NextModelView(View):
    """Progress towards the next version."""

    state: str = Field(description="idle or training.")
    labels: int
    missing: tuple[Missing, ...] = Field(
        description="Requirements of the next automatic training that are not met."
    )


class RewardModelsView(View):
    """The champion, the next version, and published ones, newest first."""

    champion: ChampionView | None
    withdrawn: str | None = Field(
        default=None, description="Why the last champion was withdrawn without a replacement."
    )
    next: NextModelView | None = Field(description="Null until the service has reported.")
    published: tuple[RewardModelRow, ...]
    rejected_count: int | None = Field(description="`GET reward-models/rejected` lists them.")


User = Literal["judge", "planner"]


class CallView(View):
    """One call. Texts are written by a language model: show them as text only."""

    at: datetime
    user: User
    name: str
    route: str
    model: str | None = None
    outcome: str
    ok: bool
    latency_seconds: float | None
    segment_id: str | None = Field(default=None, description="The segment of a judge's call.")
    episode_id: str | None = Field(default=None, description="Null if the segment is unknown.")
    request: str = Field(description="What was requested.")
    answer: str | None
    followed: bool | None = Field(
        default=None, description="Null for judges, and without a usable answer."
    )
    ending: str | None = None
    detail: str | None = Field(
        default=None, description="Environment and end of a plan; null for judges."
    )
    remedy: str | None = Field(description="Recommended action; null for a successful call.")


class AssistanceMode(View):
    """One route of the planner, over the run."""

    calls: int = Field(description="Without cached and dropped ones.")
    ok: int = Field(description="Of `calls`: with a usable answer.")
    cached: int = Field(description="Answers from the cache.")
    in_flight: int = Field(description="Open questions at the last report.")
    latency_mean_seconds: float | None = Field(description="Null before the first call ended.")
    plans: int = Field(description="Plans that arrived.")
    stale: int = Field(description="Of `plans`: the room or the situation had changed.")
    takeovers: int = Field(description="Takeovers that ended.")
    done: int = Field(description="Of `takeovers`: the plan was played to its end.")
    planner_steps: int = Field(description="Environment steps that the planner played.")
    suggestions: int = Field(description="Suggestions that ended.")
    followed: int = Field(description="Of `suggestions`: the policy chose the button.")
    bonus: float = Field(description="Reward for followed suggestions.")


class AssistanceView(View):
    """The planner; sums are over all routes and the current run."""

    run_id: Id
    has_planner: bool | None = Field(description="Null while it is unknown.")
    env_steps: int
    planner_steps: int
    calls: int
    ok: int
    takeovers: int
    done: int
    suggestions: int
    followed: int
    modes: dict[str, AssistanceMode]
    down: dict[str, str] = Field(description="Route that does not answer now → reason.")
    newest: tuple[CallView, ...] = Field(description="Questions of the run, newest first.")


class DeadLettersView(View):
    """Events that a consumer gave up; `GET dead-letters` lists them."""

    count: int | None


class DeadLetterRow(View):
    """One event that a consumer gave up."""

    dead_at: datetime
    stream: str
    consumer: str
    event_id: str
    reason: str
    detail: str
    attempts: int


class PaidStepsView(View):
    """Rewards of the newest consecutive decisions of the watched game."""

    env: str | None = Field(description="Null before the first report.")
    received_at: datetime | None = Field(description="HUD clock; of the newest.")
    kept: int = Field(description="Decisions in memory; `steps` has the requested ones.")
    reward_sum: float | None = Field(description="The game's own, over all in memory.")
    paid_sum: float | None = Field(
        description="Shaping reward over all in memory; null if one is unknown."
    )
    steps: tuple[PaidStep, ...] = Field(description="Oldest first.")


class CheckView(View):
    """The result of one check."""

    ok: bool
    detail: str | None = None


ServiceState = Literal["ready", "not ready", "stopping", "stopped", "silent", "unknown"]
"""`silent`: it no longer reports; `unknown`: it never reported, or the HUD is disconnected."""


class ServiceView(View):
    """One service, as reported by itself."""

    name: str
    state: ServiceState
    reported_at: datetime | None = Field(description="HUD clock; newest report.")
    instances: int = Field(description="Processes that report.")
    checks: dict[str, CheckView] = Field(description="As in `/readyz`; the worst of all processes.")


class IssueView(View):
    """An issue of the pipeline."""

    key: str = Field(description="Stable while the issue lasts.")
    service: str
    description: str = Field(description="What is wrong, and the recommended action.")
    since: datetime = Field(description="HUD clock.")
    page: str | None = Field(
        description="Address of its details on the HUD; null if there are none."
    )


class HealthView(View):
    """Health of the HUD itself."""

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


class Snapshot(View):
    """The whole content of the page at one time."""

    epoch: str = Field(description="Changes when the HUD restarts.")
    build: str = Field(description="Identifies the page's files: another one is a new version.")
    taken_at: datetime
    run: RunView | None
    reward: RewardBreakdown | None
    map: MapView | None
    pay: PayView | None = Field(description="Null until the trainer has reported.")
    screen: ScreenView | None
    watch: WatchView
    loop: LoopView
    segments: tuple[SegmentRow, ...]
    reward_models: RewardModelsView
    assistance: AssistanceView | None = Field(description="Null until the trainer has reported.")
    search: SearchProgress | None = Field(description="Null without a search.")
    curriculum: CurriculumProgress | None = Field(description="Null without a curriculum.")
    dead_letters: DeadLettersView
    headline: HeadlineView
    services: tuple[ServiceView, ...]
    issues: tuple[IssueView, ...] = Field(description="Empty if the pipeline is healthy.")
    health: HealthView
    events: tuple[JournalEntry, ...]


class PictureLink(View):
    """A picture of a segment."""

    step: int | None = Field(description="Emulator step after which it was taken.")
    url: str


Section = Any
"""A JSON-able value of one field of `Snapshot`."""
