"""What the service and its training process say to each other: one JSON object a line.

Commands travel down the process's standard input, messages come up a pipe of their own, so that
what RLlib prints can never be mistaken for either. The end of the input means that the service is
gone: the process then stops.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from rlaif.contracts.assistance import AssistanceEvent, ModeFigures
from rlaif.contracts.curriculum_figures import CurriculumFigures
from rlaif.contracts.run_figures import RunFigures
from rlaif.contracts.run_points import EndedEpisodes
from rlaif.contracts.search_figures import SearchFigures
from rlaif.contracts.world_figures import WorldFigures


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    def line(self) -> bytes:
        return self.model_dump_json().encode() + b"\n"


class LoadRewardModel(_Line):
    """Load this model between two fragments; or, if it was withdrawn, pay by none."""

    kind: Literal["load_reward_model"] = "load_reward_model"
    version: int
    path: str
    sha256: str
    withdrawn: str | None = None


class GrantCaptures(_Line):
    """How many segments may be captured from now on; replaces what was left."""

    kind: Literal["grant_captures"] = "grant_captures"
    segments: int = Field(ge=0)


class Stop(_Line):
    """Finish the iteration, save a checkpoint, exit."""

    kind: Literal["stop"] = "stop"


Command = Annotated[LoadRewardModel | GrantCaptures | Stop, Field(discriminator="kind")]


class PartFigures(_Line):
    """What one part of the reward weighed in an iteration."""

    sum: float
    mean: float
    std: float
    share: float | None = Field(description="Of the sum of absolute rewards; null: none was paid.")
    advantage_share: float | None = Field(
        description="Of the variance of the advantages before the critic; the parts add up to 1."
    )


class AssistanceDone(_Line):
    """What the language model did while the iteration was played."""

    by_mode: dict[str, ModeFigures] = Field(description="Route of the planner → its counts.")
    latency: dict[str, list[int]] = Field(
        description="Route → calls by how long they took, as in `assistance.LATENCY_BUCKETS`."
    )
    of_run: dict[str, ModeFigures] = Field(description="As `by_mode`, of the run so far.")
    events: list[AssistanceEvent] = Field(description="The newest ones, oldest first.")


class IterationDone(RunFigures, _Line):
    """One PPO iteration is over."""

    # A figure that is no number arrives as null.
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
    segments_dropped: int = Field(
        default=0, description="Captured, but the spool was full or could not be written."
    )
    captures_lost: str | None = Field(
        default=None, description="Why captures of this iteration were dropped; null: none was."
    )
    selected_by: dict[str, int] = Field(
        default_factory=dict, description="Captures by why they were chosen."
    )
    not_written: str | None = Field(
        default=None,
        description="Why the disk did not take what the iteration found; null: it did.",
    )
    reward_parts: dict[str, float]
    reward_statistics: dict[str, PartFigures] = Field(
        default_factory=dict,
        description="game, shaping (the reward model's part), curiosity, guidance.",
    )
    reward_model_version: int | None = Field(
        default=None, description="Of the reward model that paid in this iteration."
    )
    assistance: AssistanceDone | None = Field(default=None, description="Null without a planner.")
    ended: EndedEpisodes = Field(
        default_factory=EndedEpisodes, description="Episodes that ended in the iteration."
    )
    oldest_open: int | None = Field(default=None, description="As in `RunPoint`.")
    learner: dict[str, float] = Field(description="Losses, entropy, KL as RLlib reports them.")
    samples_left_out: int = Field(
        default=0, description="Environment steps of the batch whose advantage is no number."
    )
    updates_left_out: int = Field(
        default=0, description="Gradient steps of the iteration that were no number."
    )
    not_learned: str | None = Field(
        default=None, description="Why nothing was learned in the iteration; null: something was."
    )


class SearchTold(SearchFigures, _Line):
    """What the search found so far; told every few seconds, and when it is over."""

    kind: Literal["search_told"] = "search_told"


class CurriculumTold(CurriculumFigures, _Line):
    """How far the curriculum came; told with each iteration of it at most."""

    kind: Literal["curriculum_told"] = "curriculum_told"


class WorldTold(WorldFigures, _Line):
    """What the run has seen of its world; told every few seconds at most."""

    kind: Literal["world_told"] = "world_told"


class PhaseTold(_Line):
    """A run of mode quest came to another phase, or did some of it; for people."""

    kind: Literal["phase_told"] = "phase_told"
    phase: Literal["search", "demonstrations", "policy"]
    words: str


class EvaluationDone(_Line):
    """A frozen policy was evaluated; the whole of it is on disk."""

    kind: Literal["evaluation_done"] = "evaluation_done"
    evaluation_id: str
    epoch: int | None
    iteration: int
    fraction_mean: float
    return_mean: float
    path: str


class EvaluationFailed(_Line):
    """An evaluation of a pipeline did not come to its end; training goes on."""

    kind: Literal["evaluation_failed"] = "evaluation_failed"
    epoch: int | None
    reason: str


class RewardModelLoaded(_Line):
    """The model shapes rewards from this environment step on."""

    kind: Literal["reward_model_loaded"] = "reward_model_loaded"
    version: int
    env_step: int


class RewardModelRefused(_Line):
    """The model did not load and the one before stays; or it paid nonsense and counts no more."""

    kind: Literal["reward_model_refused"] = "reward_model_refused"
    version: int
    reason: str
    rolled_back: bool = Field(default=False, description="It counted until now.")
    counts: int | None = Field(
        default=None, description="Version that counts again after a roll-back; null for none."
    )


class CheckpointSaved(_Line):
    """A checkpoint is whole on disk."""

    kind: Literal["checkpoint_saved"] = "checkpoint_saved"
    iteration: int
    env_steps: int
    path: str


class CheckpointNotSaved(_Line):
    """The disk did not take a checkpoint; training goes on and tries again."""

    kind: Literal["checkpoint_not_saved"] = "checkpoint_not_saved"
    iteration: int
    reason: str


class Started(_Line):
    """Environments and learner are built; training begins or resumes."""

    kind: Literal["started"] = "started"
    env_steps: int
    iteration: int
    restored_from: str | None
    trained_seconds: float = 0.0
    passed_over: list[str] = Field(
        default_factory=list, description="What of the checkpoint could not be resumed."
    )


class Finished(_Line):
    """The run came to its end; the process ends too."""

    kind: Literal["finished"] = "finished"
    why: Literal["time", "epoch", "evaluated", "asked", "learned"]


class Failed(_Line):
    """The process ends because of this."""

    kind: Literal["failed"] = "failed"
    reason: str
    is_final: bool = Field(default=False, description="Trying again would fail in the same way.")
    of_disk: str | None = Field(
        default=None, description="What the disk or this machine does not give; it may pass."
    )


Message = Annotated[
    IterationDone
    | SearchTold
    | CurriculumTold
    | WorldTold
    | PhaseTold
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
