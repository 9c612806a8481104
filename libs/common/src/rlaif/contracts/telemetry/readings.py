"""Live readings on plain NATS: lossy, never stored, for people who watch.

Nothing in the pipeline depends on them. A reading that is unknown is null.
"""

from typing import ClassVar, Literal

from pydantic import AwareDatetime, Field

from rlaif.contracts.model import Contract, Id
from rlaif.contracts.reward_models import GamingAlarm, GateMetrics
from rlaif.contracts.telemetry.assistance import AssistanceEvent, ModeFigures
from rlaif.contracts.telemetry.curriculum import CurriculumFigures
from rlaif.contracts.telemetry.run import RunFigures
from rlaif.contracts.telemetry.search import SearchFigures
from rlaif.contracts.telemetry.world import WorldFigures

MAX_RUNNERS = 256
MAX_ENVIRONMENTS = 256
"""That are reported one by one; a player takes 150 bytes."""


class Telemetry(Contract):
    """A JSON reading; `SUBJECT` is where it travels."""

    SUBJECT: ClassVar[str]
    at: AwareDatetime


class TrainingProgress(RunFigures, Telemetry):
    """Where the run stands, about once a second.

    Counts are 0, and not null, before the first iteration: readings have always been so.
    """

    SUBJECT: ClassVar[str] = "telemetry.progress"

    run_id: Id
    status: str = Field(
        description="starting, training, waiting, stopping, stopped, finished or failed."
    )
    iteration: int = Field(ge=0)
    env_steps: int = Field(ge=0)
    episodes: int = Field(default=0, ge=0, description="Finished episodes.")
    segments_captured: int = Field(default=0, ge=0)
    segments_skipped: int = Field(default=0, ge=0, description="Not captured: over the budget.")
    reward_model_version: int | None = None
    reward_model_loaded_at_step: int | None = None
    reward_model_refused: int | None = Field(
        default=None,
        description="Version whose file failed a check since the last one was loaded.",
    )
    reward_model_refusal: str | None = Field(default=None, description="Why it did.")
    trouble: str | None = Field(
        default=None, description="Why it waits, loses files or learns nothing; null: it does not."
    )
    phase: str | None = Field(
        default=None,
        description="Of a run that searches first: search, demonstrations or policy; null for "
        "others.",
    )
    phase_words: str | None = Field(default=None, description="What it does in it, or did last.")


class ServiceHealth(Telemetry):
    """What `/readyz` of one process says: every two seconds, and at once when it changes."""

    SUBJECT: ClassVar[str] = "telemetry.health"

    service: str = Field(description="Such as reward-model.")
    instance: Id = Field(description="One process of that service; new at each start.")
    status: Literal["ready", "not ready", "stopping"]
    checks: dict[str, str | None] = Field(
        description="Check → what is wrong and what to do, in one sentence; null when it passes."
    )


class Missing(Contract):
    """Something of which there is not enough yet."""

    what: str = Field(description="Such as `new labels`.")
    have: int = Field(ge=0)
    need: int = Field(ge=1)


class RewardModelStatus(Telemetry):
    """The champion, its pin, and what the next reward model waits for, every two seconds."""

    SUBJECT: ClassVar[str] = "telemetry.reward-model"

    state: str = Field(description="idle or training.")
    labels: int = Field(ge=0, description="Scored segments that the next training learns from.")
    missing: tuple[Missing, ...] = Field(
        description="What there is not enough of for the next training to start by itself, and "
        "for the gate to let its model pass."
    )
    champion_version: int | None = None
    activation: int | None = Field(
        default=None, description="As in rm.published: rises with every change of the champion."
    )
    pinned: bool = Field(default=False, description="No candidate replaces the champion now.")
    pin_reason: str | None = None
    pinned_until: AwareDatetime | None = Field(
        default=None, description="When the pin ends by itself; null: when a person unpins it."
    )
    withdrawn: str | None = Field(
        default=None,
        description="Why the champion was taken out of use, so that no model is live; null when "
        "one is, or none ever was.",
    )
    champion_gate: GateMetrics | None = Field(
        default=None, description="What the gate measured of the champion, from its manifest."
    )
    gaming_alarm: GamingAlarm | None = Field(
        default=None,
        description="The last alarm of the reward hacking monitor; null if there was none since "
        "the service started.",
    )


class RewardBreakdown(Telemetry):
    """The parts of the reward over the last iteration; they sum to its total."""

    SUBJECT: ClassVar[str] = "telemetry.reward"

    run_id: Id
    env_step: int = Field(ge=0)
    parts: dict[str, float]
    total: float


class PaidStep(Contract):
    """What one decision of the watched game was paid."""

    number: int = Field(
        description="Rises by one with each decision; one is left out where what lies between is "
        "not known."
    )
    env_step: int = Field(ge=0, description="As in the screen's frame.")
    reward: float = Field(description="What the game paid, by its ledger's own sum.")
    parts: dict[str, float] = Field(
        default_factory=dict, description="Its parts; those that paid nothing are left out."
    )
    paid: float | None = Field(
        default=None,
        description="What the live reward model paid, at its full weight: while it takes over from "
        "another, PPO gets less. Null without one, or when it does not pay step by step.",
    )
    reward_model_version: int | None = None
    ended: bool = Field(default=False, description="The episode ended with it.")


class PaidSteps(Telemetry):
    """What the newest decisions of the watched game were paid, twice a second."""

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
    latency_seconds: float = Field(ge=0)
    rationale: str | None = None


class PlayerCall(AssistanceEvent, Telemetry):
    """One request to the assisting language model, and its outcome; it has a `mode`.

    Reported once its outcome is final; of many in one iteration only the newest are.
    """

    SUBJECT: ClassVar[str] = "telemetry.llm"

    run_id: Id


class AssistanceStatus(Telemetry):
    """What the language model did in the run so far, every three seconds."""

    SUBJECT: ClassVar[str] = "telemetry.assistance"

    run_id: Id
    env_steps: int = Field(ge=0, description="Of the run, as in telemetry.progress.")
    has_planner: bool | None = Field(
        default=None,
        description="Whether a planner is set; null before the first iteration since the trainer "
        "started.",
    )
    by_mode: dict[str, ModeFigures] = Field(
        default_factory=dict, description="Route of the planner → counts of the run."
    )
    down: dict[str, str] = Field(
        default_factory=dict, description="Route that gives no answer now → why."
    )


class SearchProgress(SearchFigures, Telemetry):
    """What the search of a run has found so far, every three seconds once there was one."""

    SUBJECT: ClassVar[str] = "telemetry.search"

    run_id: Id


class CurriculumProgress(CurriculumFigures, Telemetry):
    """How far the curriculum of a run came, every three seconds once there was one."""

    SUBJECT: ClassVar[str] = "telemetry.curriculum"

    run_id: Id


class MapPosition(Telemetry):
    """Where the watched player stands."""

    SUBJECT: ClassVar[str] = "telemetry.map"

    env: Id
    group: int
    room: int
    x: int = Field(description="Pixels from the left edge of the room.")
    y: int = Field(description="Pixels from the top edge of the room.")
    rooms_visited: int = Field(ge=0)


class WatchedPay(Telemetry):
    """Output of the live reward model for the state on the watched screen, and its reward.

    At the model's full weight: while it takes over from another, PPO gets less of it.
    """

    SUBJECT: ClassVar[str] = "telemetry.pay"

    env: Id
    env_step: int = Field(ge=0, description="As in the screen's frame.")
    reward_model_version: int | None = Field(
        default=None, description="Null while no reward model counts."
    )
    potential: float | None = Field(default=None, description="Of the state on the screen.")
    paid: tuple[float, ...] | None = Field(
        default=None,
        max_length=100,
        description="Shaping of the last seconds, summed over `bin_seconds` each, oldest first; "
        "null without a reward model, or when it does not pay as a potential.",
    )
    bin_seconds: float = Field(gt=0, description="Seconds of the watcher's clock.")


class WorldProgress(WorldFigures, Telemetry):
    """What the run has seen of the game's world so far, every few seconds."""

    SUBJECT: ClassVar[str] = "telemetry.world"

    run_id: Id


class RunnerSign(Contract):
    """How long ago a runner gave its last sign of life, by the clock of its machine."""

    runner: int = Field(ge=0)
    silent_seconds: float = Field(
        ge=0,
        description="Since its process last moved; one that waits for the learner still does.",
    )
    still_seconds: float | None = Field(
        ge=0, description="Since it last played; null: it has not yet."
    )


class EnvironmentStands(Contract):
    """Where the player of one environment stands."""

    env: Id = Field(description="The runner's number and the environment's in it, such as 1-0.")
    runner: int = Field(ge=0)
    group: int
    room: int
    x: int = Field(description="Pixels from the left edge of the room.")
    y: int = Field(description="Pixels from the top edge of the room.")
    rooms_visited: int = Field(ge=0, description="Distinct rooms of the episode.")
    steps: int = Field(ge=0, description="Steps of four frames of the episode.")
    episode_return: float = Field(description="The game's own reward so far, in this episode.")


class EnvironmentsSeen(Telemetry):
    """Where all environments of the run stand, on whichever machines, once a second."""

    SUBJECT: ClassVar[str] = "telemetry.environments"

    run_id: Id
    watched: Id | None = Field(description="Whose screen the trainer shows in full; null: none's.")
    runners: tuple[RunnerSign, ...] = Field(max_length=MAX_RUNNERS)
    environments: tuple[EnvironmentStands, ...] = Field(max_length=MAX_ENVIRONMENTS)
    left_out: int = Field(
        default=0, ge=0, description="Further environments that are not reported."
    )


class WatchWish(Telemetry):
    """The environment whose screen people want to see; the page's service says it again and again.

    The only reading that the trainer listens to: it decides what is drawn, never what is played.
    """

    SUBJECT: ClassVar[str] = "telemetry.watch"

    env: Id
