import json

import pytest

from rlaif.contracts.catalog import envelop
from rlaif.contracts.telemetry.frames import FRAME_SUBJECT, ScreenFrame
from rlaif.contracts.telemetry.readings import RewardBreakdown, ServiceHealth, TrainingProgress
from rlaif.hud.broadcast import MAX_EVENTS_PER_TICK, Broadcast
from rlaif.hud.browsers.outbox import RESYNC, Outbox
from rlaif.hud.read_model.projections import HudState
from rlaif.testing.data.events import NOON, run_started, segment_captured, segment_scored
from rlaif.testing.data.readings import training_progress
from rlaif.testing.page.broadcasts import broadcast_of


def make() -> tuple[Broadcast, Outbox, list[tuple[str, str]]]:
    """A page's writer, a browser that has its snapshot, and what became of readings."""
    outcomes: list[tuple[str, str]] = []
    broadcast = broadcast_of(HudState(epoch="e"), outcomes=outcomes)
    outbox = broadcast.hub.join()
    outbox.take()
    return broadcast, outbox, outcomes


def progress(step: int) -> bytes:
    return training_progress(env_steps=step).model_dump_json().encode()


def paid(step: int) -> bytes:
    reading = RewardBreakdown(at=NOON, run_id="run-1", env_step=step, parts={}, total=0.0)
    return reading.model_dump_json().encode()


def health(status: str) -> bytes:
    reading = {"at": NOON, "service": "judge", "instance": "judge-1", "status": status}
    return ServiceHealth.model_validate(reading | {"checks": {}}).model_dump_json().encode()


def sections(outbox: Outbox) -> dict[str, object]:
    merged: dict[str, object] = {}
    while (item := outbox.take()) is not None:
        if isinstance(item, str) and json.loads(item)["type"] == "metrics":
            merged |= json.loads(item)["data"]
    return merged


def test_what_changed_goes_out_together_twice_a_second() -> None:
    broadcast, outbox, _ = make()
    times = []
    for tenth in range(20):
        broadcast.telemetry("telemetry.progress", progress(10 + tenth))
        broadcast.telemetry("telemetry.reward", paid(10 + tenth))
        broadcast.tick(tenth / 10)
        sent = sections(outbox)
        if sent:
            times.append(tenth)
            assert {"run", "reward"} <= set(sent), "one panel of now, another of before"
    assert times == [0, 5, 10, 15]


def test_a_request_by_rest_takes_no_updates_from_the_pages() -> None:
    broadcast, outbox, _ = make()
    broadcast.tick(0.0)
    sections(outbox)
    broadcast.telemetry("telemetry.health", health("not ready"))
    [judge] = [each for each in broadcast.state.snapshot(NOON).services if each.name == "judge"]
    assert judge.state == "not ready"
    broadcast.tick(1.0)
    assert "services" in sections(outbox)


def test_what_did_not_change_is_not_sent_again() -> None:
    broadcast, outbox, _ = make()
    for second in range(3):
        broadcast.telemetry("telemetry.progress", progress(10))
        broadcast.tick(second)
        sent = sections(outbox)
        assert ("run" in sent) == (second == 0), "a panel that is read was drawn again"


def test_a_page_that_comes_between_two_ticks_and_the_others_agree() -> None:
    broadcast, other, _ = make()
    broadcast.telemetry("telemetry.health", health("ready"))
    broadcast.tick(0.0)
    broadcast.telemetry("telemetry.health", health("not ready"))
    outbox = broadcast.hub.join()
    snapshot = json.loads(str(outbox.take()))["data"]
    broadcast.telemetry("telemetry.health", health("ready"))
    broadcast.tick(1.0)
    seen = snapshot | sections(outbox)
    assert "ready" in [each["state"] for each in seen["services"]]
    assert sections(other)["services"] == seen["services"]


def test_a_frame_goes_out_at_once() -> None:
    broadcast, outbox, outcomes = make()
    packed = ScreenFrame(5, 1_000_000, 7, b"picture").pack()
    broadcast.telemetry(f"{FRAME_SUBJECT}.env-0", packed)
    frame = outbox.take()
    assert isinstance(frame, bytes)
    assert ScreenFrame.unpack(frame) == ScreenFrame(1, 1_000_000, 7, b"picture")
    assert outcomes == [(FRAME_SUBJECT, "used")]


def test_malformed_telemetry_is_counted_and_skipped() -> None:
    broadcast, _, outcomes = make()
    broadcast.telemetry(f"{FRAME_SUBJECT}.env-0", b"short")
    broadcast.telemetry("telemetry.progress", b"{}")
    broadcast.telemetry("telemetry.unheard", b"{}")
    assert outcomes == [
        (FRAME_SUBJECT, "invalid"),
        ("telemetry.progress", "invalid"),
        ("telemetry.unheard", "skipped"),
    ]


def test_new_lines_of_the_log_are_sent_once_each() -> None:
    broadcast, outbox, _ = make()
    for number in range(3):
        data = segment_captured(f"segment-{number}")
        broadcast.event(envelop(data, source="t", time=NOON))
    broadcast.tick(0.0)
    ids = []
    while isinstance(item := outbox.take(), str):
        message = json.loads(item)
        if message["type"] == "event":
            ids.append(message["data"]["id"])
    assert ids == [1, 2, 3]


def test_a_replay_of_history_is_one_snapshot_instead_of_thousands_of_lines() -> None:
    broadcast, outbox, _ = make()
    for number in range(MAX_EVENTS_PER_TICK + 1):
        broadcast.event(envelop(segment_scored(f"segment-{number}"), source="t", time=NOON))
    broadcast.tick(0.0)
    assert outbox.take() is RESYNC


def test_an_event_that_cannot_be_folded_does_not_hold_up_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broadcast, _, _ = make()
    with monkeypatch.context() as patch:
        patch.setattr(broadcast.state.history, "apply", lambda event: 1 / 0)
        broadcast.event(envelop(run_started(), source="t", time=NOON))
    broadcast.event(envelop(segment_captured(), source="t", time=NOON))
    [entry] = broadcast.state.snapshot(NOON).events
    assert entry.kind == "segment.captured"


def test_a_section_that_cannot_be_made_keeps_its_content_and_leaves_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broadcast, outbox, _ = make()
    broadcast.tick(0)
    with monkeypatch.context() as patch:
        patch.setattr(broadcast.state.segments, "newest", lambda limit: 1 / 0)
        broadcast.telemetry(TrainingProgress.SUBJECT, progress(step=4096))
        broadcast.tick(1)
        assert broadcast.check() == "section segments: ZeroDivisionError: division by zero"
        assert broadcast.state.snapshot(NOON).segments == ()
    assert sections(outbox)["run"]
    broadcast.tick(2)
    assert broadcast.check() is None


@pytest.mark.parametrize(
    "field", ["reward_model_version", "reward_model_loaded_at_step", "env_steps"]
)
@pytest.mark.parametrize("value", [-1, 2**53 + 1])
def test_a_number_out_of_range_is_an_invalid_reading(field: str, value: int) -> None:
    broadcast, _, outcomes = make()
    reading = json.loads(progress(step=1)) | {field: value}
    broadcast.telemetry(TrainingProgress.SUBJECT, json.dumps(reading).encode())
    assert outcomes == [("telemetry.progress", "invalid")]
