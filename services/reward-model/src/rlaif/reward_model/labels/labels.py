"""A label: the observations of one segment and the judges' score of it.

Features come from observations.npy alone and values from the score object alone; no function here
takes both and returns features, so a score cannot leak into an input.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.game.segments import SegmentManifest
from rlaif.contracts.judging.comparisons import ComparisonRecord
from rlaif.contracts.judging.scores import ScoreRecord, rubric_mean
from rlaif.reward_model.labels.worth import WORTH_WEIGHTS, worth_of

_OLD = datetime(1970, 1, 1, tzinfo=UTC)

KEPT_ROWS = 15
"""Rows of observations kept per segment: a fifth of 75. Every second one is one of the eight evenly
spaced rows that the fit, the gate and the search for near-duplicates read."""

_NPY = re.compile(
    rb"\x93NUMPY\x01\x00(..)(\{'descr': '([^']*)', 'fortran_order': False, "
    rb"'shape': \((\d{1,9}), (\d{1,9})\), \} *\n)",
    re.DOTALL,
)
"""Header of a two-dimensional array as `numpy.save` writes it.

`numpy.load` parses a header as Python code and trusts its sizes: a crafted one takes all memory, or
raises nearly any exception.
"""


class LabelError(ValueError):
    """The score cannot be used as a label; `reason` is a stable code."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


@dataclass(frozen=True)
class LabelledSegment:
    """One scored segment.

    Attributes:
        env_step: Environment steps of the run when it was captured: orders labels in time.
        start_step: Emulator step of the episode at which it starts; 0 is a fresh episode.
        observations: `[R, OBSERVATION_SIZE]` in [0, 1], read-only: rows of observations.npy, evenly
            spaced from the first to the last; at most `KEPT_ROWS`.
        values: Criterion → label value in [0, 1]; see `worth.py`.
        weights: Criterion → its weight in the label value.
        doubts: Criterion → variance of the mean vote.
        revision: 0 for the judges' label, n for a person's n-th score.
        copies: Near-duplicates that this label represents, including itself.
        seen_in: Number of episodes of these.
        rubrics: Digests of the judges' prompts.
        preferred: Other segment → P(this one is better) by judges who were shown both: 1, 0.5 or 0.
        voted: Other segment → people who preferred this one minus those who preferred the other.
        steps: Emulator steps of the segment; 0 if `observations` has all of them.
        ram: Criterion → level that the game's RAM gives; never trained on.
        positions: Start and end on the quest by the judges; None if they gave none.
        provisional: Whether a later score may replace this one: answers were unreadable.
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
    provisional: bool = False

    @property
    def provenance(self) -> str:
        return "human" if self.revision else "judges"

    @property
    def decision_steps(self) -> int:
        return self.steps or len(self.observations)

    @property
    def weighted(self) -> float | None:
        """The label value, in [0, 1]; None if too little was judged."""
        return rubric_mean(self.values, self.weights)


def label(
    record: ScoreRecord,
    manifest: SegmentManifest,
    observations: NDArray[np.float32],
    *,
    score_sha256: str,
    revision: int = 0,
) -> LabelledSegment:
    """Join a score with its segment's manifest and observations `[T, inputs]`.

    Raises:
        LabelError: The two are of different segments, or too little of the rubric was judged.
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
            "abstained", f"too few criteria were judged: {sorted(worth.values) or 'none'}"
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
        provisional=bool(record.distrusted),
    )


def kept_rows(observations: NDArray[np.float32]) -> NDArray[np.float32]:
    """`[R, inputs]`, read-only copy: evenly spaced rows of `[T, inputs]`."""
    places = np.linspace(0, len(observations) - 1, min(KEPT_ROWS, len(observations)))
    rows: NDArray[np.float32] = observations[places.round().astype(np.int64)]
    rows.setflags(write=False)
    return rows


def decode_observations(
    data: bytes, manifest: SegmentManifest, *, inputs: int
) -> NDArray[np.float32]:
    """The bytes of observations.npy as read-only `[T, inputs]`, T the manifest's emulator steps.

    Raises:
        LabelError: The bytes are not those of the manifest, or not such an array.
    """
    found = hashlib.sha256(data).hexdigest()
    if found != manifest.observations.sha256:
        raise LabelError(
            "hash_mismatch",
            f"{manifest.observations.key} has SHA-256 {found}, but its manifest has "
            f"{manifest.observations.sha256}; export the segment again",
        )
    header = _NPY.match(data)
    if header is None or int.from_bytes(header[1], "little") != len(header[2]):
        raise LabelError("not_npy", f"{manifest.observations.key} is not a 2-D .npy file")
    dtype, shape = header[3].decode(errors="replace"), (int(header[4]), int(header[5]))
    expected = (manifest.decision_steps, inputs)
    if dtype != "<f4" or shape != expected:
        raise LabelError(
            "wrong_shape",
            f"{manifest.observations.key} holds {dtype} {shape}, expected <f4 {expected}",
        )
    if len(data) - header.end() != 4 * expected[0] * expected[1]:
        raise LabelError("not_npy", f"{manifest.observations.key} has too few or too many bytes")
    array = np.frombuffer(data, "<f4", offset=header.end()).astype(np.float32).reshape(expected)
    if not (np.isfinite(array).all() and array.min() >= 0 and array.max() <= 1):
        raise LabelError("out_of_range", f"{manifest.observations.key} has values outside [0, 1]")
    array.setflags(write=False)
    return array


def label_digest(labels: Iterable[LabelledSegment]) -> str:
    """SHA-256 of the sorted (segment id, score digest): equal sets of labels, equal digests."""
    lines = sorted(f"{item.segment_id} {item.score_sha256}" for item in labels)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def vote_ids(labels: Iterable[LabelledSegment]) -> frozenset[str]:
    """One string per pair of labels with votes: equal votes, equal strings."""
    return frozenset(
        f"{item.segment_id} {other} {lean:g}"
        for item in labels
        for other, lean in item.voted.items()
        if item.segment_id < other
    )


def vote_digest(labels: Iterable[LabelledSegment]) -> str | None:
    """SHA-256 of the votes on pairs of labels; None without votes."""
    lines = sorted(vote_ids(labels))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest() if lines else None


def with_comparisons(
    labels: Sequence[LabelledSegment], comparisons: Iterable[ComparisonRecord]
) -> list[LabelledSegment]:
    """The labels with the judges' side-by-side comparisons of them.

    A comparison belongs to the two scores that it is based on: a person's later score of a segment
    invalidates it.
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
    """The labels, oldest first.

    Runs are ordered by the time of their first score, labels of a run by environment steps: judges
    may score out of order.
    """
    known = list(labels)
    first: dict[str, datetime] = {}
    for item in known:
        first[item.run_id] = min(item.scored_at, first.get(item.run_id, item.scored_at))
    return sorted(
        known, key=lambda item: (first[item.run_id], item.run_id, item.env_step, item.segment_id)
    )


def of_newest_layout(labels: Sequence[LabelledSegment]) -> list[LabelledSegment]:
    """The labels with the observation layout of the newest one, oldest first."""
    ordered = in_order(labels)
    return [item for item in ordered if item.layout_version == ordered[-1].layout_version]
