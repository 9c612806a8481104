"""What the service and its training process say to each other: one JSON object a line.

Commands travel down the process's standard input, messages come up a pipe of their own, so that
what RLlib prints can never be mistaken for either. The end of the input means that the service is
gone: the process then stops.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    def line(self) -> bytes:
        """The object as one line."""
        return self.model_dump_json().encode() + b"\n"


class LoadRewardModel(_Line):
    """Load this model between two fragments."""

    kind: Literal["load_reward_model"] = "load_reward_model"
    version: int
    path: str
    sha256: str


class GrantCaptures(_Line):
    """How many segments may be captured from now on; replaces what was left."""

    kind: Literal["grant_captures"] = "grant_captures"
    segments: int = Field(ge=0)


class Stop(_Line):
    """Finish the iteration, save a checkpoint, exit."""

    kind: Literal["stop"] = "stop"


Command = Annotated[LoadRewardModel | GrantCaptures | Stop, Field(discriminator="kind")]


class IterationDone(_Line):
    """One PPO iteration is over."""

    kind: Literal["iteration_done"] = "iteration_done"
    iteration: int
    env_steps: int
    episodes: int
    steps_per_second: float
    episode_return_mean: float | None
    shaped_return_mean: float | None
    episode_length_mean: float | None
    rooms_mean: float | None
    segments_captured: int
    segments_skipped: int
    reward_parts: dict[str, float]
    learner: dict[str, float] = Field(description="Losses, entropy, KL as RLlib reports them.")


class RewardModelLoaded(_Line):
    """The model shapes rewards from this environment step on."""

    kind: Literal["reward_model_loaded"] = "reward_model_loaded"
    version: int
    env_step: int


class RewardModelRefused(_Line):
    """The model did not load; the one before it stays."""

    kind: Literal["reward_model_refused"] = "reward_model_refused"
    version: int
    reason: str


class CheckpointSaved(_Line):
    """A checkpoint is whole on disk."""

    kind: Literal["checkpoint_saved"] = "checkpoint_saved"
    iteration: int
    env_steps: int
    path: str


class Started(_Line):
    """Environments and learner are built; training begins or goes on."""

    kind: Literal["started"] = "started"
    env_steps: int
    iteration: int
    restored_from: str | None


class Failed(_Line):
    """The process ends because of this."""

    kind: Literal["failed"] = "failed"
    reason: str


Message = Annotated[
    IterationDone | RewardModelLoaded | RewardModelRefused | CheckpointSaved | Started | Failed,
    Field(discriminator="kind"),
]

COMMANDS: TypeAdapter[Command] = TypeAdapter(Command)
MESSAGES: TypeAdapter[Message] = TypeAdapter(Message)
