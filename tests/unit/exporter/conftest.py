"""Captures of the embedded game in a store, and an exporter without a bus."""

from datetime import UTC, datetime

import pytest

from rlaif.contracts.catalog import envelop
from rlaif.contracts.events import SegmentCaptured
from rlaif.exporter.consumers import ExporterMetrics, SegmentExporter
from rlaif.exporter.messages import Message, decode
from rlaif.exporter.replay_process import Replayer
from rlaif.exporter.replayers import segment_files, start_request
from rlaif.exporter.settings import ReplaySettings
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.replay_check.segments import Play
from rlaif.service.metrics import ServiceMetrics
from rlaif.testing.data.captures import write_capture
from rlaif.testing.data.random_play import recorded_play
from rlaif.testing.publisher import RecordingPublisher

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture(scope="session")
def cartridge():
    return load_cartridge()


@pytest.fixture(scope="session")
def recorded():
    """Two short segments of one episode."""
    return recorded_play(Play(segments=2, steps=20, seed=4))


@pytest.fixture
def stored(file_store, recorded):
    """Puts a segment into the store, with changes to its capture; gives the event."""

    def put(index=0, **changes):
        capture = recorded[index].capture.model_copy(update=changes)
        return write_capture(file_store, capture, recorded[index].keyframe.data)

    return put


@pytest.fixture
def publisher():
    return RecordingPublisher()


@pytest.fixture
def metrics():
    return ServiceMetrics("exporter")


class ReplaysHere:
    """What a replay process does, without a process of its own."""

    def __init__(self, cartridge):
        self._replayer = Replayer(Message(*start_request(cartridge, ReplaySettings())))

    async def replay(self, capture, packed_keyframe):
        request = Message({}, (capture.model_dump_json().encode(), packed_keyframe))
        return segment_files(decode(self._replayer.answer(request)))


@pytest.fixture(scope="session")
def replays(cartridge):
    return ReplaysHere(cartridge)


@pytest.fixture
def exporter(file_store, publisher, metrics, replays):
    return SegmentExporter(
        file_store,
        replays,
        publisher,
        ExporterMetrics(metrics),
        version="1.2.3",
        now=lambda: NOW,
    )


@pytest.fixture
def handle(exporter):
    """Hands one event to the exporter, as the worker does."""

    async def hand(event: SegmentCaptured):
        await exporter.handle_segment_captured(envelop(event, source="rlaif/test", time=NOW))

    return hand
