"""Scored segments of a synthetic game with known true values, in memory or in a store.

Requires numpy, which the extra `reward-net` installs.
"""

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.events import SegmentScored
from rlaif.contracts.game.segments import StoredFile
from rlaif.contracts.judging.scores import (
    RUBRIC_WEIGHTS,
    CriterionScore,
    JudgeCallRecord,
    ScoreRecord,
    rubric_mean,
)
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.judging.segments import CREATED_AT, segment_manifest

STEPS = 20
PROGRESS_DIM, DIALOG_DIM = 3, 7
"""Dimensions of the observation that determine the scores. Each is followed by its rise within the
segment, which is 0 at the start."""

_RISES = (0.0, 0.0, 0.15, 0.4)


@dataclass(frozen=True)
class ScoredSegment:
    """One segment and its scores.

    Attributes:
        segment_id: Its id.
        episode_id: Its episode.
        env_step: Environment steps of the run when it was captured.
        start_step: Emulator step of the episode at which it starts.
        observations: `[STEPS, 128]` float32 in [0, 1].
        values: Criterion → 0, 0.5 or 1.
    """

    segment_id: str
    episode_id: str
    env_step: int
    start_step: int
    observations: NDArray[np.float32]
    values: dict[str, float]


@dataclass(frozen=True)
class ForReview:
    """The data of a scored segment that reviewers see.

    Attributes:
        judges: Criterion → its judge; "test" for others.
        words: Judge → its text, each in one call.
        film: Its film.
    """

    judges: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    film: bytes | None = None


def play(
    *,
    episodes: int,
    each: int,
    signal: bool,
    seed: int = 0,
    wrong: float = 0.1,
    distractors: int = 24,
    run: str = "run",
) -> list[ScoredSegment]:
    """Generate segments of a game in which two dimensions rise occasionally and others drift.

    Args:
        episodes: Number of episodes.
        each: Segments per episode.
        signal: True: progress and puzzle are judged by the rise of `PROGRESS_DIM`, dialog by that
            of `DIALOG_DIM`; novelty and efficiency are random. False: every value is random.
        seed: Equal seeds, equal games.
        wrong: Probability that a judged value is replaced by a random one.
        distractors: Irrelevant dimensions, which drift by about 0.2 per segment.
        run: Prefix of all ids.
    """
    rng = np.random.default_rng([seed, episodes, each])
    found: list[ScoredSegment] = []
    for episode in range(episodes):
        state = _start(rng, distractors)
        for index in range(each):
            observations = _walk(state, rng, distractors)
            found.append(
                ScoredSegment(
                    segment_id=f"{run}-{episode:03d}-{index:03d}",
                    episode_id=f"{run}-{seed}-{episode:03d}",
                    env_step=(index * episodes + episode) * STEPS,
                    start_step=index * STEPS,
                    observations=observations,
                    values=_judge(observations, rng, signal=signal, wrong=wrong),
                )
            )
            # A full dimension restarts at 0, as after a death.
            last = observations[-1]
            state = np.where(last > 0.9, 0.0, last).astype(np.float32)
            state[[PROGRESS_DIM + 1, DIALOG_DIM + 1]] = 0.0
    return found


def write_scored(
    store: ObjectStore,
    segment: ScoredSegment,
    *,
    judge_config: str = "config-1",
    layout_version: str = "layout-1",
    values: dict[str, float] | None = None,
    observations: bytes | None = None,
    run_id: str = "run-1",
    created_at: datetime = CREATED_AT,
    more: ForReview | None = None,
) -> SegmentScored:
    """Write observations, manifest and score like the exporter and the judge.

    Args:
        store: The episodes' bucket.
        segment: The segment.
        judge_config: Judge configuration of the score.
        layout_version: The layout of the observations.
        values: Replace the segment's own.
        observations: Bytes of observations.npy, in place of the segment's own; the manifest still
            contains the digest of the original ones.
        run_id: The run that the score names.
        created_at: When the score was made.
        more: Judges, their texts and film, for reviewers.

    Returns:
        The event that announces the score.
    """
    more = more or ForReview()
    manifest_key, manifest_sha256 = _write_manifest(
        store, segment, layout_version, observations, more.film
    )
    judged = segment.values if values is None else values
    record = ScoreRecord(
        segment_id=segment.segment_id,
        episode_id=segment.episode_id,
        run_id=run_id,
        judge_config=judge_config,
        manifest_key=manifest_key,
        manifest_sha256=manifest_sha256,
        criteria={
            name: CriterionScore(
                value=value,
                votes=(round(2 * value),),
                agreement=1.0,
                judge=more.judges.get(name, "test"),
            )
            for name, value in judged.items()
        },
        abstentions={name: "test" for name in RUBRIC_WEIGHTS if name not in judged},
        weights=RUBRIC_WEIGHTS,
        weighted=rubric_mean(judged, RUBRIC_WEIGHTS),
        calls=tuple(_call(judge, text) for judge, text in more.words.items()),
        env_step=segment.env_step,
        created_at=created_at,
    )
    key, data = keys.score(judge_config, segment.segment_id), record.model_dump_json().encode()
    store.put(key, data)
    return SegmentScored(
        segment_id=segment.segment_id,
        episode_id=segment.episode_id,
        run_id="run-1",
        judge_config=judge_config,
        score_key=key,
        score_sha256=hashlib.sha256(data).hexdigest(),
        weighted=record.weighted,
        abstained=tuple(record.abstentions),
    )


def _call(judge: str, text: str) -> JudgeCallRecord:
    return JudgeCallRecord(
        judge=judge,
        route="test",
        model="test-model",
        vote=0,
        seed=0,
        prompt_sha256="0" * 64,
        outcome="ok",
        latency_seconds=1.0,
        rationale=text,
    )


def _stored(store: ObjectStore, segment: ScoredSegment, name: str, data: bytes) -> StoredFile:
    key = keys.segment(segment.episode_id, segment.segment_id, name)
    store.put(key, data)
    return StoredFile(key=key, sha256=hashlib.sha256(data).hexdigest(), size_bytes=len(data))


def npy_bytes(array: NDArray[np.float32]) -> bytes:
    """The array as the bytes of an .npy file."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _start(rng: np.random.Generator, distractors: int) -> NDArray[np.float32]:
    state = np.zeros(128, np.float32)
    state[10 : 10 + distractors] = rng.random(distractors)
    return state


def _walk(
    state: NDArray[np.float32], rng: np.random.Generator, distractors: int
) -> NDArray[np.float32]:
    rows = np.tile(state.astype(np.float64), (STEPS, 1))
    rows[:, 10 : 10 + distractors] += np.cumsum(rng.normal(0, 0.05, (STEPS, distractors)), axis=0)
    for dim in (PROGRESS_DIM, DIALOG_DIM):
        rose_at, rise = int(rng.integers(1, STEPS // 2)), float(rng.choice(_RISES))
        rows[rose_at:, dim] += rise
        rows[rose_at:, dim + 1] += 2 * rise
    return np.clip(rows, 0, 1).astype(np.float32)


def _judge(
    observations: NDArray[np.float32], rng: np.random.Generator, *, signal: bool, wrong: float
) -> dict[str, float]:
    values = {name: float(rng.choice([0, 0.5, 1])) for name in RUBRIC_WEIGHTS}
    if signal:
        seen = (("progress", PROGRESS_DIM), ("puzzle", PROGRESS_DIM), ("dialog", DIALOG_DIM))
        for name, dim in seen:
            if rng.random() >= wrong:
                rise = float(observations[-1, dim] - observations[0, dim])
                values[name] = 0.0 if rise < 0.05 else 0.5 if rise < 0.25 else 1.0
    return values


def _write_manifest(
    store: ObjectStore,
    segment: ScoredSegment,
    layout_version: str,
    observations: bytes | None,
    film: bytes | None,
) -> tuple[str, str]:
    right = npy_bytes(segment.observations)
    npy_key = keys.segment(segment.episode_id, segment.segment_id, "observations.npy")
    store.put(npy_key, right if observations is None else observations)
    digest = hashlib.sha256(right).hexdigest()
    manifest = segment_manifest(
        segment.episode_id,
        segment.segment_id,
        StoredFile(key=npy_key, sha256=digest, size_bytes=len(right)),
        steps=len(segment.observations),
        layout_version=layout_version,
        start_step=segment.start_step,
        env_step=segment.env_step,
        film=None if film is None else _stored(store, segment, "film.bin", film),
    )
    key = keys.manifest(segment.episode_id, segment.segment_id)
    data = manifest.model_dump_json().encode()
    store.put(key, data)
    return key, hashlib.sha256(data).hexdigest()
