"""What people see of a runner's games, into its files: one picture, and where all players stand.

The picture is that of the environment that people want to see, so many times a second, when it is
one of this runner; else of the first one, now and then, so that another runner's screen can take
the place of one that fell silent.
"""

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from rlaif.trainer.play.followers.pay_meter import PayMeter, StepLedger
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.rewards.game.presets import PARTS
from rlaif.trainer.run_folder.live_files import (
    PlayerPosition,
    PlayersFile,
    ScreenFile,
    WatchedFile,
    steps_path,
)

_STANDBY_SECONDS = 2.0
"""Between two pictures of a runner that is not watched; a picture costs a millisecond."""

_STANDING_SECONDS = 0.5
_BEAT_SECONDS = 0.5
_FIRST_RUNNERS = (0, 1)
"""Of these one exists; its first environment is the default of the watched one."""


class ScreenFeed:
    """Publishes the games of a runner; without effect while the files cannot be created.

    Attributes:
        watched: The environment of this runner whose picture is shown.
        is_wanted: People want to see it, and not another runner's.
        meter: Opinion of the reward model while it is watched; None without pictures.
    """

    def __init__(self, folder: Path | None, fps: float, *, runner: int, count: int) -> None:
        """For `count` games of a runner; disabled without a folder or with `fps` 0."""
        self._folder = folder if fps > 0 else None
        self._fps = fps
        self._runner, self._count = runner, count
        self._next = self._next_standing = 0.0
        self._slot: ScreenFile | None = None
        self._standings: PlayersFile | None = None
        self._wish: WatchedFile | None = None
        self._beating: threading.Event | None = None
        self.watched = 0
        self.is_wanted = runner in _FIRST_RUNNERS
        self.meter: PayMeter | None = None
        self._ledger: StepLedger | None = None
        if self._folder is not None:
            self._ledger = StepLedger(steps_path(self._folder, runner), PARTS)
            self.meter = PayMeter(ledger=self._ledger)
        self.open()

    def open(self) -> None:
        if self._folder is None:
            return
        with suppress(OSError, ValueError):  # a full disk, or a file that another makes just now
            self._folder.mkdir(exist_ok=True)
            if self._ledger is not None:
                self._ledger.open()
            if self._slot is None:
                self._slot = ScreenFile.create(self._folder / f"{self._runner}.rgb")
            if self._standings is None:
                path = self._folder / f"{self._runner}.where"
                self._standings = PlayersFile.create(path, self._count)
                self._beating = _beats(self._standings)
            if self._wish is None:
                self._wish = WatchedFile(self._folder / "watched")

    def turned(self) -> bool:
        """Whether the meter has another environment to follow than before; asked once a row."""
        if self._wish is None:
            return False
        before = (self.watched, self.is_wanted)
        wanted = self._wish.env
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
        if self._slot is None:
            return False
        now = time.monotonic()
        if now < self._next:
            return False
        # On a grid: counted from this step, each wait would be rounded up to whole steps, and a
        # fifth of the pictures would be missing. What a pause of the play missed is not made up.
        pause = 1.0 / self._fps if self.is_wanted else _STANDBY_SECONDS
        self._next = max(self._next + pause, now)
        return True

    def show(self, game: GameEnv, env_step: int) -> None:
        assert self._slot is not None
        facts = game.facts
        self._slot.write(
            game.emulator.screen(),
            env_step=env_step,
            env=self.watched,
            place=(facts.group, facts.room, facts.x, facts.y),
            rooms_visited=game.rooms_visited,
            opinion=self.meter.read() if self.meter is not None and self.is_wanted else None,
        )

    def tell_standings(self, games: Sequence[GameEnv], returns: Sequence[float]) -> None:
        if self._standings is None:
            return
        now = time.monotonic()
        if now < self._next_standing:
            return
        self._next_standing = now + _STANDING_SECONDS
        self._standings.write([_stands(*each) for each in zip(games, returns, strict=True)])

    def close(self) -> None:
        if self._beating is not None:
            self._beating.set()
        for file in (self._slot, self._standings, self._wish, self._ledger):
            if file is not None:
                file.close()


def _stands(game: GameEnv, episode_return: float) -> PlayerPosition:
    facts = game.facts
    return PlayerPosition(
        facts.group, facts.room, facts.x, facts.y, game.rooms_visited, game.steps, episode_return
    )


def _beats(standings: PlayersFile) -> threading.Event:
    """Let the process give signs of life from now on, also while it waits; until the event.

    A runner that waits for the learner lives; one that is stopped or hangs as a whole does not.
    """
    over = threading.Event()

    def beat() -> None:
        while not over.wait(_BEAT_SECONDS):
            with suppress(ValueError):  # closed meanwhile
                standings.beat()

    standings.beat()
    threading.Thread(target=beat, name="sign of life", daemon=True).start()
    return over
