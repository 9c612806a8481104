"""Names and texts of a game: its title, its places, what people say.

Available for the shipped game and Oracle of Seasons; the latter's texts are compressed in the
user's cartridge and remain unknown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rlaif.contracts.places import ORACLE_DUNGEONS, SEEDLING_ROOMS
from rlaif.game.description.seedling_texts import seedling_texts
from rlaif.game.machine.cartridges import Game
from rlaif.game.memory.state import GameState


@dataclass(frozen=True)
class GameWords:
    """Names and texts of one game.

    Attributes:
        game: Its name; None if unknown.
        rooms: (Group, room) → name.
        dungeons: Names of dungeons by number, for rooms without a name.
        texts: Text id → the text.
        choices: The answers to every question, in order; empty if they differ by question.
    """

    game: Game | None = None
    rooms: Mapping[tuple[int, int], str] = field(default_factory=dict)
    dungeons: Sequence[str] = ()
    texts: Mapping[int, str] = field(default_factory=dict)
    choices: tuple[str, ...] = ()

    def place(self, state: GameState) -> str | None:
        """Name of the room, or else of its dungeon."""
        if name := self.rooms.get((state.group, state.room)):
            return name
        inside = state.dungeon is not None and state.dungeon < len(self.dungeons)
        return self.dungeons[state.dungeon or 0] if inside else None

    def text(self, state: GameState) -> str | None:
        """The open text; None without one, or if it is unknown."""
        return None if state.text_id is None else self.texts.get(state.text_id)


NO_WORDS = GameWords()
"""Of an unknown game."""


def words_of(game: Game, rom: bytes) -> GameWords:
    """Names and texts of a cartridge."""
    if game == "seedling-vale":
        return GameWords(game, SEEDLING_ROOMS, texts=seedling_texts(rom), choices=("Yes", "No"))
    if game == "oracle-of-seasons":
        return GameWords(game, dungeons=ORACLE_DUNGEONS)
    return GameWords(game)
