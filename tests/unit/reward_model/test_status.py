"""The published status: the champion, its pin and the next training."""

import asyncio
import contextlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rlaif.contracts.reward_models import GamingAlarm, GamingReason
from rlaif.contracts.telemetry.readings import RewardModelStatus
from rlaif.reward_model.champions.reward_hacking_monitor import RewardHackingMonitor
from rlaif.reward_model.runtime import publish_status, status_of
from rlaif.reward_model.training_loop import TrainingLoop
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.judging.scored_segments import play, write_scored
from rlaif.testing.waiting import eventually

NOW = datetime(2026, 1, 2, tzinfo=UTC)
MONITOR = RewardHackingMonitor()
SIGNAL = play(episodes=8, each=8, signal=True, distractors=2, wrong=0.0, seed=1)


class Sent:
    """Keeps what was sent."""

    def __init__(self) -> None:
        self.readings: list[Any] = []

    async def send(self, reading: Any) -> None:
        self.readings.append(reading)

    async def send_bytes(self, subject: str, payload: bytes) -> None:
        raise AssertionError(subject)


@pytest.fixture
def training(file_store: ObjectStore, training_of) -> TrainingLoop:
    return training_of(file_store)


def learn(store: ObjectStore, segments: list[Any]) -> None:
    for segment in segments:
        write_scored(store, segment)


async def test_a_roll_back_and_its_pin_are_sent_until_the_pin_ends(
    training: TrainingLoop, file_store: ObjectStore
) -> None:
    learn(file_store, SIGNAL[:48])
    await training.step()
    learn(file_store, SIGNAL[48:])
    await training.step()
    status = status_of(training, MONITOR, NOW)
    assert (status.champion_version, status.activation, status.pinned) == (2, 2, False)

    alarm = GamingAlarm(
        version=2,
        run_id="run-1",
        env_step=60,
        rise=0.5,
        reasons=(GamingReason.JUDGES_SCORES_FALL,),
        description="judges' scores fall",
        raised_at=NOW,
    )
    MONITOR.alarm = alarm
    await training.champions.roll_back(alarm)
    status = status_of(training, MONITOR, NOW)
    assert (status.champion_version, status.activation, status.pinned) == (1, 3, True)
    assert status.pin_reason == alarm.description
    assert status.gaming_alarm == alarm
    assert status.pinned_until == NOW + timedelta(minutes=30)
    ended = status_of(training, MONITOR, NOW + timedelta(minutes=31))
    assert (ended.pinned, ended.pin_reason, ended.pinned_until) == (False, None, None)


async def test_a_change_is_sent_at_once(training: TrainingLoop, file_store: ObjectStore) -> None:
    learn(file_store, SIGNAL[:48])
    sent = Sent()
    sending = asyncio.create_task(publish_status(training, MONITOR, sent, lambda: NOW))

    def newest() -> RewardModelStatus:
        status: RewardModelStatus = sent.readings[-1]
        return status

    await asyncio.sleep(0)
    assert sent.readings == [], "the champion was not read yet"
    await training.champions.heal()
    await eventually(lambda: bool(sent.readings), "the first word")
    assert newest().labels == 0
    await training.step()
    await eventually(lambda: newest().champion_version == 1, "the champion")
    sending.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await sending
