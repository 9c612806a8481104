"""Rows as CSV."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any


def csv_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """CSV with the columns of all rows, in the order in which they occur.

    What a row lacks, and None, is an empty cell.
    """
    columns = dict.fromkeys(name for row in rows for name in row)
    text = io.StringIO()
    table = csv.DictWriter(text, list(columns), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()
