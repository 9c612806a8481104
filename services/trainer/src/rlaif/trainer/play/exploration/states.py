"""Archived states: cells, identity, and the record of how a state was reached."""

from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from rlaif.contracts.game.captures import EmulatorIdentity, GameIdentity, Wait
from rlaif.contracts.model import Sha256
from rlaif.trainer.rewards.game import facts as places

BLOCK_WIDTH, BLOCK_HEIGHT = 80, 64
"""Pixels of a block: a small room has four, a large one nine. Finer cells would give hundreds of
states per room, coarser ones would not distinguish its doors."""


class ArchiveError(Exception):
    """Base class of the archive's errors."""


class ArchiveMismatchError(ArchiveError):
    """The archive belongs to another game, emulator or frame skip."""


class ArchivedStateError(ArchiveError):
    """The state is missing or damaged, or its record is not readable."""


class Cell(NamedTuple):
    """A class of equivalent states, of which the archive stores one.

    Attributes:
        room: Index of the room, `rewards.game.places.room_index`.
        block: Part of the room, numbered from the top left, four per row.
        milestones: Milestones in the save file, in quest order.
    """

    room: int
    block: int
    milestones: tuple[str, ...]


def block_of(x: int, y: int) -> int:
    """Return the block of a pixel."""
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
        """Name of the directory for data of this identity."""
        emulator = self.emulator
        sound = "sound" if emulator.sound_emulated else "silent"
        return (
            f"{self.game.rom_sha256[:16]}-{emulator.name}-{emulator.version}-{sound}"
            f"-skip{self.frame_skip}"
        )

    def differs_from(self, other: "ArchiveIdentity") -> str | None:
        """Describe the first difference; None if there is none."""
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
    """Origin of a state. The parent's state and the actions since then reproduce its RAM."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    sha256: Sha256 = Field(description="Digest of the uncompressed save state; names its file.")
    ram_sha256: Sha256 | None = Field(
        description="Digest of its RAM, to verify a replay; null for a start of the game."
    )
    identity: ArchiveIdentity
    parent: Sha256 | None = Field(description="Preceding state; null for a start of the game.")
    actions: str = Field(
        pattern=r"^[0-7]*$", description="One digit per decision step since the parent."
    )
    waits: tuple[Wait, ...] = Field(
        default=(), description="(step, frames) of waits after steps, without buttons."
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
        return Cell(self.room, self.block, self.milestones)

    def better_than(self, other: "ArchiveRecord") -> bool:
        """Whether it should replace `other`: healthier, or as healthy with fewer steps."""
        if self.healthy != other.healthy:
            return self.healthy
        return self.steps < other.steps
