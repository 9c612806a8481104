"""A capture: everything needed to play a segment again, in a few hundred bytes."""

from typing import Literal

from pydantic import Field

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


class Capture(Contract):
    """A keyframe and the actions since it.

    `prefix_actions` lead from the keyframe to the first frame of the segment, `actions` play the
    segment. Both are strings with one digit (0-7, `rlaif.game.actions`) a decision step.
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
    start_step: int = Field(ge=0, description="Decision step of the episode at which it starts.")
    start_ram_sha256: Sha256
    end_ram_sha256: Sha256
    ended: Literal["running", "terminated", "truncated"] = "running"
    env_step: int = Field(ge=0, description="Environment steps of the run when it was captured.")
    policy_iteration: int = Field(default=0, ge=0)
    reward_model_version: int | None = None
    selected_by: str = "uniform"
