"""The picture of the environment that people watch, so many times a second, into its file."""

import time
from pathlib import Path

from rlaif.trainer.play.followers.pay_meter import PayMeter
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.run_folder.screen import ScreenSlot


class ScreenFeed:
    """Shows one environment; nobody sees it while the disk does not take the file.

    Attributes:
        meter: What the reward model says of that environment; None when nobody watches.
    """

    def __init__(self, path: Path | None, fps: float) -> None:
        self._path = path if fps > 0 else None
        self._fps = fps
        self._next = 0.0
        self._slot: ScreenSlot | None = None
        self.meter = PayMeter() if self._path is not None else None
        self.open()

    def open(self) -> None:
        """Make the file, unless it is there; asked again for each fragment."""
        if self._path is None or self._slot is not None:
            return
        try:
            self._slot = ScreenSlot(self._path, create=True)
        except OSError:
            return

    def is_due(self) -> bool:
        """Whether the environment draws this step; drawing does not touch its RAM."""
        if self._slot is None:
            return False
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + 1.0 / self._fps
        return True

    def show(self, game: GameEnv, env_step: int) -> None:
        """Write the picture that `game` has drawn; after `is_due` alone."""
        assert self._slot is not None
        facts = game.facts
        self._slot.write(
            game.emulator.screen(),
            env_step=env_step,
            place=(facts.group, facts.room, facts.x, facts.y),
            rooms_visited=game.rooms_visited,
            opinion=self.meter.read() if self.meter is not None else None,
        )

    def close(self) -> None:
        """Close the file."""
        if self._slot is not None:
            self._slot.close()
