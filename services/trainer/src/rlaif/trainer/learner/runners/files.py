"""A runner's access to the run's files, locally or from the driver's machine."""

import hashlib
import tempfile
import threading
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rlaif.contracts.game.names import seed_and_size
from rlaif.files.whole import write_whole
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.run_folder.live_files import SCREENS, ScreenSource
from rlaif.trainer.settings.learning import CurriculumSettings

_SHOW_SECONDS = 0.1
"""Minimum time between two updates of a runner's screen; an update takes 1.5 ms of CPU time."""


class RunnerFiles:
    """A runner's access to the files of the run and of its settings.

    Attributes:
        driver: `RemoteDriverFiles`; None if the run's directory is used directly.
    """

    def __init__(self, driver: str) -> None:
        """Use the `DriverFiles` actor named `driver`; local files if the name is empty."""
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._closed = threading.Event()
        self.driver: Any = None
        if driver:
            # Imported here, because runners on the driver's machine do not need Ray.
            from rlaif.trainer.learner.runners.driver_files import RemoteDriverFiles

            self.driver = RemoteDriverFiles(driver)
            self._folder = tempfile.TemporaryDirectory(
                prefix="rlaif-run-", ignore_cleanup_errors=True
            )

    def environment(self, env: EnvConfig) -> EnvConfig:
        if self._folder is None:
            return env
        rom = env.game.rom_path
        if rom is not None and seed_and_size(rom.parent.name) is not None:
            with suppress(FileNotFoundError):
                self._copied(rom.with_name("guide.md"))  # for the planner
        screens = None if env.screens is None else Path(self._folder.name) / SCREENS
        return replace(env, game=env.game.with_files(self._copied), screens=screens)

    def curriculum(self, settings: CurriculumSettings | None) -> CurriculumSettings | None:
        if settings is None or settings.path is None:
            return settings
        return settings.model_copy(update={"path": self._copied(settings.path)})

    def show_screens(self, env: EnvConfig, runner: int) -> None:
        if self.driver is None or env.screens is None or env.game.watch_fps <= 0:
            return
        # Twice the picture rate, so that no picture is missed.
        pause = max(_SHOW_SECONDS, 0.5 / env.game.watch_fps)
        show = partial(self._show, env.screens, runner, pause)
        threading.Thread(target=show, name="screens", daemon=True).start()

    def close(self) -> None:
        self._closed.set()
        if self._folder is not None:
            self._folder.cleanup()

    def _copied(self, path: Path) -> Path:
        if self._folder is None:
            return path
        # The folder of a world has its name.
        unique = hashlib.sha256(bytes(path.parent)).hexdigest()[:12]
        copy = Path(self._folder.name) / "files" / unique / path.parent.name / path.name
        if not copy.exists():
            for name, data in self.driver.read(path).items():
                write_whole(copy / name, data)
        return copy

    def _show(self, folder: Path, runner: int, pause: float) -> None:
        source = ScreenSource(folder, runner)
        while not self._closed.wait(pause):
            try:
                if (update := source.update()) is not None:
                    source.watch(self.driver.show(update))
            except OSError:  # connection lost or disk full: retried
                source = ScreenSource(folder, runner)
