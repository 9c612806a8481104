"""The screens and players of all runners, as the files in the run's folder show them."""

import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from rlaif.contracts.telemetry import (
    MOST_ENVIRONMENTS,
    MOST_RUNNERS,
    EnvironmentsSeen,
    EnvironmentStands,
    RunnerSign,
)
from rlaif.trainer.run_folder.screen import Picture, ScreenSlot
from rlaif.trainer.run_folder.standing import RunnerStands, Standings, WatchedFile, env_name

Identity = tuple[int, int]
"""Device and inode: a process that is started makes its files anew."""


@dataclass
class _Runner:
    """What is open of one runner."""

    slot: ScreenSlot
    standings: Standings | None
    files: tuple[Identity | None, Identity | None]
    sequence: int = 0

    def close(self) -> None:
        self.slot.close()
        if self.standings is not None:
            self.standings.close()


class RunnerScreens:
    """Follows the files of a run's runners; a file that cannot be read is tried again."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._runners: dict[int, _Runner] = {}
        self._watched: WatchedFile | None = None
        self._wish: tuple[int, int] | None = None

    def look(self, folder: Path | None) -> None:
        """See which runners there are in the folder of the current run; once a second or so."""
        if folder != self._folder:
            self.close()
            self._folder = folder
        found = {} if folder is None else _found(folder)
        for number in [*self._runners]:
            if self._runners[number].files != found.get(number):
                self._runners.pop(number).close()
        for number in sorted(found.keys() - self._runners.keys())[:MOST_RUNNERS]:
            assert folder is not None
            opened = _opened(folder, number, found[number])
            if opened is not None:
                self._runners[number] = opened
        if folder is not None and self._runners and self._watched is None:
            self._open_watched(folder)

    def wish(self, env: tuple[int, int]) -> None:
        """People want to see this environment; one that is not here is refused by being ignored."""
        self._wish = env
        if self._watched is not None and self._watched.env != env:
            self._watched.env = env

    @property
    def watched(self) -> tuple[int, int] | None:
        """Whose screen is shown in full; None while there is no runner."""
        asked = None if self._watched is None else self._watched.env
        return asked or (min(self._runners), 0) if self._runners else None

    def newer(self) -> list[tuple[str, Picture]]:
        """(environment, picture) of each runner that has a newer one than at the last call."""
        pictures = []
        for number, runner in self._runners.items():
            picture = runner.slot.read(newer_than=runner.sequence)
            if picture is not None:
                runner.sequence = picture.sequence
                pictures.append((env_name(number, picture.env), picture))
        return pictures

    def told(self, run_id: str, at: datetime) -> EnvironmentsSeen | None:
        """Where everybody stands; None while there is no runner."""
        now = time.time()
        signs, stands = [], []
        for number, runner in sorted(self._runners.items()):
            read = None if runner.standings is None else runner.standings.read()
            if read is None or read.alive_at is None:
                continue
            signs.append(_sign(number, read, now))
            stands.extend(_stands(number, read))
        if not signs:
            return None
        watched = self.watched
        return EnvironmentsSeen(
            at=at,
            run_id=run_id,
            watched=None if watched is None else env_name(*watched),
            runners=tuple(signs),
            environments=tuple(stands[:MOST_ENVIRONMENTS]),
            left_out=max(0, len(stands) - MOST_ENVIRONMENTS),
        )

    def close(self) -> None:
        """Unmap all files."""
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
        if self._wish is not None:
            self.wish(self._wish)


def _sign(number: int, read: RunnerStands, now: float) -> RunnerSign:
    assert read.alive_at is not None
    still = None if read.told_at is None else max(0.0, now - read.told_at)
    return RunnerSign(
        runner=number, silent_seconds=max(0.0, now - read.alive_at), still_seconds=still
    )


def _stands(number: int, read: RunnerStands) -> list[EnvironmentStands]:
    return [
        EnvironmentStands(env=env_name(number, n), runner=number, **player._asdict())
        for n, player in enumerate(read.players)
    ]


def _found(folder: Path) -> dict[int, tuple[Identity | None, Identity | None]]:
    """Runner → identities of its picture and of its players."""
    try:
        names = [path for path in folder.iterdir() if path.suffix == ".rgb"]
    except OSError:
        return {}
    numbers = [int(path.stem) for path in names if path.stem.isdecimal()]
    return {
        number: (_identity(folder / f"{number}.rgb"), _identity(folder / f"{number}.where"))
        for number in numbers
    }


def _opened(
    folder: Path, number: int, files: tuple[Identity | None, Identity | None]
) -> _Runner | None:
    try:
        slot = ScreenSlot(folder / f"{number}.rgb")
    except (OSError, ValueError):
        return None
    try:
        standings = None if files[1] is None else Standings(folder / f"{number}.where")
    except (OSError, ValueError):
        standings, files = None, (files[0], None)
    return _Runner(slot, standings, files)


def _identity(path: Path) -> Identity | None:
    """Of a file; None while there is none."""
    try:
        info = path.stat()
    except OSError:
        return None
    return info.st_dev, info.st_ino
