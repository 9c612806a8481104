"""Rows as a Parquet file, where pyarrow is installed; it is no dependency of the judge."""

import importlib
import io
import json
from collections.abc import Sequence
from typing import Any


def parquet_bytes(rows: Sequence[dict[str, Any]]) -> bytes | None:
    """The rows as a Parquet file; nested values become JSON text. None without pyarrow or rows."""
    if not rows:
        return None
    try:
        arrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        return None
    flat = [
        {name: json.dumps(v) if isinstance(v, dict | list) else v for name, v in row.items()}
        for row in rows
    ]
    buffer = io.BytesIO()
    parquet.write_table(arrow.Table.from_pylist(flat), buffer)
    return buffer.getvalue()
