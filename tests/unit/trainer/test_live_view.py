"""What people see of the watched game: its picture, its place, and what its state is worth."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rlaif.contracts.telemetry import MapPosition, ScreenFrame, WatchedPay
from rlaif.testing.waiting import eventually
from rlaif.trainer.run_folder.screen import BINS, Opinion, ScreenSlot
from rlaif.trainer.service.live import LiveView


class Sent:
    """Keeps what was sent."""

    def __init__(self) -> None:
        self.readings: list[Any] = []
        self.frames: list[ScreenFrame] = []

    async def send(self, reading: Any) -> None:
        self.readings.append(reading)

    async def send_bytes(self, subject: str, payload: bytes) -> None:
        assert subject == "telemetry.frame.env-0"
        self.frames.append(ScreenFrame.unpack(payload))

    def of(self, kind: type) -> list[Any]:
        return [reading for reading in self.readings if isinstance(reading, kind)]


@asynccontextmanager
async def watching(path: Path) -> AsyncIterator[Sent]:
    """A view of the picture in this file, 60 times a second."""
    sent = Sent()
    view = asyncio.create_task(
        LiveView(sent, lambda: None, lambda: path, lambda: None, lambda: [], fps=60).run()
    )
    try:
        yield sent
    finally:
        view.cancel()
        await asyncio.gather(view, return_exceptions=True)


PAID = tuple(0.1 * number - 1 for number in range(BINS))


@pytest.mark.parametrize(
    ("opinion", "told"),
    [
        (None, (None, None, None)),
        (Opinion(version=4, potential=-0.25, paid=PAID), (4, -0.25, PAID)),
        (Opinion(version=4, potential=0.5, paid=None), (4, 0.5, None)),
    ],
    ids=["no reward model", "one that pays a potential", "one that pays otherwise"],
)
async def test_each_picture_comes_with_what_its_state_is_worth(tmp_path, opinion, told):
    slot = ScreenSlot(tmp_path / "screen.rgb", create=True)
    pixels = np.zeros((144, 160, 3), dtype=np.uint8)
    slot.write(pixels, env_step=12, place=(0, 119, 8, 16), rooms_visited=2, opinion=opinion)
    async with watching(tmp_path / "screen.rgb") as sent:
        await eventually(lambda: bool(sent.of(WatchedPay)), "its worth")
    (pay,) = sent.of(WatchedPay)
    assert (pay.reward_model_version, pay.potential, pay.paid) == told
    (frame,), (place,) = sent.frames, sent.of(MapPosition)
    assert (frame.step, pay.env_step, place.room, pay.env) == (12, 12, 119, place.env)
