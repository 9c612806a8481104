"""Points of a run as a table for spreadsheets and pandas: one row per point."""

from collections.abc import Sequence
from typing import Any

from rlaif.files import tables
from rlaif.hud.read_model.history.points import Point

_NAMES = {"low": "min", "high": "max"}


def csv_of(points: Sequence[Point]) -> str:
    """CSV with the fields of a point as columns; `paid.rooms` is item `rooms` of `paid`.

    An unknown value is an empty cell.
    """
    return tables.csv_of([_row(point) for point in points])


def _row(point: Point) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in point.model_dump(mode="json").items():
        if isinstance(value, dict):
            row |= {f"{_NAMES.get(name, name)}.{part}": each for part, each in value.items()}
        else:
            row[name] = value
    return row
