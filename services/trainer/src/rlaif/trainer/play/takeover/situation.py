"""What a plan is asked for, and by what it is stale: RAM in, a situation to compare out."""

from dataclasses import dataclass
from hashlib import blake2b

from rlaif.contracts.briefing import Briefing
from rlaif.contracts.plans import Mode
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.puzzles import PuzzleElement, puzzle_elements
from rlaif.trainer.play.takeover.switch import mode_of

_GROUP, _ROOM, _TEXT = address("wActiveGroup"), address("wActiveRoom"), address("wTextIndex")

_PLANNED_BY = {
    "items", "on_a", "on_b", "keys", "boss_key", "bombs", "rupees", "hearts", "failed",
}  # fmt: skip
"""What of a briefing a plan depends on, besides room, text and puzzle. Where the player stands and
who is near is left out: macros find their own way."""


@dataclass(frozen=True)
class Situation:
    """One moment as far as a plan depends on it.

    Attributes:
        text: Id of the text that is read; None in a puzzle.
        puzzle: What is left to be done in the room; empty in a dialog.
    """

    mode: Mode
    group: int
    room: int
    text: int | None = None
    puzzle: tuple[PuzzleElement, ...] = ()

    @classmethod
    def at(cls, ram: RamBlocks) -> "Situation | None":
        """The situation of this moment; None in plain play."""
        mode = mode_of(ram)
        if mode is None:
            return None
        place = (mode, ram.u8(_GROUP), ram.u8(_ROOM))
        if mode == "dialog":
            return cls(*place, text=ram.u16(_TEXT))
        return cls(*place, puzzle=puzzle_elements(ram))

    def key(self, told: Briefing) -> str:
        """Equal for questions whose answers may be exchanged."""
        digest = blake2b(digest_size=16)
        digest.update(repr((self.group, self.room, self.text, self.puzzle)).encode())
        digest.update(told.model_dump_json(include=_PLANNED_BY).encode())
        return f"{self.about}/{digest.hexdigest()}"

    @property
    def about(self) -> str:
        """How the keys of all situations in this room begin."""
        return f"{self.mode}/{self.group}/{self.room}"
