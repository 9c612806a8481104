"""Export of the label log: one line per score object, with the full provenance of its values."""

import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rlaif.contracts.judging.scores import ScoreRecord
from rlaif.reward_model.labels.labels import LabelledSegment

_ROWS_PER_GROUP = 1000
_CARD = Path(__file__).with_name("dataset_card.md")
_OF_THE_RECORD = (
    "provenance", "author", "note", "segment_id", "episode_id", "run_id", "env_step",
    "judge_config", "created_at", "manifest_key", "manifest_sha256", "evidence_sha256", "weighted",
    "weights", "criteria", "abstentions", "quest", "decided_by", "truth", "distrusted", "calls",
)  # fmt: skip

Entry = dict[str, Any]
"""Name → value, as JSON."""


class ParquetMissingError(RuntimeError):
    """pyarrow is not installed; only JSON lines can be written."""


def entry_of(
    key: str,
    *,
    why_not: str | None,
    record: ScoreRecord | None = None,
    sha256: str | None = None,
    label: LabelledSegment | None = None,
) -> Entry:
    """The line of one score object; `label` is what is learned from it, if anything is.

    `why_not` is the reason, as a code, why the next training does not learn from it.
    """
    stored = record.model_dump(mode="json") if record else {}
    return {
        "score_key": key,
        "score_sha256": sha256,
        "used": why_not is None,
        "why_not": why_not,
        **{name: stored.get(name) for name in _OF_THE_RECORD},
        "preferred": label.preferred if label else {},
        "voted": label.voted if label else {},
    }


def json_lines(entries: Iterable[Entry]) -> Iterator[bytes]:
    """One JSON object per line."""
    for entry in entries:
        yield json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def parquet(entries: Iterable[Entry], columns: Sequence[str] = ()) -> bytes:
    """An Apache Parquet file: a column per field, `value_{criterion}` for each value.

    Nested fields are JSON text because their shapes vary.

    Raises:
        ParquetMissingError: pyarrow is not installed.
    """
    try:
        import pyarrow  # type: ignore[import-untyped]  # no type stubs
        import pyarrow.parquet  # type: ignore[import-untyped]  # no type stubs
    except ImportError as error:
        raise ParquetMissingError("install pyarrow, or use labels/export") from error
    rows = [_flat(entry) for entry in entries]
    names = sorted({name for row in rows for name in row if name.startswith("value_")})
    columns = columns or [*entry_of("", why_not=None), *names]
    table = pyarrow.table({name: [row.get(name) for row in rows] for name in columns})
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(table, buffer, row_group_size=_ROWS_PER_GROUP)
    return buffer.getvalue()


def dataset(labels: Iterable[Entry], preferences: Sequence[Entry], columns: Sequence[str]) -> bytes:
    """A folder as a ZIP file that `datasets.load_dataset` of Hugging Face reads, with its card.

    Args:
        labels: As for `parquet`.
        preferences: The pairs of the last training.
        columns: Of the preferences.

    Raises:
        ParquetMissingError: pyarrow is not installed.
    """
    buffer = io.BytesIO()
    held_out = [row for row in preferences if row["side"] == "heldout"]
    train = [row for row in preferences if row["side"] != "heldout"]
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as folder:
        folder.writestr("README.md", _CARD.read_text().format(train=len(train), test=len(held_out)))
        folder.writestr("labels.parquet", parquet(labels))
        folder.writestr("preferences_train.parquet", parquet(train, columns))
        folder.writestr("preferences_test.parquet", parquet(held_out, columns))
    return buffer.getvalue()


def _flat(entry: Entry) -> Entry:
    flat = {
        name: json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else value
        for name, value in entry.items()
    }
    criteria = entry.get("criteria") or {}
    values = {f"value_{name}": each["value"] for name, each in criteria.items()}
    return flat | values
