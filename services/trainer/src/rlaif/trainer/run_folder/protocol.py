"""Commands and messages between the service and its training process, as JSON lines.

Commands are sent to the process's standard input, messages to a separate pipe, apart from the
output of RLlib. The process stops at the end of its input, because the service has then ended.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from rlaif.contracts.run_points import EndedEpisodes
from rlaif.contracts.telemetry.assistance import AssistanceEvent, ModeFigures
from rlaif.contracts.telemetry.curriculum import CurriculumFigures
from rlaif.contracts.telemetry.run import RunFigures
from rlaif.contracts.telemetry.search import SearchFigures
from rlaif.contracts.telemetry.world import WorldFigures


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    def line(self) -> bytes:
        return self.model_dump_json().encode() + b"\n"


class LoadRewardModel(_Line):
    """Load this model between two fragments, or no model if it was withdrawn."""

    kind: Literal["load_reward_model"] = "load_reward_model"
    version: int
    path: str
    sha256: str
    withdrawn: str | None = None


class GrantCaptures(_Line):
    """Number of segments that may be captured from now on; replaces the remaining budget."""

    kind: Literal["grant_captures"] = "grant_captures"
    segments: int = Field(ge=0)


class Stop(_Line):
    """Finish the iteration, save a checkpoint and exit."""

    kind: Literal["stop"] = "stop"


Command = Annotated[LoadRewardModel | GrantCaptures | Stop, Field(discriminator="kind")]


class PartFigures(_Line):
    """Statistics of one part of the reward in an iteration."""

    sum: float
    mean: float
    std: float
    share: float | None = Field(
        description="Share of the sum of absolute rewards; null without any."
    )
    advantage_share: float | None = Field(
        description="Share of the variance of the advantages without critic; the parts sum to 1."
    )


class AssistanceDone(_Line):
    """Calls to the language model during the iteration."""

    by_mode: dict[str, ModeFigures] = Field(description="Route of the planner → its counts.")
    latency: dict[str, list[int]]  # route → calls by duration, as in `assistance.LATENCY_BUCKETS`
    of_run: dict[str, ModeFigures] = Field(description="As `by_mode`, over the run.")
    events: list[AssistanceEvent] = Field(description="The newest ones, oldest first.")


class IterationDone(RunFigures, _Line):
    """A PPO iteration is complete."""

    # Non-finite values arrive as null.
    model_config = ConfigDict(allow_inf_nan=True)

    kind: Literal["iteration_done"] = "iteration_done"
    iteration: int
    env_steps: int
    episodes: int
    steps_per_second: float
    segments_captured: int
    segments_skipped: int
    trained_seconds: float = 0.0
    milestones: list[str] = Field(default_factory=list)
    segments_dropped: int = 0  # captured, but the spool was full or not writable
    captures_lost: str | None = None  # why captures of this iteration were dropped; null for none
    selected_by: dict[str, int] = Field(default_factory=dict)  # captures by reason of selection
    not_written: str | None = None
    """Why discoveries of the iteration could not be written; null: they were."""
    reward_parts: dict[str, float]
    reward_statistics: dict[str, PartFigures] = Field(default_factory=dict)
    """Game, shaping (the reward model's part), curiosity, guidance."""
    reward_model_version: int | None = None
    """Version of the reward model that was live in this iteration."""
    assistance: AssistanceDone | None = Field(default=None, description="Null without a planner.")
    ended: EndedEpisodes = Field(default_factory=EndedEpisodes)
    """Episodes that ended in the iteration."""
    oldest_open: int | None = Field(default=None, description="As in `RunPoint`.")
    learner: dict[str, float] = Field(description="Losses, entropy and KL as reported by RLlib.")
    samples_left_out: int = 0  # environment steps of the batch whose advantage is not finite
    updates_left_out: int = 0  # gradient steps of the iteration that are not finite
    not_learned: str | None = None  # why the policy was not updated; null if it was
    not_built: str | None = None  # why the last build of demonstrations failed; null if it did not


# `past.json` of earlier releases has the kinds that end with `_told`.


class SearchReport(SearchFigures, _Line):
    """Progress of the search, every few seconds and at its end."""

    kind: Literal["search_report", "search_told"] = "search_report"
    segments_captured: int = 0


class CurriculumReport(CurriculumFigures, _Line):
    """Progress of the curriculum, at most once per iteration."""

    kind: Literal["curriculum_report", "curriculum_told"] = "curriculum_report"


class WorldReport(WorldFigures, _Line):
    """What the run has seen of its world, at most every few seconds."""

    kind: Literal["world_report", "world_told"] = "world_report"


class PhaseReport(_Line):
    """Phase and progress of a run of mode `quest`, as text."""

    kind: Literal["phase_report"] = "phase_report"
    phase: Literal["search", "demonstrations", "policy"]
    words: str


class EvaluationStarted(_Line):
    """An evaluation starts; the run makes no environment steps until it ends."""

    kind: Literal["evaluation_started"] = "evaluation_started"


class EvaluationDone(_Line):
    """A policy was evaluated; the result is on disk."""

    kind: Literal["evaluation_done"] = "evaluation_done"
    evaluation_id: str
    epoch: int | None
    iteration: int
    fraction_mean: float
    return_mean: float
    path: str
    env_steps: int
    player: Literal["trained", "random"]
    episodes: int
    milestones: float
    interval: tuple[float, float]


class EvaluationFailed(_Line):
    """An evaluation of a pipeline failed; training continues."""

    kind: Literal["evaluation_failed"] = "evaluation_failed"
    epoch: int | None
    reason: str


class RewardModelLoaded(_Line):
    """The model is live as of this environment step."""

    kind: Literal["reward_model_loaded"] = "reward_model_loaded"
    version: int
    env_step: int


class RewardModelRefused(_Line):
    """The model was not loaded, or rolled back because of invalid outputs."""

    kind: Literal["reward_model_refused"] = "reward_model_refused"
    version: int
    reason: str
    rolled_back: bool = Field(default=False, description="It was live until now.")
    counts: int | None = None  # version that is live again after a rollback; null for none


class CheckpointSaved(_Line):
    """A checkpoint was saved."""

    kind: Literal["checkpoint_saved"] = "checkpoint_saved"
    iteration: int
    env_steps: int
    path: str


class CheckpointNotSaved(_Line):
    """A checkpoint could not be written; training continues and retries."""

    kind: Literal["checkpoint_not_saved"] = "checkpoint_not_saved"
    iteration: int
    reason: str


class Started(_Line):
    """Environments and learner are built; training starts or resumes."""

    kind: Literal["started"] = "started"
    env_steps: int
    iteration: int
    restored_from: str | None
    trained_seconds: float = 0.0
    passed_over: list[str] = Field(default_factory=list)
    """Parts of the checkpoint that could not be resumed."""


class Finished(_Line):
    """The run and its process end."""

    kind: Literal["finished"] = "finished"
    why: Literal["time", "epoch", "evaluated", "asked", "learned"]


class Failed(_Line):
    """The process ends because of an error."""

    kind: Literal["failed"] = "failed"
    reason: str
    is_final: bool = Field(default=False, description="Another attempt would fail in the same way.")
    of_disk: str | None = None  # a resource of disk or machine is missing, perhaps temporarily


Message = Annotated[
    IterationDone
    | SearchReport
    | CurriculumReport
    | WorldReport
    | PhaseReport
    | EvaluationStarted
    | EvaluationDone
    | EvaluationFailed
    | RewardModelLoaded
    | RewardModelRefused
    | CheckpointSaved
    | CheckpointNotSaved
    | Started
    | Finished
    | Failed,
    Field(discriminator="kind"),
]

COMMANDS: TypeAdapter[Command] = TypeAdapter(Command)
MESSAGES: TypeAdapter[Message] = TypeAdapter(Message)
