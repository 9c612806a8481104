"""What a game is called, what its places are called and what its people say: words for `describe`.

Known are the shipped game and Oracle of Seasons. Texts are those of the shipped game alone: those
of Oracle of Seasons lie compressed in the user's cartridge and are left unknown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rlaif.contracts.places import ORACLE_DUNGEONS, SEEDLING_ROOMS
from rlaif.game.description.seedling_texts import seedling_texts
from rlaif.game.machine.cartridges import Game
from rlaif.game.memory.state import GameState


@dataclass(frozen=True)
class GameWords:
    """The words of one game.

    Attributes:
        game: Its name; None when nothing is known of it.
        rooms: (Group, room) → name.
        dungeons: Names of dungeons by number, for rooms that have none of their own.
        texts: Text id → what is said.
        choices: What every question of a text can be answered with, the first option first; empty
            where it differs from question to question.
    """

    game: Game | None = None
    rooms: Mapping[tuple[int, int], str] = field(default_factory=dict)
    dungeons: Sequence[str] = ()
    texts: Mapping[int, str] = field(default_factory=dict)
    choices: tuple[str, ...] = ()

    def place(self, state: GameState) -> str | None:
        """What the room is called, or else its dungeon."""
        if name := self.rooms.get((state.group, state.room)):
            return name
        inside = state.dungeon is not None and state.dungeon < len(self.dungeons)
        return self.dungeons[state.dungeon or 0] if inside else None

    def text(self, state: GameState) -> str | None:
        """What the text box says; None without one, or where it cannot be read."""
        return None if state.text_id is None else self.texts.get(state.text_id)


NO_WORDS = GameWords()
"""Of an unknown game."""


def words_of(game: Game, rom: bytes) -> GameWords:
    """The words of a cartridge: its game, as `Cartridge` tells it, and its bytes."""
    if game == "seedling-vale":
        return GameWords(game, SEEDLING_ROOMS, texts=seedling_texts(rom), choices=("Yes", "No"))
    if game == "oracle-of-seasons":
        return GameWords(game, dungeons=ORACLE_DUNGEONS)
    return GameWords(game)
