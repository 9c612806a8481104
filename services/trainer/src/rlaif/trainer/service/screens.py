"""Screens and players of all runners, read from their live files."""

import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rlaif.contracts.telemetry.readings import (
    MAX_ENVIRONMENTS,
    MAX_RUNNERS,
    EnvironmentsSeen,
    EnvironmentStands,
    RunnerSign,
)
from rlaif.trainer.run_folder.live_files import (
    Picture,
    PlayersFile,
    RunnerPlayers,
    ScreenFile,
    WatchedFile,
    env_name,
)

Identity = tuple[int, int]
"""Device and inode: each process creates its files again."""


@dataclass
class _Runner:
    """Open files of a runner."""

    screen: ScreenFile
    players: PlayersFile | None
    files: tuple[Identity | None, Identity | None]
    sequence: int = 0

    def close(self) -> None:
        self.screen.close()
        if self.players is not None:
            self.players.close()


class RunnerScreens:
    """Follows the files of a run's runners; unreadable files are retried."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._runners: dict[int, _Runner] = {}
        self._watched: WatchedFile | None = None
        self._requested: tuple[int, int] | None = None

    def update(self, folder: Path | None) -> None:
        """Open files of new runners in the folder of the current run, and close those of others."""
        if folder != self._folder:
            self.close()
            self._folder = folder
        found = {} if folder is None else _found(folder)
        for number in [*self._runners]:
            if self._runners[number].files != found.get(number):
                self._runners.pop(number).close()
        for number in sorted(found.keys() - self._runners.keys())[:MAX_RUNNERS]:
            assert folder is not None
            opened = _opened(folder, number, found[number])
            if opened is not None:
                self._runners[number] = opened
        if folder is not None and self._runners and self._watched is None:
            self._open_watched(folder)

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

    def environments(self, run_id: str, at: datetime) -> EnvironmentsSeen | None:
        """Positions of all players; None without a runner."""
        now = time.time()
        signs: list[RunnerSign] = []
        positions: list[EnvironmentStands] = []
        for number, runner in sorted(self._runners.items()):
            read = None if runner.players is None else runner.players.read()
            if read is None or read.alive_at is None:
                continue
            signs.append(_sign(number, read, read.alive_at, now))
            positions.extend(
                EnvironmentStands(env=env_name(number, n), runner=number, **player._asdict())
                for n, player in enumerate(read.players)
            )
        if not signs:
            return None
        watched = self.watched
        return EnvironmentsSeen(
            at=at,
            run_id=run_id,
            watched=None if watched is None else env_name(*watched),
            runners=tuple(signs),
            environments=tuple(positions[:MAX_ENVIRONMENTS]),
            left_out=max(0, len(positions) - MAX_ENVIRONMENTS),
        )

    def close(self) -> None:
        for runner in self._runners.values():
            runner.close()
        self._runners.clear()
        if self._watched is not None:
            self._watched.close()
            self._watched = None

    def _open_watched(self, folder: Path) -> None:
        try:
            self._watched = WatchedFile(folder / "watched")
        except (OSError, ValueError):
            return
        if self._requested is not None:
            self.request(self._requested)


def _sign(number: int, read: RunnerPlayers, alive_at: float, now: float) -> RunnerSign:
    still = None if read.played_at is None else max(0.0, now - read.played_at)
    return RunnerSign(runner=number, silent_seconds=max(0.0, now - alive_at), still_seconds=still)


def _found(folder: Path) -> dict[int, tuple[Identity | None, Identity | None]]:
    """Runner → identities of its screen file and of its players file."""
    try:
        names = [path for path in folder.iterdir() if path.suffix == ".rgb"]
    except OSError:
        return {}
    numbers = [int(path.stem) for path in names if path.stem.isdecimal()]
    return {
        number: (identity(folder / f"{number}.rgb"), identity(folder / f"{number}.where"))
        for number in numbers
    }


def _opened(
    folder: Path, number: int, files: tuple[Identity | None, Identity | None]
) -> _Runner | None:
    try:
        screen = ScreenFile(folder / f"{number}.rgb")
    except (OSError, ValueError):
        return None
    try:
        players = None if files[1] is None else PlayersFile(folder / f"{number}.where")
    except (OSError, ValueError):
        players, files = None, (files[0], None)
    return _Runner(screen, players, files)


def identity(path: Path) -> Identity | None:
    """Device and inode of a file; None without one."""
    try:
        info = path.stat()
    except OSError:
        return None
    return info.st_dev, info.st_ino
