"""What is kept with a state: where it lies in the game, and how the game came there."""

from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from rlaif.contracts.captures import EmulatorIdentity, GameIdentity, Wait
from rlaif.contracts.ids import Sha256
from rlaif.trainer.rewards.game import facts as places

BLOCK_WIDTH, BLOCK_HEIGHT = 80, 64
"""Pixels of a block: a small room has four, a large one nine. Finer cells would be hundreds of
states of one room, coarser ones would not distinguish its doors."""


class ArchiveError(Exception):
    """Base of what an archive raises."""


class ArchiveMismatchError(ArchiveError):
    """The archive belongs to another game, emulator or frame skip."""


class ArchivedStateError(ArchiveError):
    """The state is gone, damaged, or its record is not readable."""


class Cell(NamedTuple):
    """States that count as alike: the archive keeps one of each.

    Attributes:
        room: Number of the room, `rewards.game.places.room_index`.
        block: Which part of the room, from the top left, four a line.
        milestones: Story steps that the save file shows, in quest order.
    """

    room: int
    block: int
    milestones: tuple[str, ...]


def block_of(x: int, y: int) -> int:
    """The part of a room at a pixel."""
    return y // BLOCK_HEIGHT * 4 + x // BLOCK_WIDTH


class ArchiveIdentity(BaseModel):
    """What every state of an archive depends on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    game: GameIdentity
    emulator: EmulatorIdentity
    frame_skip: int = Field(ge=1, le=60)

    @property
    def folder(self) -> str:
        """A name for a directory of what belongs to it alone."""
        emulator = self.emulator
        sound = "sound" if emulator.sound_emulated else "silent"
        return (
            f"{self.game.rom_sha256[:16]}-{emulator.name}-{emulator.version}-{sound}"
            f"-skip{self.frame_skip}"
        )

    def differs_from(self, other: "ArchiveIdentity") -> str | None:
        """What is not the same, for people; None when all is."""
        if self.game.rom_sha256 != other.game.rom_sha256:
            return (
                f"game {self.game.title} {self.game.rom_sha256[:12]}, this run plays "
                f"{other.game.title} {other.game.rom_sha256[:12]}"
            )
        if self.emulator != other.emulator:
            return f"emulator {_named(self.emulator)}, this run has {_named(other.emulator)}"
        if self.frame_skip != other.frame_skip:
            return f"frame skip {self.frame_skip}, this run has {other.frame_skip}"
        return None


def _named(emulator: EmulatorIdentity) -> str:
    sound = "with" if emulator.sound_emulated else "without"
    return f"{emulator.name} {emulator.version} {sound} sound"


class ArchiveRecord(BaseModel):
    """Where a state came from. Its parent's state and the actions since give the same RAM again."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    sha256: Sha256 = Field(description="Digest of the uncompressed save state; names its file.")
    ram_sha256: Sha256 | None = Field(
        description="Digest of the game's RAM in it, for a replay; null for a start of the game."
    )
    identity: ArchiveIdentity
    parent: Sha256 | None = Field(description="State that play came from; null for the start.")
    actions: str = Field(pattern=r"^[0-7]*$", description="One digit a decision step since parent.")
    waits: tuple[Wait, ...] = Field(
        default=(), description="(step, frames) after it with nothing pressed."
    )
    steps: int = Field(ge=0, description="Decision steps since the start of the game.")
    room: Annotated[int, Field(ge=0, lt=places.ROOMS)]
    block: Annotated[int, Field(ge=0, lt=16)]
    milestones: tuple[str, ...]
    healthy: bool = Field(description="At least half of the hearts.")
    environment: str

    @property
    def parent_steps(self) -> int:
        """Decision steps of the game up to its parent."""
        return self.steps - len(self.actions)

    @property
    def cell(self) -> Cell:
        """Which cell it stands for."""
        return Cell(self.room, self.block, self.milestones)

    def better_than(self, other: "ArchiveRecord") -> bool:
        """Whether it should stand for their cell: healthier, or as healthy and reached sooner."""
        if self.healthy != other.healthy:
            return self.healthy
        return self.steps < other.steps
