"""Export of the label log: one line per score object, with everything that led to its values."""

import io
import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from rlaif.contracts.judging.quest import QuestProgress, Source
from rlaif.contracts.judging.scores import CriterionScore, JudgeCallRecord, ScoreRecord
from rlaif.reward_model.labels.labels import LabelledSegment

_ROWS_PER_GROUP = 1000


class ParquetMissingError(RuntimeError):
    """pyarrow is not installed; only JSON lines can be written."""


class LabelEntry(BaseModel):
    """One line of the export; null if unknown."""

    score_key: str
    score_sha256: str | None = Field(default=None, description="Digest of the score object.")
    used: bool = Field(description="Whether the next training learns from it.")
    why_not: str | None = Field(default=None, description="Why it is not used, as a code.")
    provenance: Literal["judges", "human"] | None = None
    author: str | None = None
    note: str | None = None
    segment_id: str | None = None
    episode_id: str | None = None
    run_id: str | None = None
    env_step: int | None = None
    judge_config: str | None = None
    created_at: datetime | None = None
    manifest_key: str | None = None
    manifest_sha256: str | None = Field(default=None, description="Digest of the segment.")
    evidence_sha256: str | None = Field(default=None, description="Digest of the judges' evidence.")
    preferred: dict[str, float] = Field(
        default_factory=dict,
        description="Other segment → 1, 0.5 or 0 by judges who saw both; 1: this one is better.",
    )
    voted: dict[str, float] = Field(
        default_factory=dict,
        description="Other segment → people who preferred this one minus those who preferred it.",
    )
    weighted: float | None = None
    weights: dict[str, float] = Field(default_factory=dict, description="The rubric.")
    criteria: dict[str, CriterionScore] = Field(default_factory=dict)
    abstentions: dict[str, str] = Field(default_factory=dict)
    quest: QuestProgress | None = None
    decided_by: dict[Source, float] = Field(
        default_factory=dict,
        description="Kind of source → share of the judged criteria's weight that it decided.",
    )
    truth: dict[str, int] = Field(
        default_factory=dict, description="Criterion → level that the game's RAM gives."
    )
    distrusted: tuple[str, ...] = Field(
        default=(), description="Excluded judges, whose votes did not count."
    )
    calls: tuple[JudgeCallRecord, ...] = Field(
        default=(), description="Every call: judge, model, engine, prompt, order, vote, raw answer."
    )


def entry_of(
    record: ScoreRecord,
    *,
    key: str,
    sha256: str,
    why_not: str | None,
    label: LabelledSegment | None = None,
) -> LabelEntry:
    """The line of one score object; `label` is what is learned from it, if anything is."""
    own = {"score_key": key, "score_sha256": sha256, "used": why_not is None, "why_not": why_not}
    own["preferred"] = label.preferred if label else {}
    own["voted"] = label.voted if label else {}
    shared = {name: getattr(record, name) for name in LabelEntry.model_fields.keys() - own.keys()}
    return LabelEntry.model_validate(own | shared)


def json_lines(entries: Iterable[LabelEntry]) -> Iterator[bytes]:
    """One JSON object per line."""
    for entry in entries:
        yield entry.model_dump_json().encode() + b"\n"


def parquet(entries: Iterable[LabelEntry]) -> bytes:
    """An Apache Parquet file: a column per field, `value_{criterion}` for each value.

    Nested fields are JSON text because their shapes vary.

    Raises:
        ParquetMissingError: pyarrow is not installed.
    """
    try:
        import pyarrow  # type: ignore[import-untyped]  # it ships no types
        import pyarrow.parquet  # type: ignore[import-untyped]  # likewise
    except ImportError as error:
        raise ParquetMissingError("install pyarrow, or ask for format=jsonl") from error
    rows = [_flat(entry) for entry in entries]
    names = sorted({name for row in rows for name in row if name.startswith("value_")})
    columns = [*_flat(LabelEntry(score_key="", used=False)), *names]
    table = pyarrow.table({name: [row.get(name) for row in rows] for name in columns})
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(table, buffer, row_group_size=_ROWS_PER_GROUP)
    return buffer.getvalue()


def _flat(entry: LabelEntry) -> dict[str, Any]:
    nested = entry.model_dump(mode="json")
    flat = {
        name: json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else value
        for name, value in nested.items()
    }
    return flat | {f"value_{name}": score.value for name, score in entry.criteria.items()}
