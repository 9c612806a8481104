"""Live view of a runner's games: writes one picture and the positions of all players to files.

The picture is that of the requested environment if this runner has it; else that of the first one,
at a low rate, as a replacement for the screen of an unresponsive runner.
"""

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from rlaif.trainer.play.followers.pay_meter import PayMeter
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.rewards.game.presets import PARTS
from rlaif.trainer.run_folder.live_files import (
    PlayerPosition,
    PlayersFile,
    ScreenFile,
    StepsFile,
    WatchedFile,
    steps_path,
)

_STANDBY_SECONDS = 2.0
"""Interval of pictures of a runner that is not watched; a picture costs 1 ms."""

_PLAYERS_SECONDS = 0.5
_BEAT_SECONDS = 0.5
_FIRST_RUNNERS = (0, 1)
"""One of these runners exists; its first environment is watched by default."""


@dataclass(frozen=True)
class _Files:
    """The live files of a runner.

    Attributes:
        over: Ends the heartbeat.
    """

    screen: ScreenFile
    players: PlayersFile
    watched: WatchedFile
    steps: StepsFile
    over: threading.Event

    @classmethod
    def create(cls, folder: Path, runner: int, count: int) -> Self:
        folder.mkdir(exist_ok=True)
        players = PlayersFile.create(folder / f"{runner}.where", count)
        return cls(
            screen=ScreenFile.create(folder / f"{runner}.rgb"),
            players=players,
            watched=WatchedFile(folder / "watched"),
            steps=StepsFile.create(steps_path(folder, runner), PARTS),
            over=_heartbeat(players),
        )

    def close(self) -> None:
        self.over.set()
        for file in (self.screen, self.players, self.watched, self.steps):
            file.close()


class ScreenFeed:
    """Publishes the games of a runner; without effect while the files cannot be created.

    Attributes:
        watched: The environment of this runner whose picture is shown.
        is_wanted: Whether it was requested, rather than one of another runner.
        is_drawn: Whether it draws its current step, to be shown.
        meter: Opinion of the reward model while it is watched; None without pictures.
    """

    def __init__(self, folder: Path | None, fps: float, *, runner: int, count: int) -> None:
        """Publish `count` games of a runner; disabled without a folder or with `fps` 0."""
        self._folder = folder if fps > 0 else None
        self._fps = fps
        self._runner, self._count = runner, count
        self._next = self._next_players = 0.0
        self._files: _Files | None = None
        self.watched = 0
        self.is_wanted = runner in _FIRST_RUNNERS
        self.is_drawn = False
        self.meter = None if self._folder is None else PayMeter(len(PARTS))
        self.open()

    def open(self) -> None:
        if self._folder is not None and self.meter is not None and self._files is None:
            with suppress(OSError, ValueError):  # a full disk, or a file that is being created
                self._files = _Files.create(self._folder, self._runner, self._count)
                self.meter.file = self._files.steps

    def turned(self) -> bool:
        """Whether the meter has to follow another environment now; called once per row."""
        if self._files is None:
            return False
        before = (self.watched, self.is_wanted)
        wanted = self._files.watched.env
        if wanted is None:
            self.watched, self.is_wanted = 0, self._runner in _FIRST_RUNNERS
        else:
            runner, n = wanted
            self.is_wanted = runner == self._runner and n < self._count
            self.watched = n if self.is_wanted else 0
        turned = self.is_wanted and before != (self.watched, self.is_wanted)
        if turned:
            self._next = 0.0  # at once
        return turned

    @property
    def measured(self) -> int | None:
        """The environment that the meter follows; None while it follows none."""
        return self.watched if self.is_wanted and self.meter is not None else None

    def is_due(self) -> bool:
        """Whether the watched environment has to draw this step; `show` then publishes it."""
        if self._files is None:
            return False
        now = time.monotonic()
        if now < self._next:
            return False
        # On a grid: relative to this step, each wait would be rounded up to whole steps, and a
        # fifth of the pictures would be missing. A pause of the play is not compensated.
        pause = 1.0 / self._fps if self.is_wanted else _STANDBY_SECONDS
        self._next = max(self._next + pause, now)
        self.is_drawn = True
        return True

    def show(self, game: GameEnv, env_step: int) -> None:
        self.is_drawn = False
        assert self._files is not None
        facts = game.facts
        self._files.screen.write(
            game.emulator.screen(),
            env_step=env_step,
            env=self.watched,
            place=(facts.group, facts.room, facts.x, facts.y),
            rooms_visited=game.rooms_visited,
            opinion=self.meter.read() if self.meter is not None and self.is_wanted else None,
        )

    def publish_players(self, games: Sequence[GameEnv], returns: Sequence[float]) -> None:
        if self._files is None:
            return
        now = time.monotonic()
        if now >= self._next_players:
            self._next_players = now + _PLAYERS_SECONDS
            players = [_position(*each) for each in zip(games, returns, strict=True)]
            self._files.players.write(players)

    def close(self) -> None:
        if self._files is not None and self.meter is not None:
            self._files.close()
            self._files = self.meter.file = None


def _position(game: GameEnv, episode_return: float) -> PlayerPosition:
    facts = game.facts
    return PlayerPosition(
        facts.group, facts.room, facts.x, facts.y, game.rooms_visited, game.steps, episode_return
    )


def _heartbeat(players: PlayersFile) -> threading.Event:
    """Report that the process is alive, also while it waits, until the event is set.

    A runner that waits for the learner is alive; a stopped or hanging process is not.
    """
    over = threading.Event()

    def beat() -> None:
        while not over.wait(_BEAT_SECONDS):
            with suppress(ValueError):  # closed meanwhile
                players.beat()

    players.beat()
    threading.Thread(target=beat, name="heartbeat", daemon=True).start()
    return over
