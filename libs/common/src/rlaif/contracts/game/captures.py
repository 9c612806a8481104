"""A capture: everything needed to play a segment again, and what it showed and was paid; 2 kB."""

from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rlaif.contracts.model import Contract, Id, Sha256


class GameIdentity(Contract):
    """The cartridge on which a capture was made; a replay on another one is refused."""

    title: str
    rom_sha256: Sha256


class EmulatorIdentity(Contract):
    """The emulator and the settings on which the RAM depends."""

    name: str = "pyboy"
    version: str
    sound_emulated: bool


Wait = tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=1)]]
"""After this decision step, counted from 0, so many game frames were played with no button held."""


Amount = tuple[Annotated[int, Field(ge=0)], float]
"""(decision step of the segment, reward)."""

RoomNumber = tuple[int, int]
"""(group, room)."""


class SegmentPay(Contract):
    """Rewards of the steps of a segment when they were played: for people, never for judges.

    The game's own reward is what it was. The model's pay is that of a segment as the beginning of
    an episode, at the model's full weight (`rlaif.reward_net.pay`): what PPO gets of it is less
    while the model takes over from the one before it.
    """

    game: tuple[Amount, ...] = Field(
        description="The game's own reward of each step that has any, in order."
    )
    parts: dict[str, tuple[Amount, ...]] = Field(
        description="Part → its rewards, likewise; in each step the parts sum to `game`."
    )
    reward_model_version: int | None = Field(
        default=None, description="Whose potential this is: the live one at the segment's end."
    )
    weight: float | None = Field(
        default=None, description="Of the potential; null when models do not pay as one."
    )
    gamma: float | None = Field(default=None, description="Discount of a step of four frames.")
    potentials: tuple[float, ...] | None = Field(
        default=None,
        description="Of the state before the first step, then after each; null without a model.",
    )
    model: tuple[float, ...] | None = Field(
        default=None, description="What the model pays for each step; null likewise."
    )

    @property
    def model_rise(self) -> float | None:
        """How far the model says that the segment led: its last potential less its first."""
        return self.potentials[-1] - self.potentials[0] if self.potentials else None


class Capture(Contract):
    """A keyframe and the actions since it.

    `prefix_actions` lead from the keyframe to the first frame of the segment, `actions` play the
    segment. Both are strings with one digit (0-7, `rlaif.game.machine.actions`) a decision step.
    Steps are `frame_skip` frames long; a step after which the game was left alone has a wait too.
    """

    schema_version: Literal[1] = 1
    segment_id: Id
    episode_id: Id
    run_id: Id
    env_id: Id
    game: GameIdentity
    emulator: EmulatorIdentity
    frame_skip: int = Field(ge=1, le=60, description="Game frames per decision step.")
    keyframe_sha256: Sha256 = Field(description="Digest of the uncompressed save state.")
    prefix_actions: str = Field(default="", pattern=r"^[0-7]*$")
    actions: str = Field(pattern=r"^[0-7]+$")
    prefix_waits: tuple[Wait, ...] = Field(
        default=(), description="(step, frames) of the prefix: frames played with nothing pressed."
    )
    waits: tuple[Wait, ...] = Field(
        default=(), description="(step, frames) of the segment: frames played with nothing pressed."
    )
    start_step: int = Field(ge=0, description="Decision step of the episode at which it starts.")
    start_ram_sha256: Sha256
    end_ram_sha256: Sha256
    ended: Literal["running", "terminated", "truncated"] = "running"
    env_step: int = Field(ge=0, description="Environment steps of the run when it was captured.")
    policy_iteration: int = Field(default=0, ge=0)
    reward_model_version: int | None = None
    selected_by: str = "uniform"
    rooms: tuple[RoomNumber, ...] | None = Field(
        default=None, description="Rooms that it shows, in the order in which they were entered."
    )
    milestones: tuple[str, ...] | None = Field(
        default=None, description="Story steps that were reached in it."
    )
    pay: SegmentPay | None = None

    @model_validator(mode="after")
    def _waits_follow_steps(self) -> Self:
        for waits, actions in (
            (self.prefix_waits, self.prefix_actions),
            (self.waits, self.actions),
        ):
            steps = [step for step, _ in waits]
            if steps and (steps[-1] >= len(actions) or any(a >= b for a, b in pairwise(steps))):
                raise ValueError("waits name steps that were played, in rising order")
        return self
