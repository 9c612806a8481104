"""A capture: all inputs for the replay of a segment, and its rewards; about 2 kB."""

from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rlaif.contracts.model import Contract, Id, Sha256


class GameIdentity(Contract):
    """The cartridge of a capture; a replay on another one is rejected."""

    title: str
    rom_sha256: Sha256


class EmulatorIdentity(Contract):
    """The emulator and the settings that affect RAM."""

    name: str = "pyboy"
    version: str
    sound_emulated: bool


Wait = tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=1)]]
"""(emulator step from 0, game frames without a button held after it)."""


Amount = tuple[Annotated[int, Field(ge=0)], float]
"""(emulator step of the segment, reward)."""

RoomNumber = tuple[int, int]
"""(group, room)."""


class SegmentPay(Contract):
    """Rewards of the steps of a segment, for display only, never for judges.

    The shaping reward is that of a segment at the start of an episode, at the model's full weight
    (`rlaif.reward_net.pay`): during a ramp-in, PPO gets less.
    """

    game: tuple[Amount, ...] = Field(description="Environment rewards that are not 0, in order.")
    parts: dict[str, tuple[Amount, ...]] = Field(
        description="Part → its nonzero rewards; in each step the parts sum to `game`."
    )
    reward_model_version: int | None = Field(
        default=None, description="Version that was live at the segment's end."
    )
    weight: float | None = Field(default=None, description="Weight of the potential.")
    gamma: float | None = Field(default=None, description="Discount of a step of four frames.")
    potentials: tuple[float, ...] | None = Field(
        default=None,
        description="Of the state before the first step, then after each; null without a model.",
    )
    model: tuple[float, ...] | None = Field(
        default=None, description="Shaping reward of each step; null without a model."
    )

    @property
    def model_rise(self) -> float | None:
        """Last minus first potential."""
        return self.potentials[-1] - self.potentials[0] if self.potentials else None


class Capture(Contract):
    """A keyframe and the actions since it.

    `prefix_actions` lead from the keyframe to the first frame of the segment. Actions are one digit
    (0-7, `rlaif.game.machine.actions`) per emulator step of `frame_skip` frames.
    """

    schema_version: Literal[1] = 1
    segment_id: Id
    episode_id: Id
    run_id: Id
    env_id: Id
    game: GameIdentity
    emulator: EmulatorIdentity
    frame_skip: int = Field(ge=1, le=60, description="Game frames per emulator step.")
    keyframe_sha256: Sha256 = Field(description="Digest of the uncompressed save state.")
    prefix_actions: str = Field(default="", pattern=r"^[0-7]*$")
    actions: str = Field(pattern=r"^[0-7]+$")
    prefix_waits: tuple[Wait, ...] = Field(
        default=(), description="(step, frames without a button) of the prefix."
    )
    waits: tuple[Wait, ...] = Field(
        default=(), description="(step, frames without a button) of the segment."
    )
    start_step: int = Field(ge=0, description="Emulator step of the episode at which it starts.")
    start_ram_sha256: Sha256
    end_ram_sha256: Sha256
    ended: Literal["running", "terminated", "truncated"] = "running"
    env_step: int = Field(ge=0, description="Environment steps of the run at the capture.")
    policy_iteration: int = Field(default=0, ge=0)
    reward_model_version: int | None = None
    selected_by: str = "uniform"
    from_own_start: bool | None = Field(
        default=None,
        description="Whether its episode began at the run's own start, power-on or its states: not "
        "on a demonstration or by the search. Null: unknown.",
    )
    rooms: tuple[RoomNumber, ...] | None = Field(
        default=None, description="Visited rooms, in order."
    )
    milestones: tuple[str, ...] | None = Field(default=None, description="Reached in it.")
    pay: SegmentPay | None = None

    @model_validator(mode="after")
    def _waits_follow_steps(self) -> Self:
        for waits, actions in (
            (self.prefix_waits, self.prefix_actions),
            (self.waits, self.actions),
        ):
            steps = [step for step, _ in waits]
            if steps and (steps[-1] >= len(actions) or any(a >= b for a, b in pairwise(steps))):
                raise ValueError("waits must name played steps in increasing order")
        return self
