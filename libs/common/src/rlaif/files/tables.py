"""Rows as CSV and as JSON lines."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any


def csv_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """CSV with the columns of all rows, in the order in which they occur.

    Missing values and None are empty cells.
    """
    columns = dict.fromkeys(name for row in rows for name in row)
    text = io.StringIO()
    table = csv.DictWriter(text, list(columns), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON-lines file; damaged lines, as a torn last one, are skipped."""
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if isinstance(row, dict):
                yield row
