"""Selection of archived start states: rarely visited cells, and those that lead to new ones."""

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
    """One environment runner's statistics of cells.

    Attributes:
        seen: Cell → number of visits.
        fruitless: Cell → starts from it since one of them found a new cell.
        elsewhere: Cell → number of visits by other runners.
    """

    def __init__(self) -> None:
        self.seen: Counter[Cell] = Counter()
        self.fruitless: Counter[Cell] = Counter()
        self.elsewhere: Counter[Cell] = Counter()

    def weight(self, cell: Cell) -> float:
        """Return the weight of a start from a cell: 1/√(seen + 1) · 1/√(fruitless + 1).

        `seen` includes other runners. The first factor is Go-Explore's. The second reduces the
        weight of a rarely visited cell whose starts find nothing, such as a dead end.
        """
        seen = self.seen[cell] + self.elsewhere[cell]
        return 1.0 / sqrt((seen + 1) * (self.fruitless[cell] + 1))

    def state_dict(self) -> list[tuple[Cell, int, int]]:
        """This runner's counts."""
        return [(tuple(cell), seen, fruitless) for cell, seen, fruitless in self._counted()]  # type: ignore[misc]  # a cell as a plain tuple

    def load_state_dict(self, state: list[tuple[Cell, int, int]]) -> None:
        self.seen = Counter({Cell(*cell): seen for cell, seen, _ in state})
        self.fruitless = Counter({Cell(*cell): fruitless for cell, _, fruitless in state})

    def load(self, path: Path) -> None:
        """Restore from the file of `save`; a missing or damaged file counts as empty."""
        for cell, seen, fruitless in _rows(path):
            self.seen[cell], self.fruitless[cell] = seen, fruitless

    def save(self, path: Path) -> None:
        write_whole(path, _ROWS.dump_json(self._counted()))

    def _counted(self) -> list[tuple[Cell, int, int]]:
        cells = sorted(self.seen | self.fruitless)
        return [(cell, self.seen[cell], self.fruitless[cell]) for cell in cells]


def seen_in(path: Path) -> Counter[Cell]:
    """Return cell → number of visits from a runner's file; empty if it cannot be read."""
    return Counter({cell: seen for cell, seen, _ in _rows(path)})


def _rows(path: Path) -> list[tuple[Cell, int, int]]:
    try:
        return _ROWS.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return []


def choose(cells: Sequence[Cell], counts: CellCounts, rng: np.random.Generator) -> Cell:
    """Draw a cell by weight; deterministic in cells, counts and generator."""
    if not cells:
        raise ValueError("no cells to choose from")
    ordered = sorted(cells)
    cumulated = np.cumsum([counts.weight(cell) for cell in ordered])
    at = int(np.searchsorted(cumulated, rng.random() * cumulated[-1], side="right"))
    return ordered[min(at, len(ordered) - 1)]
