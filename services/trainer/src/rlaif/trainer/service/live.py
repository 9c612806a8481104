"""Live telemetry of the run: screens, progress, reward, positions. Nothing waits for it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from rlaif.bus.ports import TelemetryPublisher
from rlaif.contracts.telemetry.frames import FRAME_SUBJECT, ScreenFrame
from rlaif.contracts.telemetry.readings import (
    MapPosition,
    PaidStep,
    PaidSteps,
    PlayerCall,
    WatchedPay,
    WatchWish,
)
from rlaif.game.machine.pictures import webp
from rlaif.trainer.run_folder.live_files import (
    BIN_SECONDS,
    Picture,
    StepReward,
    StepsFile,
    env_name,
    named_env,
    steps_path,
)
from rlaif.trainer.service.runs.state import RunState
from rlaif.trainer.service.screens import RunnerScreens, identity

_PROGRESS_SECONDS = 1.0
_REPORTS_SECONDS = 3.0
"""Also the time until a new page, or a restarted HUD, has them."""

_STEPS_SECONDS = 0.5
_POSITION_SECONDS = 0.25
"""Text that changes more often cannot be read."""

_POLLS_PER_PICTURE = 4
"""With one poll the clocks of writer and reader drift, and pictures are overwritten unread."""

_RUNNERS_SECONDS = 1.0
"""Between two polls for new runners, and two reports of all positions."""

MAX_STEPS = 300
"""Steps in one reading; pages keep no more."""


class LiveView:
    """Publishes what people watch."""

    def __init__(
        self,
        telemetry: TelemetryPublisher,
        state: Callable[[], RunState | None],
        screens: Callable[[], Path | None],
        player_calls: Callable[[], list[PlayerCall]],
        *,
        fps: float,
        wishes: Callable[[], AsyncIterator[tuple[str, bytes]]] | None = None,
    ) -> None:
        """Publish the run with live files in `screens()`; `wishes` subscribes to `WatchWish`."""
        self._telemetry = telemetry
        self._state = state
        self._folder = screens
        self._screens = RunnerScreens()
        self._wishes = wishes
        self._player_calls = player_calls
        self._pause = 1.0 / fps / _POLLS_PER_PICTURE if fps > 0 else None
        self._position_due = 0.0

    async def run(self) -> None:
        """Publish until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._send_progress())
            tasks.create_task(self._send_reports())
            if self._pause is not None:
                tasks.create_task(self._send_screens(self._pause))
                tasks.create_task(self._send_steps())
                if self._wishes is not None:
                    tasks.create_task(self._follow_wishes(self._wishes()))

    async def _send_progress(self) -> None:
        while True:
            state = self._state()
            if state is not None:
                now = datetime.now(UTC)
                await self._telemetry.send(state.progress(now))
                if (reward := state.reward(now)) is not None:
                    await self._telemetry.send(reward)
            for call in self._player_calls():
                await self._telemetry.send(call)
            await asyncio.sleep(_PROGRESS_SECONDS)

    async def _send_reports(self) -> None:
        while True:
            state = self._state()
            if state is not None:
                now = datetime.now(UTC)
                for reading in (
                    state.assistance(now),
                    state.search_progress(now),
                    state.curriculum_progress(now),
                    state.world_progress(now),
                ):
                    if reading is not None:
                        await self._telemetry.send(reading)
            await asyncio.sleep(_REPORTS_SECONDS)

    async def _send_steps(self) -> None:
        watched_steps = WatchedSteps()
        while True:
            await asyncio.sleep(_STEPS_SECONDS)
            folder, watched = self._folder(), self._screens.watched
            if folder is None or watched is None:
                continue
            steps = watched_steps.newer(steps_path(folder, watched[0]))
            if steps:
                env = env_name(*watched)
                await self._telemetry.send(PaidSteps(at=datetime.now(UTC), env=env, steps=steps))

    async def _send_screens(self, pause: float) -> None:
        screens, sent, runners_due = self._screens, 0, 0.0
        while True:
            await asyncio.sleep(pause)
            if time.monotonic() >= runners_due:
                runners_due = time.monotonic() + _RUNNERS_SECONDS
                screens.update(self._folder())
                await self._send_environments()
            for env, picture in screens.newer():
                sent += 1
                await self._send_picture(env, picture, sent)

    async def _send_environments(self) -> None:
        state = self._state()
        if state is not None:
            seen = self._screens.environments(state.run_id, datetime.now(UTC))
            if seen is not None:
                await self._telemetry.send(seen)

    async def _follow_wishes(self, wishes: AsyncIterator[tuple[str, bytes]]) -> None:
        """Switch to requested environments; invalid requests are ignored."""
        async for _, payload in wishes:
            try:
                env = named_env(WatchWish.model_validate_json(payload).env)
            except ValidationError:
                continue
            if env is not None:
                self._screens.request(env)

    async def _send_picture(self, env: str, picture: Picture, number: int) -> None:
        frame = ScreenFrame(
            sequence=number,
            captured_us=time.time_ns() // 1000,
            step=picture.env_step,
            # Half a millisecond; passing it to a thread costs as much. The HUD does not re-encode.
            picture=webp(picture.pixels),
        )
        await self._telemetry.send_bytes(f"{FRAME_SUBJECT}.{env}", frame.pack())
        now, watched = time.monotonic(), self._screens.watched
        if now >= self._position_due and watched is not None and env == env_name(*watched):
            self._position_due = now + _POSITION_SECONDS
            await self._send_position(env, picture)

    async def _send_position(self, env: str, picture: Picture) -> None:
        await self._telemetry.send(
            MapPosition(
                at=datetime.now(UTC),
                env=env,
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
                env=env,
                env_step=picture.env_step,
                reward_model_version=opinion.version if opinion else None,
                potential=opinion.potential if opinion else None,
                paid=opinion.paid if opinion else None,
                bin_seconds=BIN_SECONDS,
            )
        )


class WatchedSteps:
    """Reads the newest steps of a `StepsFile`, which each process of the run creates again."""

    def __init__(self) -> None:
        self._ring: StepsFile | None = None
        self._identity: tuple[int, int] | None = None
        self._last = 0

    def newer(self, path: Path | None) -> tuple[PaidStep, ...]:
        """Steps since the last call, oldest first."""
        current = None if path is None else identity(path)
        if current != self._identity:
            self._open(path if current is not None else None)
            self._identity = current if self._ring is not None else None
        if self._ring is None:
            return ()
        steps = self._ring.read(after=self._last, limit=MAX_STEPS)
        if not steps:
            return ()
        self._last = steps[-1].number
        return tuple(_paid_step(step, self._ring.parts) for step in steps)

    def _open(self, path: Path | None) -> None:
        if self._ring is not None:
            self._ring.close()
        self._ring, self._last = None, 0
        if path is None:
            return
        try:
            self._ring = StepsFile(path)
        except (OSError, ValueError):
            return  # being created, or truncated by a full disk; retried


def _paid_step(step: StepReward, names: Sequence[str]) -> PaidStep:
    return PaidStep(
        number=step.number,
        env_step=step.env_step,
        reward=step.reward,
        parts={name: amount for name, amount in zip(names, step.parts, strict=True) if amount},
        paid=step.paid,
        reward_model_version=step.version,
        ended=step.ended,
    )
