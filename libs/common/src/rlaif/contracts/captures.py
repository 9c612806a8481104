"""A capture: everything needed to play a segment again, in a few hundred bytes."""

from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rlaif.contracts.ids import Id, Sha256
from rlaif.contracts.model import Contract


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
    frame_skip: int = Field(ge=1, le=60, description="Game frames a decision step.")
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
