"""Segments as a whole ring leaves them: played, captured with their pay, exported, judged."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from rlaif.contracts.events import SegmentCaptured, SegmentExported, SegmentScored
from rlaif.contracts.game.captures import Capture
from rlaif.contracts.judging.scores import RUBRIC_WEIGHTS, CriterionScore, ScoreRecord, rubric_mean
from rlaif.exporter.committing import commit, exported_event
from rlaif.exporter.replaying import replay_segment
from rlaif.game.description.words import words_of
from rlaif.game.machine.cartridges import Cartridge, load_cartridge
from rlaif.game.machine.emulator import Emulator, new_emulator
from rlaif.reward_net.pay import Float32
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.captures import write_capture
from rlaif.testing.data.judging.scores import judge_call
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig, PayingModel
from rlaif.trainer.play.vector import EmulatorVector
from rlaif.trainer.run_folder.spool import SpooledCapture
from rlaif.trainer.service.uploader import captured_event
from rlaif.trainer.settings.game import GameSettings

_STEPS, _GAMES = 375, 6
_WORDS = (
    "The player crossed the meadow towards the tree and stayed clear of both slimes.",
    "Most of the segment is spent walking against a wall.",
    "A text was read to its end; nothing else changed.",
)


@dataclass(frozen=True)
class RingEvents:
    """The events of one segment in the order of the pipeline."""

    captured: SegmentCaptured
    exported: SegmentExported
    scored: SegmentScored


def segments_of_a_ring(store: ObjectStore, most: int) -> Iterator[RingEvents]:
    """Play the built-in game, and put at most so many segments of it into the store."""
    cartridge = load_cartridge()
    emulator = new_emulator(cartridge)
    for number, item in enumerate(_played()[:most]):
        yield _around(store, emulator, cartridge, item, number)
    emulator.close()


def _played() -> Sequence[SpooledCapture]:
    game = GameSettings(actions="seed", episode_length=_STEPS + 20)
    vector = EmulatorVector(EnvConfig(run_id="run-1", game=game), count=_GAMES, runner=1, seed=4)
    vector.pay_by(PayingModel(3, _opinion, 0.999, 4.0))
    context = CaptureContext(env_step=40_960, policy_iteration=5, reward_model_version=3)
    vector.begin_fragment(_STEPS, capture_quota=100, context=context)
    actions = np.random.default_rng(4).integers(0, 6, (_STEPS, _GAMES))
    for step in range(_STEPS):
        vector.step(step, actions[step - step % 9])
    shape = (_STEPS, _GAMES)
    fragment = vector.end_fragment(np.zeros((*shape, 8), np.float32), np.zeros(shape, np.float32))
    vector.close()
    return fragment.captures


def _opinion(observations: Float32) -> Float32:
    """What a made-up reward model thinks: it likes where the player stands."""
    likes: Float32 = np.tanh(observations[:, 1] + observations[:, 2] - 1.0).astype(np.float32)
    return likes


def _around(
    store: ObjectStore,
    emulator: Emulator,
    cartridge: Cartridge,
    item: SpooledCapture,
    number: int,
) -> RingEvents:
    capture = item.capture
    written = write_capture(store, capture, item.keyframe)
    data = store.get(written.capture_key)
    captured = captured_event(capture, written.capture_key, data, written.keyframe_key)
    files = replay_segment(
        emulator,
        capture,
        item.keyframe,
        rom_sha256=cartridge.sha256,
        words=words_of(cartridge.game, cartridge.data),
        png_interval_frames=30,
        film_pictures=600,
    )
    now = datetime.now(UTC)
    manifest, _ = commit(store, captured, capture, files, exporter_version="1", created_at=now)
    exported = exported_event(manifest, keys.manifest(capture.episode_id, capture.segment_id))
    return RingEvents(captured, exported, _judged(store, capture, exported, number))


def _judged(
    store: ObjectStore, capture: Capture, exported: SegmentExported, number: int
) -> SegmentScored:
    level = number % 3
    split = number % 4 == 1
    voted = CriterionScore(
        value=level / 2,
        votes=(level, level, (level + 1) % 3) if split else (level, level, level),
        agreement=2 / 3 if split else 1.0,
        judge="vision",
    )
    sure = CriterionScore(value=0.5, votes=(1,), agreement=1, judge="ram", source="computed")
    criteria = {"progress": voted, "novelty": sure, "efficiency": sure}
    weighted = rubric_mean({name: each.value for name, each in criteria.items()}, RUBRIC_WEIGHTS)
    calls = tuple(
        judge_call(
            judge=judge,
            route=f"/{judge}",
            model="qwen-vl-7b" if judge == "vision" else "mock-7b",
            vote=vote,
            rationale=_WORDS[(number + vote) % 3],
            answer=f'{{"rationale": "…", "progress": {criteria["progress"].votes[vote]}}}',
            prompt_tokens=1843,
            completion_tokens=64,
            latency_seconds=1.1 + vote / 10,
        )
        for judge in ("state", "vision")
        for vote in range(3)
    )
    record = ScoreRecord(
        segment_id=capture.segment_id,
        episode_id=capture.episode_id,
        run_id=capture.run_id,
        judge_config="config-1",
        manifest_key=exported.manifest_key,
        manifest_sha256=exported.manifest_sha256,
        criteria=criteria,
        abstentions={"dialog": "insufficient_evidence", "puzzle": "split_votes"},
        weights=RUBRIC_WEIGHTS,
        weighted=weighted,
        calls=calls,
        env_step=capture.env_step,
        created_at=datetime.now(UTC),
    )
    data = record.model_dump_json().encode()
    key = keys.score("config-1", capture.segment_id)
    store.put(key, data)
    return SegmentScored(
        segment_id=capture.segment_id,
        episode_id=capture.episode_id,
        run_id=capture.run_id,
        judge_config="config-1",
        score_key=key,
        score_sha256=hashlib.sha256(data).hexdigest(),
        weighted=record.weighted,
        abstained=tuple(sorted(record.abstentions)),
        agreement=record.votes_agreement,
    )
