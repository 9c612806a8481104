"""Live readings on plain NATS: lossy and not stored. Nothing in the pipeline depends on them."""

from typing import Annotated, ClassVar, Literal

from pydantic import AwareDatetime, Field

from rlaif.contracts.model import Amount, Contract, Count, Id, Positive, Seconds
from rlaif.contracts.reward_models import GamingAlarm, GateMetrics
from rlaif.contracts.run_origin import RunDescription
from rlaif.contracts.telemetry.assistance import AssistanceEvent, ModeFigures
from rlaif.contracts.telemetry.curriculum import CurriculumFigures
from rlaif.contracts.telemetry.run import RunCondition
from rlaif.contracts.telemetry.search import SearchFigures
from rlaif.contracts.telemetry.world import WorldFigures

MAX_RUNNERS = 256
MAX_ENVIRONMENTS = 256
"""Maximum individually reported environments; a player position takes 150 bytes."""

RunStep = Annotated[Count, Field(description="Environment steps of the run.")]
FrameStep = Annotated[Count, Field(description="As in the screen frame.")]
RoomX = Annotated[int, Field(description="Pixels from the left edge of the room.")]
RoomY = Annotated[int, Field(description="Pixels from the top edge of the room.")]


class Telemetry(Contract):
    """A JSON reading on `SUBJECT`."""

    SUBJECT: ClassVar[str]
    at: AwareDatetime


class TrainingProgress(RunCondition, Telemetry):
    """State of the run, about once per second.

    Counts are 0, not null, before the first iteration.
    """

    SUBJECT: ClassVar[str] = "telemetry.progress"

    run_id: Id
    status: str = Field(
        description="starting, training, waiting, stopping, stopped, finished or failed."
    )
    iteration: Count
    env_steps: Count
    episodes: Count = Field(default=0, description="Finished episodes.")
    segments_captured: Count = 0
    segments_skipped: Count = Field(default=0, description="Not captured: over the budget.")


class ServiceHealth(Telemetry):
    """Report of `/readyz` of one process: every two seconds, and after each change."""

    SUBJECT: ClassVar[str] = "telemetry.health"

    service: str = Field(description="Such as reward-model.")
    instance: Id = Field(description="One process of that service; new at each start.")
    status: Literal["ready", "not ready", "stopping"]
    checks: dict[str, str | None] = Field(
        description="Check → issue and remedy in one sentence; null when it passes."
    )


class Missing(Contract):
    """An unmet requirement."""

    what: str = Field(description="Such as `new labels`.")
    have: Count
    need: Positive


class RewardModelStatus(Telemetry):
    """The champion, its pin, and missing data for the next reward model, every two seconds."""

    SUBJECT: ClassVar[str] = "telemetry.reward-model"

    state: str = Field(description="idle or training.")
    labels: Count = Field(description="Scored segments for the next training.")
    missing: tuple[Missing, ...] = Field(
        description="Missing for the next automatic training and the gate."
    )
    champion_version: int | None = None
    activation: int | None = Field(
        default=None, description="As in rm.published: increases with every change of the champion."
    )
    pinned: bool = Field(default=False, description="No candidate replaces the champion now.")
    pin_reason: str | None = None
    pinned_until: AwareDatetime | None = Field(
        default=None, description="End of the pin; null: when a person unpins it."
    )
    withdrawn: str | None = Field(
        default=None,
        description="Reason of the champion's withdrawal, if no model is live; null: one is live, "
        "or none ever was.",
    )
    champion_gate: GateMetrics | None = Field(
        default=None, description="Measurements of the champion, from its manifest."
    )
    gaming_alarm: GamingAlarm | None = Field(
        default=None,
        description="Last alarm of the reward hacking monitor since the start of the service.",
    )


class RewardBreakdown(Telemetry):
    """The parts of the reward over the last iteration; they sum to its total."""

    SUBJECT: ClassVar[str] = "telemetry.reward"

    run_id: Id
    env_step: Count
    parts: dict[str, Amount]
    total: Amount


class PaidStep(Contract):
    """Rewards of one decision of the watched game."""

    number: int = Field(
        description="Increases by one per decision; skips one after a gap of unknown length."
    )
    env_step: FrameStep
    reward: Amount = Field(description="Environment reward.")
    parts: dict[str, Amount] = Field(default_factory=dict, description="Its nonzero parts.")
    paid: Amount | None = Field(
        default=None,
        description="Shaping reward at full weight: during a ramp-in, PPO gets less. Null without "
        "a reward model, or when it does not shape each step.",
    )
    reward_model_version: int | None = None
    ended: bool = Field(default=False, description="The episode ended with it.")


class PaidSteps(Telemetry):
    """Rewards of the newest decisions of the watched game, twice per second."""

    SUBJECT: ClassVar[str] = "telemetry.steps"

    env: Id
    steps: tuple[PaidStep, ...] = Field(max_length=300, description="Oldest first.")


class JudgeCall(Telemetry):
    """One call of a language model by a judge; it names the `judge`."""

    SUBJECT: ClassVar[str] = "telemetry.llm"

    judge: str
    route: str
    model: str
    segment_id: Id
    outcome: str = Field(description="ok, invalid, length, throttled, refused, error or timeout.")
    latency_seconds: Seconds
    rationale: str | None = None


class PlayerCall(AssistanceEvent, Telemetry):
    """One request to the assisting language model, with its final outcome; it has a `mode`.

    If there are many in one iteration, only the newest are reported.
    """

    SUBJECT: ClassVar[str] = "telemetry.llm"

    run_id: Id


class AssistanceStatus(Telemetry):
    """Counts of the assisting language model in the run, every three seconds."""

    SUBJECT: ClassVar[str] = "telemetry.assistance"

    run_id: Id
    env_steps: RunStep
    has_planner: bool | None = Field(
        default=None,
        description="Whether a planner is set; null before the first iteration of the attempt.",
    )
    by_mode: dict[str, ModeFigures] = Field(
        default_factory=dict, description="Route of the planner → counts of the run."
    )
    down: dict[str, str] = Field(
        default_factory=dict, description="Route with an outage → its cause."
    )


class SearchProgress(SearchFigures, Telemetry):
    """Results of the search of a run, every three seconds after its start."""

    SUBJECT: ClassVar[str] = "telemetry.search"

    run_id: Id


class CurriculumProgress(CurriculumFigures, Telemetry):
    """Progress of the curriculum of a run, every three seconds after its start."""

    SUBJECT: ClassVar[str] = "telemetry.curriculum"

    run_id: Id


class MapPosition(Telemetry):
    """Position of the watched player."""

    SUBJECT: ClassVar[str] = "telemetry.map"

    env: Id
    group: int
    room: int
    x: RoomX
    y: RoomY
    rooms_visited: Count


class WatchedPay(Telemetry):
    """Potential of the state on the watched screen, and its recent change."""

    SUBJECT: ClassVar[str] = "telemetry.pay"

    env: Id
    env_step: FrameStep
    reward_model_version: int | None = Field(default=None, description="Null without a live model.")
    potential: Amount | None = Field(default=None, description="For the state on the screen.")
    rises: tuple[Amount, ...] | None = Field(
        default=None,
        max_length=100,
        description="Change of the potential in the last seconds, summed over `bin_seconds` each, "
        "oldest first; null without a reward model.",
    )
    bin_seconds: float = Field(gt=0, le=3600, description="Seconds of the watcher's clock.")


class WorldProgress(WorldFigures, Telemetry):
    """Rooms that the run has visited, every few seconds."""

    SUBJECT: ClassVar[str] = "telemetry.world"

    run_id: Id


class RunnerSign(Contract):
    """Time since the last activity of a runner, by the clock of its machine."""

    runner: Count
    silent_seconds: Seconds = Field(
        description="Since the last activity of its process, including waiting for the learner."
    )
    still_seconds: Seconds | None = Field(description="Since its last play; null: none yet.")


class EnvironmentStands(Contract):
    """Position of the player of one environment."""

    env: Id = Field(description="Numbers of the runner and of its environment, such as 1-0.")
    runner: Count
    group: int
    room: int
    x: RoomX
    y: RoomY
    rooms_visited: Count = Field(description="Distinct rooms of the episode.")
    steps: Count = Field(description="Steps of four frames of the episode.")
    episode_return: Amount = Field(description="Environment reward of the episode so far.")


class EnvironmentsSeen(Telemetry):
    """Player positions of all environments of the run, once per second."""

    SUBJECT: ClassVar[str] = "telemetry.environments"

    run_id: Id
    watched: Id | None = Field(description="Environment whose screen is published, if any.")
    runners: tuple[RunnerSign, ...] = Field(max_length=MAX_RUNNERS)
    environments: tuple[EnvironmentStands, ...] = Field(max_length=MAX_ENVIRONMENTS)
    left_out: Count = Field(default=0, description="Further environments, not reported.")


class WatchWish(Telemetry):
    """The environment selected on the page, repeated by the HUD; it does not affect play."""

    SUBJECT: ClassVar[str] = "telemetry.watch"

    env: Id


class DescriptionWish(RunDescription, Telemetry):
    """A user's name, note and tags of a run; the trainer confirms them by `RunDescribed`."""

    SUBJECT: ClassVar[str] = "telemetry.describe"

    run_id: Id
