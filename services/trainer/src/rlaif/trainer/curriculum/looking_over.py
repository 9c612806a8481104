"""Plays a way of a search once more: is it what it says, what was decided, where marks came."""

from collections.abc import Sequence
from dataclasses import dataclass

from rlaif.trainer.curriculum.belongings import Belongings
from rlaif.trainer.curriculum.demonstrations import needed_marks
from rlaif.trainer.curriculum.lineages import Way
from rlaif.trainer.curriculum.playing import Player
from rlaif.trainer.curriculum.replaying import check, pieces
from rlaif.trainer.play.start import plays_alone
from rlaif.trainer.search.marks import Marks, marks_of


@dataclass(frozen=True)
class Walked:
    """A way that leads where it says.

    Attributes:
        way: The way.
        decided: Of each stretch the decisions that somebody made; in between the game played alone.
        marks: What the game showed at the start and after each stretch.
        had: What the player had then.
    """

    way: Way
    decided: tuple[tuple[int, ...], ...]
    marks: tuple[Marks, ...]
    had: tuple[Belongings, ...]

    def needed(self, others: Sequence["Walked"]) -> Marks:
        """See `needed_marks`."""
        return needed_marks(self._news(), [frozenset().union(*other.marks) for other in others])

    def parts(self, needed: Marks) -> list[tuple[int, int, Marks]]:
        """(first stretch, the one after its last, needed marks that are new there) of each part."""
        found: list[tuple[int, int, Marks]] = []
        first = 0
        for number, new in enumerate(self._news(), start=1):
            if goal := new & needed:
                found.append((first, number, goal))
                first = number
        return found

    def _news(self) -> list[Marks]:
        """Marks of each stretch that were never there before it."""
        seen, news = self.marks[0], []
        for marks in self.marks[1:]:
            news.append(marks - seen)
            seen |= marks
        return news


def look_over(way: Way, player: Player) -> Walked:
    """Play a way.

    Raises:
        WayMismatchError: The RAM differs at one of the moments that were kept.
    """
    player.begin(way.state)
    check(player.digest(), way.digest, 0)
    decided, marks, had = [], [marks_of(player.ram)], [Belongings.of(player.ram)]
    for number, stretch in enumerate(way.stretches, start=1):
        made = []
        for decision, digits in pieces(stretch):
            if not plays_alone(player.ram):
                made.append(decision)
            player.press(decision, digits)
        check(player.digest(), stretch.digest, number)
        decided.append(tuple(made))
        marks.append(marks_of(player.ram))
        had.append(Belongings.of(player.ram))
    return Walked(way, tuple(decided), tuple(marks), tuple(had))
