"""Telemetry of the run: the watched screen, progress, reward parts, its history."""

import asyncio
import io
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from PIL import Image

from rlaif.bus.ports import TelemetryPublisher
from rlaif.contracts.telemetry import (
    FRAME_SUBJECT,
    MapPosition,
    PlayerCall,
    RunHistory,
    ScreenFrame,
    WatchedPay,
)
from rlaif.trainer.run_folder.screen import BIN_SECONDS, Picture, ScreenSlot
from rlaif.trainer.service.runs.state import RunState

JPEG_QUALITY = 40
"""The seeds' figure: about 5 kB a picture."""

_PROGRESS_SECONDS = 1.0
_HISTORY_SECONDS = 3.0
"""A page that came late, or whose HUD was restarted, waits this long for the curve."""

_ENV = "env-0"


class LiveView:
    """Publishes what people watch; nothing in the ring waits for it."""

    def __init__(
        self,
        telemetry: TelemetryPublisher,
        state: Callable[[], RunState | None],
        screen: Callable[[], Path | None],
        history: Callable[[], RunHistory | None],
        player_calls: Callable[[], list[PlayerCall]],
        *,
        fps: float,
    ) -> None:
        self._telemetry = telemetry
        self._state = state
        self._screen = screen
        self._history = history
        self._player_calls = player_calls
        self._pause = 1.0 / fps if fps > 0 else None

    async def run(self) -> None:
        """Publish until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._send_progress())
            tasks.create_task(self._send_history())
            if self._pause is not None:
                tasks.create_task(self._send_screens(self._pause))

    async def _send_progress(self) -> None:
        while True:
            state = self._state()
            if state is not None:
                now = datetime.now(UTC)
                await self._telemetry.send(state.progress(now))
                reward = state.reward(now)
                if reward is not None:
                    await self._telemetry.send(reward)
            for call in self._player_calls():
                await self._telemetry.send(call)
            await asyncio.sleep(_PROGRESS_SECONDS)

    async def _send_history(self) -> None:
        while True:
            history = self._history()
            if history is not None:
                await self._telemetry.send(history)
            state = self._state()
            if state is not None:
                await self._telemetry.send(state.assistance(datetime.now(UTC)))
            await asyncio.sleep(_HISTORY_SECONDS)

    async def _send_screens(self, pause: float) -> None:
        slot: ScreenSlot | None = None
        identity: tuple[int, int] | None = None
        last, sent = 0, 0
        while True:
            await asyncio.sleep(pause)
            path = self._screen()
            current = _identity(path)
            if current != identity:
                # Each process makes the file anew.
                if slot is not None:
                    slot.close()
                slot = _opened(path) if path is not None and current is not None else None
                identity, last = current if slot is not None else None, 0
            picture = slot.read(newer_than=last) if slot is not None else None
            if picture is None:
                continue
            last, sent = picture.sequence, sent + 1
            await self._send_picture(picture, sent)

    async def _send_picture(self, picture: Picture, number: int) -> None:
        frame = ScreenFrame(
            sequence=number,
            captured_us=time.time_ns() // 1000,
            step=picture.env_step,
            # Half a millisecond; handing it to a thread costs as much again.
            jpeg=_jpeg(picture),
        )
        await self._telemetry.send_bytes(f"{FRAME_SUBJECT}.{_ENV}", frame.pack())
        await self._telemetry.send(
            MapPosition(
                at=datetime.now(UTC),
                env=_ENV,
                group=picture.group,
                room=picture.room,
                x=picture.x,
                y=picture.y,
                rooms_visited=picture.rooms_visited,
            )
        )
        opinion = picture.opinion
        await self._telemetry.send(
            WatchedPay(
                at=datetime.now(UTC),
                env=_ENV,
                env_step=picture.env_step,
                reward_model_version=opinion.version if opinion else None,
                potential=opinion.potential if opinion else None,
                paid=opinion.paid if opinion else None,
                bin_seconds=BIN_SECONDS,
            )
        )


def _opened(path: Path) -> ScreenSlot | None:
    """The file, to look into; None when it cannot be, which is tried again."""
    try:
        return ScreenSlot(path)
    except (OSError, ValueError):
        return None


def _identity(path: Path | None) -> tuple[int, int] | None:
    """Device and inode of the file; None while there is none."""
    try:
        info = path.stat() if path is not None else None
    except OSError:
        return None
    return (info.st_dev, info.st_ino) if info else None


def _jpeg(picture: Picture) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(picture.pixels).save(buffer, "JPEG", quality=JPEG_QUALITY)
    return buffer.getvalue()
