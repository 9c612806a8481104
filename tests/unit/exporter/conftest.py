"""Captures of the embedded game in a store, and an exporter without a bus."""

import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from rlaif.contracts.captures import Capture
from rlaif.contracts.catalog import envelop
from rlaif.contracts.events import SegmentCaptured
from rlaif.exporter.app import emulator_pool
from rlaif.exporter.consumers import ExportRules, SegmentExporter
from rlaif.exporter.metrics import ExporterMetrics
from rlaif.game.cartridges import load_cartridge
from rlaif.game.emulator import PyBoyEmulator
from rlaif.game.selfcheck import Play, boot, random_segments
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage import keys

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def store_capture(store, capture: Capture, keyframe: bytes) -> SegmentCaptured:
    """What the trainer does with a capture; gives its event."""
    data = capture.model_dump_json().encode()
    event = SegmentCaptured(
        segment_id=capture.segment_id,
        episode_id=capture.episode_id,
        run_id=capture.run_id,
        capture_key=keys.capture(capture.episode_id, capture.segment_id),
        capture_sha256=hashlib.sha256(data).hexdigest(),
        keyframe_key=keys.keyframe(capture.keyframe_sha256),
        keyframe_sha256=capture.keyframe_sha256,
        decision_steps=len(capture.actions),
        env_step=capture.env_step,
    )
    store.put(event.keyframe_key, keyframe)
    store.put(event.capture_key, data)
    return event


@dataclass
class RecordingPublisher:
    """Keeps what is published; fails as often as it is told to."""

    failures: list[Exception] = field(default_factory=list)
    published: list = field(default_factory=list)

    async def publish(self, data, *, cause=None):
        if self.failures:
            raise self.failures.pop(0)
        self.published.append((data, cause))
        return True


@pytest.fixture(scope="session")
def cartridge():
    return load_cartridge()


@pytest.fixture(scope="session")
def recorded(cartridge):
    """Two short segments of one episode."""
    emulator = PyBoyEmulator(cartridge.data)
    boot(emulator)
    play = Play(segments=2, steps=20, seed=4)
    segments = list(random_segments(emulator, cartridge, play, episode_id="ep-1"))
    emulator.close()
    return segments


@pytest.fixture
def stored(file_store, recorded):
    """Puts a segment into the store, with changes to its capture; gives the event."""

    def put(index=0, **changes):
        capture = recorded[index].capture.model_copy(update=changes)
        return store_capture(file_store, capture, recorded[index].keyframe.data)

    return put


@pytest.fixture
def publisher():
    return RecordingPublisher()


@pytest.fixture
def metrics():
    return ServiceMetrics("exporter")


@pytest.fixture
def exporter(file_store, publisher, metrics, cartridge):
    rules = ExportRules(
        cartridge=cartridge,
        png_interval_frames=30,
        max_replay_frames=10_000,
        exporter_version="1.2.3",
    )
    emulators = emulator_pool(cartridge)
    yield SegmentExporter(
        file_store, emulators, publisher, rules, ExporterMetrics(metrics), now=lambda: NOW
    )
    emulators.close()


@pytest.fixture
def handle(exporter):
    """Hands one event to the exporter, as the worker does."""

    async def hand(event: SegmentCaptured):
        await exporter.handle_segment_captured(envelop(event, source="rlaif/test", time=NOW))

    return hand
