"""Points of a run as a table for spreadsheets and pandas: one row per point."""

import csv
import io
from collections.abc import Sequence
from typing import Any

from rlaif.hud.read_model.history.points import Point

_NAMES = {"low": "min", "high": "max"}


def csv_of(points: Sequence[Point]) -> str:
    """CSV with the fields of a point as columns; `paid.rooms` is one of `paid`, and so on.

    An unknown value is an empty cell.
    """
    rows = [_row(point) for point in points]
    columns = dict.fromkeys(name for row in rows for name in row)
    text = io.StringIO()
    table = csv.DictWriter(text, list(columns), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


def _row(point: Point) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in point.model_dump(mode="json").items():
        if isinstance(value, dict):
            row |= {f"{_NAMES.get(name, name)}.{part}": each for part, each in value.items()}
        else:
            row[name] = value
    return row
