"""Live telemetry of the run: screens, progress, rewards, positions. It never delays the run."""

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from rlaif.bus.ports import TelemetryPublisher
from rlaif.contracts.telemetry import readings
from rlaif.contracts.telemetry.frames import FRAME_SUBJECT, ScreenFrame
from rlaif.game.machine.pictures import webp
from rlaif.trainer.run_folder.live_files import (
    BIN_SECONDS,
    Picture,
    PlayersFile,
    ScreenFile,
    StepsFile,
    WatchedFile,
    env_name,
    named_env,
    steps_path,
)
from rlaif.trainer.service.runs.state import RunState

MAX_STEPS = 300
"""Maximum number of steps in one reading, and on a page."""

F = TypeVar("F")
Found = Iterator[readings.Telemetry | None]
Identity = tuple[int, int]
"""Device and inode of a file, which each process recreates."""

_PROGRESS_SECONDS = 1.0
_REPORTS_SECONDS = 3.0
"""Interval of reports, and so the delay until a new page or a restarted HUD has them."""

_STEPS_SECONDS = 0.5
_POSITION_SECONDS = 0.25
"""Interval of positions; text that changes more often is unreadable."""

_POLLS_PER_PICTURE = 4
"""With one poll per picture, drift between writer and reader would lose pictures."""

_RUNNERS_SECONDS = 1.0
"""Interval of polls for new runners, and of reports of all positions."""


@dataclass
class _Runner:
    """Open files of a runner, and the last picture and step that were read."""

    files: dict[Path, Identity]
    screen: ScreenFile
    players: PlayersFile | None
    steps: StepsFile | None
    sequence: int = 0
    step: int = 0


class RunnerScreens:
    """Follows the files of a run's runners; unreadable files are retried."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._runners: dict[int, _Runner] = {}
        self._watched: WatchedFile | None = None
        self._requested: tuple[int, int] | None = None

    def update(self, folder: Path | None) -> None:
        """Open files of new runners in the folder of the current run, and drop those of others."""
        if folder != self._folder:
            self._folder, self._watched = folder, None
            self._runners.clear()
        if folder is None:
            return
        found = _found(folder)
        known = {n: r for n, r in self._runners.items() if n in found and r.files == found[n]}
        for number in sorted(found.keys() - known.keys())[: readings.MAX_RUNNERS]:
            opened = _opened(folder, number, found[number])
            if opened is not None:
                known[number] = opened
        self._runners = known
        if known and self._watched is None:
            self._watched = _open(WatchedFile, folder / "watched")
            if self._requested is not None:
                self.request(self._requested)

    def request(self, env: tuple[int, int]) -> None:
        """Watch this environment; runners ignore one that does not exist."""
        self._requested = env
        if self._watched is not None and self._watched.env != env:
            self._watched.env = env

    @property
    def watched(self) -> tuple[int, int] | None:
        """The environment on the main screen; None without a runner."""
        requested = None if self._watched is None else self._watched.env
        return requested or (min(self._runners), 0) if self._runners else None

    def newer(self) -> list[tuple[str, Picture]]:
        """(environment, picture) of each runner with a new picture since the last call."""
        pictures = []
        for number, runner in self._runners.items():
            picture = runner.screen.read(newer_than=runner.sequence)
            if picture is not None:
                runner.sequence = picture.sequence
                pictures.append((env_name(number, picture.env), picture))
        return pictures

    def steps(self, at: datetime) -> readings.PaidSteps | None:
        """New steps of the watched environment, oldest first; None without any."""
        watched = self.watched
        runner = None if watched is None else self._runners.get(watched[0])
        if watched is None or runner is None or runner.steps is None:
            return None
        steps = runner.steps.read(after=runner.step, limit=MAX_STEPS)
        if not steps:
            return None
        runner.step = steps[-1].number
        names = runner.steps.parts
        paid = tuple(
            readings.PaidStep(
                **vars(step)
                | {"parts": {n: part for n, part in zip(names, step.parts, strict=True) if part}}
            )
            for step in steps
        )
        return readings.PaidSteps(at=at, env=env_name(*watched), steps=paid)

    def environments(self, run_id: str, at: datetime) -> readings.EnvironmentsSeen | None:
        """Positions of all players; None without a runner."""
        now = time.time()
        signs: list[readings.RunnerSign] = []
        positions: list[readings.EnvironmentStands] = []
        for number, runner in sorted(self._runners.items()):
            read = None if runner.players is None else runner.players.read()
            if read is None or read.alive_at is None:
                continue
            still = None if read.played_at is None else max(0.0, now - read.played_at)
            silent = max(0.0, now - read.alive_at)
            signs.append(
                readings.RunnerSign(runner=number, silent_seconds=silent, still_seconds=still)
            )
            positions.extend(
                readings.EnvironmentStands(
                    env=env_name(number, n), runner=number, **player._asdict()
                )
                for n, player in enumerate(read.players)
            )
        if not signs:
            return None
        watched = self.watched
        return readings.EnvironmentsSeen(
            at=at,
            run_id=run_id,
            watched=None if watched is None else env_name(*watched),
            runners=tuple(signs),
            environments=tuple(positions[: readings.MAX_ENVIRONMENTS]),
            left_out=max(0, len(positions) - readings.MAX_ENVIRONMENTS),
        )


def _found(folder: Path) -> dict[int, dict[Path, Identity]]:
    found: dict[int, dict[Path, Identity]] = {}
    try:
        for path in folder.iterdir():
            if path.stem.isdecimal() and path.suffix in (".rgb", ".where", ".steps"):
                info = path.stat()
                found.setdefault(int(path.stem), {})[path] = (info.st_dev, info.st_ino)
    except OSError:
        return {}
    return found


def _opened(folder: Path, number: int, files: dict[Path, Identity]) -> _Runner | None:
    screen = _open(ScreenFile, folder / f"{number}.rgb")
    if screen is None:
        return None
    players = _open(PlayersFile, folder / f"{number}.where")
    steps = _open(StepsFile, steps_path(folder, number))
    missing = {".where": players is None, ".steps": steps is None}
    readable = {path: each for path, each in files.items() if not missing.get(path.suffix)}
    return _Runner(readable, screen, players, steps)


def _open(kind: Callable[[Path], F], path: Path) -> F | None:
    """Open a live file; None if it is missing, being created, or truncated by a full disk."""
    try:
        return kind(path)
    except (OSError, ValueError):
        return None


class LiveView:
    """Publishes the live view."""

    def __init__(
        self,
        telemetry: TelemetryPublisher,
        state: Callable[[], RunState | None],
        screens: Callable[[], Path | None],
        player_calls: Callable[[], list[readings.PlayerCall]],
        *,
        fps: float,
    ) -> None:
        """Publish the run with live files in `screens()`."""
        self._telemetry = telemetry
        self._state = state
        self._folder = screens
        self._screens = RunnerScreens()
        self._player_calls = player_calls
        self._pause = 1.0 / fps / _POLLS_PER_PICTURE if fps > 0 else None
        self._position_due = 0.0

    async def watch(self, wish: readings.WatchWish) -> None:
        """Switch to the environment with this name; unknown names are ignored."""
        if (env := named_env(wish.env)) is not None:
            self._screens.request(env)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._send(self._progress, _PROGRESS_SECONDS))
            tasks.create_task(self._send(self._reports, _REPORTS_SECONDS))
            if self._pause is not None:
                tasks.create_task(self._send(self._environments, _RUNNERS_SECONDS))
                tasks.create_task(self._send(self._steps, _STEPS_SECONDS))
                tasks.create_task(self._send_screens(self._pause))

    async def _send(self, found: Callable[[datetime], Found], seconds: float) -> None:
        while True:
            for reading in found(datetime.now(UTC)):
                if reading is not None:
                    await self._telemetry.send(reading)
            await asyncio.sleep(seconds)

    def _progress(self, now: datetime) -> Found:
        if (state := self._state()) is not None:
            yield state.progress(now)
            yield state.reward(now)
        yield from self._player_calls()

    def _reports(self, now: datetime) -> Found:
        if (state := self._state()) is not None:
            yield from state.reports(now)

    def _environments(self, now: datetime) -> Found:
        self._screens.update(self._folder())
        if (state := self._state()) is not None:
            yield self._screens.environments(state.run_id, now)

    def _steps(self, now: datetime) -> Found:
        yield self._screens.steps(now)

    async def _send_screens(self, pause: float) -> None:
        sent = 0
        while True:
            await asyncio.sleep(pause)
            for env, picture in self._screens.newer():
                sent += 1
                await self._send_picture(env, picture, sent)

    async def _send_picture(self, env: str, picture: Picture, number: int) -> None:
        frame = ScreenFrame(
            sequence=number,
            captured_us=time.time_ns() // 1000,
            step=picture.env_step,
            # Takes 0.5 ms, as much as passing it to a thread. The HUD does not re-encode.
            picture=webp(picture.pixels),
        )
        await self._telemetry.send_bytes(f"{FRAME_SUBJECT}.{env}", frame.pack())
        now, watched = time.monotonic(), self._screens.watched
        if now >= self._position_due and watched is not None and env == env_name(*watched):
            self._position_due = now + _POSITION_SECONDS
            await self._send_position(env, picture)

    async def _send_position(self, env: str, picture: Picture) -> None:
        at, opinion = datetime.now(UTC), picture.opinion
        await self._telemetry.send(
            readings.MapPosition(
                at=at,
                env=env,
                group=picture.group,
                room=picture.room,
                x=picture.x,
                y=picture.y,
                rooms_visited=picture.rooms_visited,
            )
        )
        await self._telemetry.send(
            readings.WatchedPay(
                at=at,
                env=env,
                env_step=picture.env_step,
                reward_model_version=opinion.version if opinion else None,
                potential=opinion.potential if opinion else None,
                rises=opinion.rises if opinion else None,
                bin_seconds=BIN_SECONDS,
            )
        )
