"""Which archived state to start from: seldom seen cells, and those that still lead somewhere."""

from collections import Counter
from collections.abc import Sequence
from math import sqrt
from pathlib import Path

import numpy as np
from pydantic import TypeAdapter, ValidationError

from rlaif.files.whole import write_whole
from rlaif.trainer.play.exploration.states import Cell

_ROWS: TypeAdapter[list[tuple[Cell, int, int]]] = TypeAdapter(list[tuple[Cell, int, int]])


class CellCounts:
    """What one environment runner knows of the cells.

    Attributes:
        seen: Cell → times that play came to it.
        fruitless: Cell → starts from it since one of them found a new cell.
        elsewhere: Cell → times that the play of other runners came to it.
    """

    def __init__(self) -> None:
        self.seen: Counter[Cell] = Counter()
        self.fruitless: Counter[Cell] = Counter()
        self.elsewhere: Counter[Cell] = Counter()

    def weight(self, cell: Cell) -> float:
        """How much a start from there is worth: 1/√(seen + 1) · 1/√(fruitless + 1).

        What any runner saw counts. The first factor is Go-Explore's. The second one takes a cell
        out of fashion when starts from it find nothing, though it be seldom seen: the end of a
        blind alley.
        """
        seen = self.seen[cell] + self.elsewhere[cell]
        return 1.0 / sqrt((seen + 1) * (self.fruitless[cell] + 1))

    def state_dict(self) -> list[tuple[Cell, int, int]]:
        """What this runner counted, as plain values."""
        return [(tuple(cell), seen, fruitless) for cell, seen, fruitless in self._counted()]  # type: ignore[misc]  # a cell as a plain tuple

    def load_state_dict(self, state: list[tuple[Cell, int, int]]) -> None:
        """Resume with what `state_dict` gave."""
        self.seen = Counter({Cell(*cell): seen for cell, seen, _ in state})
        self.fruitless = Counter({Cell(*cell): fruitless for cell, _, fruitless in state})

    def load(self, path: Path) -> None:
        """Resume with what `save` wrote; a missing or damaged file counts as none."""
        for cell, seen, fruitless in _rows(path):
            self.seen[cell], self.fruitless[cell] = seen, fruitless

    def save(self, path: Path) -> None:
        """Write what this runner counted to its file."""
        write_whole(path, _ROWS.dump_json(self._counted()))

    def _counted(self) -> list[tuple[Cell, int, int]]:
        cells = sorted(self.seen | self.fruitless)
        return [(cell, self.seen[cell], self.fruitless[cell]) for cell in cells]


def seen_in(path: Path) -> Counter[Cell]:
    """Cell → times that play came to it, of a runner's file; none if it cannot be read."""
    return Counter({cell: seen for cell, seen, _ in _rows(path)})


def _rows(path: Path) -> list[tuple[Cell, int, int]]:
    try:
        return _ROWS.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return []


def choose(cells: Sequence[Cell], counts: CellCounts, rng: np.random.Generator) -> Cell:
    """Draw a cell by weight. Equal cells, counts and generator give the same one."""
    if not cells:
        raise ValueError("no cell to choose from")
    ordered = sorted(cells)
    cumulated = np.cumsum([counts.weight(cell) for cell in ordered])
    at = int(np.searchsorted(cumulated, rng.random() * cumulated[-1], side="right"))
    return ordered[min(at, len(ordered) - 1)]
