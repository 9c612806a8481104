"""A label: what was seen in one segment, beside what the judges said of it.

The features come from observations.npy alone and the values from the score object alone; no
function here takes both and returns features, so a score cannot leak into an input.
"""

import hashlib
import io
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray
from pydantic import AwareDatetime, Field

from rlaif.contracts.comparisons import ComparisonRecord
from rlaif.contracts.ids import Id, Sha256
from rlaif.contracts.model import Contract
from rlaif.contracts.quest import QuestProgress, Source
from rlaif.contracts.scores import CriterionScore, ScoreRecord, rubric_mean, shares_by_source
from rlaif.contracts.segments import SegmentManifest
from rlaif.reward_model.labels.worth import WORTH_WEIGHTS, worth_of

_OLD = datetime(1970, 1, 1, tzinfo=UTC)

KEPT_ROWS = 15
"""Rows that are kept of a segment's observations: of 75, a fifth of the memory. Every second one
is one of the eight rows that the fit, the gate and the search for near-duplicates read, with the
first and the last among them, and the eighth is the middle."""

_ONE_HEADER_AT_A_TIME = threading.Lock()
"""NumPy evaluates a file's header with `ast`, whose depth count all threads share: where a garbage
collection lets another thread in, Python 3.11 raises SystemError (CPython's gh-106905). Labels are
read by several threads."""


class SlimScore(Contract):
    """The part of a `ScoreRecord` that a label is made of, under the same names.

    The records of the calls are nine tenths of a score's 20 kB.
    """

    class Call(Contract):
        """The part of a `JudgeCallRecord` that lineage names."""

        model: str
        system_sha256: Sha256 | None = None

    segment_id: Id
    episode_id: Id
    run_id: Id
    judge_config: Id
    manifest_key: str
    manifest_sha256: Sha256
    criteria: dict[str, CriterionScore]
    abstentions: dict[str, str] = Field(default_factory=dict)
    weights: dict[str, float]
    calls: tuple[Call, ...]
    env_step: int = Field(default=0, ge=0)
    created_at: AwareDatetime
    truth: dict[str, int] = Field(default_factory=dict)
    quest: QuestProgress | None = None
    distrusted: tuple[str, ...] = ()


class LabelError(ValueError):
    """The score cannot be used as a label; `reason` is a stable word for machines and metrics."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


@dataclass(frozen=True)
class LabelledSegment:
    """One scored segment.

    Attributes:
        episode_id: An episode is wholly on one side of the split.
        env_step: Environment steps of the run when it was captured: orders labels in time.
        start_step: Decision step of the episode at which it starts; 0 is a fresh episode.
        observations: `[R, OBSERVATION_SIZE]` float32 in [0, 1], read-only: rows of
            observations.npy, evenly spaced from the first to the last; at most `KEPT_ROWS`.
        values: Criterion → value in [0, 1] of what is learned, see `worth.py`.
        weights: Criterion → its weight in the worth.
        doubts: Criterion → variance of the mean vote; 0 where the votes agree or there is one.
        revision: 0 for the judges' label, n for the n-th that a person gave.
        copies: Near-duplicates that this label stands for, itself included.
        seen_in: Episodes that these are of.
        rubrics: Digests of the frozen prompts.
        preferred: Other segment → P(this one is better) by judges who were shown both, in both
            orders: 1, 0.5 or 0.
        voted: Other segment → by how many more people this one was preferred who were shown both;
            0 where they found them equal, or as many preferred each.
        steps: Decision steps of the segment, T; 0 where only `observations` is known, and then
            those are all of them.
        ram: Criterion → level that the game's RAM decides by itself. A referee; never taught.
        positions: Where the judges put its start and its end on the quest; None where they did not.
        decided_by: Kind of source → share of the judged criteria's weight that it decided.
    """

    segment_id: str
    episode_id: str
    env_step: int
    start_step: int
    layout_version: str
    observations: NDArray[np.float32]
    values: dict[str, float]
    weights: dict[str, float]
    score_sha256: str
    doubts: dict[str, float] = field(default_factory=dict)
    run_id: str = ""
    scored_at: datetime = _OLD
    revision: int = 0
    copies: int = 1
    seen_in: int = 1
    rubrics: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    preferred: dict[str, float] = field(default_factory=dict)
    voted: dict[str, float] = field(default_factory=dict)
    steps: int = 0
    ram: dict[str, int] = field(default_factory=dict)
    positions: tuple[float, float] | None = None
    decided_by: dict[Source, float] = field(default_factory=dict)

    @property
    def decision_steps(self) -> int:
        """Decision steps of the segment, T."""
        return self.steps or len(self.observations)

    @property
    def weighted(self) -> float | None:
        """What the segment is worth, in [0, 1]; None when too little was judged."""
        return rubric_mean(self.values, self.weights)


def label(
    record: ScoreRecord | SlimScore,
    manifest: SegmentManifest,
    observations: NDArray[np.float32],
    *,
    score_sha256: str,
    revision: int = 0,
) -> LabelledSegment:
    """Join a score with its segment's manifest and what `decode_observations` gave for it.

    Raises:
        LabelError: The two speak of different segments, or too little of the rubric was judged.
    """
    if (record.segment_id, record.episode_id) != (manifest.segment_id, manifest.episode_id):
        raise LabelError(
            "other_segment",
            f"the score of segment {record.segment_id} names the manifest of "
            f"{manifest.segment_id}; score the segment again",
        )
    worth = worth_of(record)
    if rubric_mean(worth.values, WORTH_WEIGHTS) is None:
        raise LabelError(
            "abstained", f"the judges said too little: {sorted(worth.values) or 'nothing'}"
        )
    return LabelledSegment(
        segment_id=record.segment_id,
        episode_id=record.episode_id,
        env_step=record.env_step or manifest.env_step,
        start_step=manifest.start_step,
        layout_version=manifest.layout_version,
        observations=kept_rows(observations),
        values=worth.values,
        weights=dict(WORTH_WEIGHTS),
        score_sha256=score_sha256,
        doubts=worth.doubts,
        run_id=record.run_id,
        scored_at=record.created_at,
        revision=revision,
        rubrics=tuple(sorted({call.system_sha256 for call in record.calls if call.system_sha256})),
        models=tuple(sorted({call.model for call in record.calls})),
        steps=manifest.decision_steps,
        ram=dict(record.truth),
        positions=worth.positions,
        decided_by=shares_by_source(record.criteria, record.weights),
    )


def kept_rows(observations: NDArray[np.float32]) -> NDArray[np.float32]:
    """`[R, inputs]`, read-only: the rows of `[T, inputs]` that a label keeps, a copy.

    n evenly spaced rows of what is kept are those of the whole, where n - 1 divides 14.
    """
    places = np.linspace(0, len(observations) - 1, min(KEPT_ROWS, len(observations)))
    rows: NDArray[np.float32] = observations[places.round().astype(np.int64)]
    rows.setflags(write=False)
    return rows


def decode_observations(
    data: bytes, manifest: SegmentManifest, *, inputs: int
) -> NDArray[np.float32]:
    """The bytes of observations.npy as `[T, inputs]` float32 in [0, 1], read-only.

    T is the manifest's decision steps.

    Raises:
        LabelError: The bytes are not those of the manifest, or not such an array.
    """
    found = hashlib.sha256(data).hexdigest()
    if found != manifest.observations.sha256:
        raise LabelError(
            "hash_mismatch",
            f"{manifest.observations.key} has SHA-256 {found}, its manifest says "
            f"{manifest.observations.sha256}; export the segment again",
        )
    try:
        with _ONE_HEADER_AT_A_TIME:
            array = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise LabelError("not_npy", f"{manifest.observations.key}: {error}") from error
    expected = (manifest.decision_steps, inputs)
    if not isinstance(array, np.ndarray) or array.shape != expected or array.dtype != np.float32:
        raise LabelError(
            "wrong_shape",
            f"{manifest.observations.key} holds {array.dtype} {array.shape}, expected float32 "
            f"{expected}",
        )
    if not (np.isfinite(array).all() and array.min() >= 0 and array.max() <= 1):
        raise LabelError("out_of_range", f"{manifest.observations.key} has values outside [0, 1]")
    array.setflags(write=False)
    return array


def label_digest(labels: Iterable[LabelledSegment]) -> str:
    """SHA-256 of the sorted (segment id, score digest): equal sets of labels, equal digests."""
    lines = sorted(f"{item.segment_id} {item.score_sha256}" for item in labels)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def with_comparisons(
    labels: Sequence[LabelledSegment], comparisons: Iterable[ComparisonRecord]
) -> list[LabelledSegment]:
    """The labels with what judges said who were shown two of them side by side.

    A comparison counts for the two scores that it was made of: what a person said of a segment
    since then takes it away.
    """
    known = {item.segment_id: item for item in labels}
    preferred: dict[str, dict[str, float]] = {}
    for record in comparisons:
        first, second = known.get(record.first), known.get(record.second)
        if first is None or second is None or record.soft is None:
            continue
        scores = (record.first_score_sha256, record.second_score_sha256)
        if scores != (first.score_sha256, second.score_sha256):
            continue
        preferred.setdefault(record.first, {})[record.second] = record.soft
        preferred.setdefault(record.second, {})[record.first] = 1.0 - record.soft
    return [
        replace(item, preferred=preferred[item.segment_id])
        if item.segment_id in preferred
        else item
        for item in labels
    ]


def in_order(labels: Iterable[LabelledSegment]) -> list[LabelledSegment]:
    """The labels, oldest first, over all runs.

    Environment steps start at 0 in every run, so they order the labels of one run only. Runs are
    ordered by when their first label was scored; within a run, judges may score out of order.
    """
    known = list(labels)
    began: dict[str, datetime] = {}
    for item in known:
        began[item.run_id] = min(item.scored_at, began.get(item.run_id, item.scored_at))
    return sorted(
        known, key=lambda item: (began[item.run_id], item.run_id, item.env_step, item.segment_id)
    )


def of_newest_layout(labels: Sequence[LabelledSegment]) -> list[LabelledSegment]:
    """The labels whose observation layout is that of the newest one, oldest first.

    A network reads one layout; after a change of the layout the old segments cannot be mixed in.
    """
    ordered = in_order(labels)
    return [item for item in ordered if item.layout_version == ordered[-1].layout_version]
