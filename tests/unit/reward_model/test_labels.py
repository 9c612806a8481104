"""A label joins observations and a score, and mixes them nowhere."""

import hashlib
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlaif.contracts.game.segments import SegmentManifest
from rlaif.contracts.judging.scores import RUBRIC_WEIGHTS, ScoreRecord
from rlaif.reward_model.labels import labels as module
from rlaif.reward_model.labels.labels import (
    KEPT_ROWS,
    LabelError,
    decode_observations,
    kept_rows,
    of_newest_layout,
)
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.judging.scored_segments import npy_bytes, play, write_scored

SEGMENT = play(episodes=1, each=1, signal=True)[0]


@pytest.fixture
def written(file_store: ObjectStore) -> tuple[ScoreRecord, SegmentManifest]:
    event = write_scored(file_store, SEGMENT)
    record = ScoreRecord.model_validate_json(file_store.get(event.score_key))
    manifest = SegmentManifest.model_validate_json(file_store.get(record.manifest_key))
    return record, manifest


def with_observations(manifest: SegmentManifest, data: bytes) -> SegmentManifest:
    """The manifest as if the exporter had written `data`."""
    file = manifest.observations.model_copy(update={"sha256": hashlib.sha256(data).hexdigest()})
    return manifest.model_copy(update={"observations": file})


def refused(data: bytes, manifest: SegmentManifest) -> str:
    with pytest.raises(LabelError) as caught:
        decode_observations(data, manifest, inputs=128)
    return caught.value.reason


def test_observations_come_out_as_the_exporter_wrote_them(written):
    array = decode_observations(npy_bytes(SEGMENT.observations), written[1], inputs=128)
    assert array.tobytes() == SEGMENT.observations.tobytes()
    with pytest.raises(ValueError, match="read-only"):
        array[0, 0] = 1.0


def test_observations_of_another_digest_are_refused(written):
    assert refused(npy_bytes(SEGMENT.observations + 0.0001), written[1]) == "hash_mismatch"


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (SEGMENT.observations[:-1], "wrong_shape"),
        (SEGMENT.observations[:, :64], "wrong_shape"),
        (SEGMENT.observations.astype(np.float64), "wrong_shape"),
        (SEGMENT.observations + 1, "out_of_range"),
        (np.full_like(SEGMENT.observations, np.nan), "out_of_range"),
    ],
)
def test_arrays_that_are_no_observations_are_refused(written, array, reason):
    data = npy_bytes(array)
    assert refused(data, with_observations(written[1], data)) == reason


GOOD = npy_bytes(SEGMENT.observations)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK\x03\x04" + GOOD[4:],
        GOOD[:60],
        GOOD[:-1],
        GOOD + b"\0",
        GOOD.replace(b"'<f4'", b"'|O' "),
        GOOD.replace(b"False", b"True "),
        GOOD.replace(b"(20, 128)", b"(-2, 128)"),
        GOOD[:8] + b"\xff\xff" + GOOD[10:],
    ],
)
def test_files_that_are_not_two_dimensional_arrays_are_refused(written, data):
    assert refused(data, with_observations(written[1], data)) == "not_npy"


@given(st.binary(max_size=200), st.integers(0, 200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_raise_another_error(written, noise, at):
    data = GOOD[:at] + noise + GOOD[at + len(noise) :]
    with suppress(LabelError):
        decode_observations(data, with_observations(written[1], data), inputs=128)


def test_only_judged_criteria_have_values(written):
    record, manifest = written
    criteria = {name: record.criteria[name] for name in ("progress", "dialog")}
    made = module.label(
        record.model_copy(update={"criteria": criteria}),
        manifest,
        SEGMENT.observations,
        score_sha256="0" * 64,
    )
    assert set(made.values) == {"progress", "dialog"}
    expected = (0.84 * made.values["progress"] + 0.08 * made.values["dialog"]) / 0.92
    assert made.weighted == pytest.approx(expected)


@pytest.mark.parametrize("reason", ["abstained", "other_segment"])
def test_a_score_without_progress_or_of_another_segment_is_no_label(written, reason):
    record, manifest = written
    few = {"criteria": {"dialog": record.criteria["dialog"]}}
    wrong = record.model_copy(
        update={"abstained": few, "other_segment": {"segment_id": "another"}}[reason]
    )
    with pytest.raises(LabelError) as caught:
        module.label(wrong, manifest, SEGMENT.observations, score_sha256="0" * 64)
    assert caught.value.reason == reason


def test_labels_of_an_older_layout_are_left_out(labels):
    made = labels(episodes=2, each=3, signal=True)
    newest = max(made, key=lambda item: item.env_step)
    mixed = [replace(i, layout_version="layout-2") if i is newest else i for i in made]
    assert [item.layout_version for item in of_newest_layout(mixed)] == ["layout-2"]


def test_the_rubric_of_the_game_is_the_seeds():
    assert set(SEGMENT.values) == set(RUBRIC_WEIGHTS)
    assert keys.score_ids(keys.score("config-1", SEGMENT.segment_id)) == (
        "config-1",
        SEGMENT.segment_id,
    )


@pytest.mark.parametrize("steps", [1, 8, 14, 15, 16, 20, 74, 75, 76, 300])
def test_a_label_keeps_few_rows_and_those_that_are_read_are_among_them(steps):
    whole = np.arange(steps, dtype=np.float32)[:, None]
    kept = kept_rows(whole)
    assert len(kept) == min(steps, KEPT_ROWS)
    for count in (1, 2, 8):
        read = np.linspace(0, steps - 1, count).round().astype(int)
        again = np.linspace(0, len(kept) - 1, count).round().astype(int)
        assert (whole[read] == kept[again]).all()
