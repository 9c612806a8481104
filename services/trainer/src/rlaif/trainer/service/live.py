"""Telemetry of the run: the watched screen, progress, reward parts, its history."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from rlaif.bus.ports import TelemetryPublisher
from rlaif.contracts.telemetry import (
    FRAME_SUBJECT,
    MapPosition,
    PaidSteps,
    PlayerCall,
    RunHistory,
    ScreenFrame,
    WatchedPay,
    WatchWish,
)
from rlaif.game.machine.pictures import webp
from rlaif.trainer.run_folder.screen import BIN_SECONDS, Picture
from rlaif.trainer.run_folder.standing import env_name, named_env
from rlaif.trainer.run_folder.step_ring import steps_path
from rlaif.trainer.service.runs.state import RunState
from rlaif.trainer.service.screens import RunnerScreens
from rlaif.trainer.service.watched_steps import WatchedSteps

_PROGRESS_SECONDS = 1.0
_HISTORY_SECONDS = 3.0
"""A page that came late, or whose HUD was restarted, waits this long for the curve."""

_STEPS_SECONDS = 0.5
_FACTS_SECONDS = 0.25
"""Where the player stands, and what that is worth: as text, oftener cannot be read."""

_LOOKS = 4
"""Looks for a new picture in the time of one: with a single look the writer's clock and this one
drift past each other, and pictures are overwritten before they are found."""

_LOOK_SECONDS = 1.0
"""Between two looks for runners that came or went; as often people are told where all stand."""


class LiveView:
    """Publishes what people watch; nothing in the ring waits for it."""

    def __init__(
        self,
        telemetry: TelemetryPublisher,
        state: Callable[[], RunState | None],
        screens: Callable[[], Path | None],
        history: Callable[[], RunHistory | None],
        player_calls: Callable[[], list[PlayerCall]],
        *,
        fps: float,
        wishes: Callable[[], AsyncIterator[tuple[str, bytes]]] | None = None,
    ) -> None:
        """Publish of the run whose screens are in `screens()`; `wishes` follows `WatchWish`."""
        self._telemetry = telemetry
        self._state = state
        self._folder = screens
        self._screens = RunnerScreens()
        self._wishes = wishes
        self._history = history
        self._player_calls = player_calls
        self._pause = 1.0 / fps / _LOOKS if fps > 0 else None
        self._facts_due = 0.0

    async def run(self) -> None:
        """Publish until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._send_progress())
            tasks.create_task(self._send_history())
            if self._pause is not None:
                tasks.create_task(self._send_screens(self._pause))
                tasks.create_task(self._send_steps())
                if self._wishes is not None:
                    tasks.create_task(self._hear_wishes(self._wishes()))

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
                now = datetime.now(UTC)
                told = (state.assistance(now), state.found(now), state.course(now))
                for reading in (*told, state.explored(now)):
                    if reading is not None:
                        await self._telemetry.send(reading)
            await asyncio.sleep(_HISTORY_SECONDS)

    async def _send_steps(self) -> None:
        steps = WatchedSteps()
        while True:
            await asyncio.sleep(_STEPS_SECONDS)
            folder, watched = self._folder(), self._screens.watched
            if folder is None or watched is None:
                continue
            told = steps.newer(steps_path(folder, watched[0]))
            if told:
                env = env_name(*watched)
                await self._telemetry.send(PaidSteps(at=datetime.now(UTC), env=env, steps=told))

    async def _send_screens(self, pause: float) -> None:
        screens, sent, look_due = self._screens, 0, 0.0
        while True:
            await asyncio.sleep(pause)
            if time.monotonic() >= look_due:
                look_due = time.monotonic() + _LOOK_SECONDS
                screens.look(self._folder())
                await self._send_environments()
            for env, picture in screens.newer():
                sent += 1
                await self._send_picture(env, picture, sent)

    async def _send_environments(self) -> None:
        state = self._state()
        told = None if state is None else self._screens.told(state.run_id, datetime.now(UTC))
        if told is not None:
            await self._telemetry.send(told)

    async def _hear_wishes(self, wishes: AsyncIterator[tuple[str, bytes]]) -> None:
        """Show what people want to see; a wish that is not readable is none."""
        async for _, payload in wishes:
            try:
                env = named_env(WatchWish.model_validate_json(payload).env)
            except ValidationError:
                continue
            if env is not None:
                self._screens.wish(env)

    async def _send_picture(self, env: str, picture: Picture, number: int) -> None:
        frame = ScreenFrame(
            sequence=number,
            captured_us=time.time_ns() // 1000,
            step=picture.env_step,
            # Half a millisecond; handing it to a thread costs as much again. It is not encoded once
            # more on its way to the pages.
            picture=webp(picture.pixels),
        )
        await self._telemetry.send_bytes(f"{FRAME_SUBJECT}.{env}", frame.pack())
        now, watched = time.monotonic(), self._screens.watched
        if now >= self._facts_due and watched is not None and env == env_name(*watched):
            self._facts_due = now + _FACTS_SECONDS
            await self._send_facts(env, picture)

    async def _send_facts(self, env: str, picture: Picture) -> None:
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
