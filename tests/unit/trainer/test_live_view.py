"""What people see of the watched game: its picture, its place, and what its state is worth."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlaif.contracts.telemetry.frames import ScreenFrame
from rlaif.contracts.telemetry.readings import (
    AssistanceStatus,
    MapPosition,
    PlayerCall,
    TrainingProgress,
    WatchedPay,
    WatchWish,
)
from rlaif.testing.waiting import eventually
from rlaif.trainer.run_folder.live_files import BINS, Opinion, ScreenFile, WatchedFile
from rlaif.trainer.service.live import LiveView
from rlaif.trainer.service.runs.state import RunState


class Sent:
    """Keeps what was sent."""

    def __init__(self) -> None:
        self.readings: list[Any] = []
        self.frames: list[ScreenFrame] = []
        self.subjects: list[str] = []

    async def send(self, reading: Any) -> None:
        self.readings.append(reading)

    async def send_bytes(self, subject: str, payload: bytes) -> None:
        self.subjects.append(subject)
        self.frames.append(ScreenFrame.unpack(payload))

    def of(self, kind: type) -> list[Any]:
        return [reading for reading in self.readings if isinstance(reading, kind)]


@asynccontextmanager
async def watching(path: Path) -> AsyncIterator[Sent]:
    """A view of the screens in this folder, 60 times a second."""
    sent = Sent()
    view = asyncio.create_task(LiveView(sent, lambda: None, lambda: path, lambda: [], fps=60).run())
    try:
        yield sent
    finally:
        view.cancel()
        await asyncio.gather(view, return_exceptions=True)


PAID = tuple(0.1 * number - 1 for number in range(BINS))


@pytest.mark.parametrize(
    ("opinion", "reported"),
    [
        (None, (None, None, None)),
        (Opinion(version=4, potential=-0.25, rises=PAID), (4, -0.25, PAID)),
        (Opinion(version=4, potential=0.5, rises=None), (4, 0.5, None)),
        (Opinion(version=4, potential=None, rises=None), (4, None, None)),
    ],
    ids=["no reward model", "a potential", "another reward", "unknown"],
)
async def test_each_picture_comes_with_what_its_state_is_worth(tmp_path, opinion, reported):
    slot = ScreenFile.create(tmp_path / "1.rgb")
    pixels = np.zeros((144, 160, 3), dtype=np.uint8)
    slot.write(pixels, env_step=12, place=(0, 119, 8, 16), rooms_visited=2, opinion=opinion)
    async with watching(tmp_path) as sent:
        await eventually(lambda: bool(sent.of(WatchedPay)), "its worth")
    (pay,) = sent.of(WatchedPay)
    assert (pay.reward_model_version, pay.potential, pay.rises) == reported
    (frame,), (place,) = sent.frames, sent.of(MapPosition)
    assert (sent.subjects, place.env) == (["telemetry.frame.1-0"], "1-0")
    assert (frame.step, pay.env_step, place.room, pay.env) == (12, 12, 119, place.env)


async def test_the_selected_environment_is_reported_and_requested_from_the_runners(tmp_path):
    for runner in (1, 2):
        slot = ScreenFile.create(tmp_path / f"{runner}.rgb")
        pixels = np.zeros((144, 160, 3), dtype=np.uint8)
        slot.write(pixels, env_step=12, env=3, place=(0, runner, 8, 16), rooms_visited=2)
    sent = Sent()
    view = LiveView(sent, lambda: None, lambda: tmp_path, lambda: [], fps=60)
    for env in ("2-3", "somebody"):
        await view.watch(WatchWish(at=datetime.now(UTC), env=env))
    task = asyncio.create_task(view.run())
    try:
        await eventually(lambda: bool(sent.of(WatchedPay)), "what the watched one is worth")
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert sorted(sent.subjects) == ["telemetry.frame.1-3", "telemetry.frame.2-3"]
    assert {place.env for place in sent.of(MapPosition)} == {"2-3"}
    assert WatchedFile(tmp_path / "watched").env == (2, 3), "its runner reads this"


async def test_actions_of_the_language_model_are_reported_once_each():
    sent, reported = Sent(), [wish(1), wish(2)]

    def take() -> list[PlayerCall]:
        taken, reported[:] = list(reported), []
        return taken

    state = RunState(run_id="run-1")
    view = LiveView(sent, lambda: state, lambda: None, take, fps=0)
    task = asyncio.create_task(view.run())
    try:
        await eventually(
            lambda: bool(sent.of(AssistanceStatus)) and len(sent.of(TrainingProgress)) > 1,
            "two readings",
        )
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert [call.step for call in sent.of(PlayerCall)] == [1, 2]
    assert sent.of(AssistanceStatus)[0].has_planner is None, "nothing was played yet"


def wish(step: int) -> PlayerCall:
    return PlayerCall(
        at=datetime.now(UTC), run_id="run-1", kind="plan", mode="dialog", env="1-0", step=step,
        call="ok",
    )  # fmt: skip
