"""Access to the run's files for runners on other machines: an actor on the driver's node.

Runners use it to exchange archived states, to read the files that settings name, and to show their
screens. With a local Ray they use the run's directory themselves.
"""

import hashlib
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from rlaif.files.whole import write_whole
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.exploration.archive_server import ArchiveServer
from rlaif.trainer.play.exploration.explorer import ExploreConfig
from rlaif.trainer.run_folder.live_files import SCREENS, ScreenMirror, ScreenSource, ScreenUpdate
from rlaif.trainer.settings.game import ExploreSettings
from rlaif.trainer.settings.learning import CurriculumSettings

ANSWER_SECONDS = 60.0
"""Maximum time that a runner waits; the first call waits for the actor to start."""

_SCREENS = "screens"
"""Concurrency group of the actor: screens do not wait for an exchange of states."""

_SHOW_SECONDS = 0.1
"""Minimum time between two updates of a runner's screen, each of which takes 1.5 ms of CPU."""


class DriverFiles(ArchiveServer):
    """The actor."""

    def __init__(self, directory: Path, settings: ExploreSettings) -> None:
        super().__init__(directory, settings)
        self._screens = ScreenMirror(directory / SCREENS)

    def read(self, path: Path) -> dict[str, bytes]:
        """The files of a folder by name, or a single file under the name ""."""
        found = [each for each in path.iterdir() if each.is_file()] if path.is_dir() else [path]
        return {"" if each == path else each.name: each.read_bytes() for each in found}

    @ray.method(concurrency_group=_SCREENS)  # type: ignore[untyped-decorator]  # ray has no types
    def show(self, update: ScreenUpdate) -> tuple[int, int] | None:
        return self._screens.write(update)


@dataclass(frozen=True)
class RunningArchiveServer:
    """A running actor, which ends with the last reference to this object.

    Attributes:
        config: For the runners.
    """

    config: ExploreConfig
    actor: Any

    @classmethod
    def start(cls, config: ExploreConfig) -> Self:
        name = f"archive-server-{uuid4().hex}"
        node = ray.get_runtime_context().get_node_id()
        actor = (
            ray.remote(concurrency_groups={_SCREENS: 1})(DriverFiles)
            .options(
                name=name,
                num_cpus=0,
                max_restarts=-1,  # its state is on disk
                scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
            )
            .remote(config.directory, config.settings)
        )
        return cls(replace(config, archive_server=name), actor)


class RemoteDriverFiles:
    """The methods of `DriverFiles`, called on the actor; ConnectionError without an answer."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._actor: Any = None

    def __getattr__(self, method: str) -> Callable[..., Any]:
        return partial(self._call, method)

    def _call(self, method: str, *arguments: Any) -> Any:
        try:
            if self._actor is None:
                self._actor = ray.get_actor(self._name)
            return ray.get(getattr(self._actor, method).remote(*arguments), timeout=ANSWER_SECONDS)
        except RayTaskError as error:
            raise error.cause from error
        except (RayError, ValueError) as error:
            raise ConnectionError(f"the driver's machine does not answer: {error}") from error


class RunnerFiles:
    """A runner's access to the files of the run and of its settings.

    Attributes:
        archive_server: `RemoteDriverFiles`; None if the run's directory is used directly.
    """

    def __init__(self, explore: ExploreConfig | None) -> None:
        self._explore = explore
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._closed = threading.Event()
        self.archive_server: Any = None
        if explore is not None and explore.archive_server:
            self.archive_server = RemoteDriverFiles(explore.archive_server)
            self._folder = tempfile.TemporaryDirectory(
                prefix="rlaif-run-", ignore_cleanup_errors=True
            )

    @property
    def exploration(self) -> ExploreConfig | None:
        if self._explore is None or self._folder is None:
            return self._explore
        return replace(self._explore, directory=Path(self._folder.name))

    def environment(self, env: EnvConfig) -> EnvConfig:
        if self._folder is None:
            return env
        screens = None if env.screens is None else Path(self._folder.name) / SCREENS
        return replace(env, game=env.game.with_files(self._copied), screens=screens)

    def curriculum(self, settings: CurriculumSettings | None) -> CurriculumSettings | None:
        if settings is None or settings.path is None:
            return settings
        return settings.model_copy(update={"path": self._copied(settings.path)})

    def show_screens(self, env: EnvConfig, runner: int) -> None:
        if self.archive_server is None or env.screens is None or env.game.watch_fps <= 0:
            return
        # Twice as often as pictures are drawn, or some would be missed.
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
        unique = hashlib.sha256(bytes(path)).hexdigest()[:12]
        copy = Path(self._folder.name) / "files" / unique / path.name
        if not copy.exists():
            for name, data in self.archive_server.read(path).items():
                write_whole(copy / name, data)
        return copy

    def _show(self, folder: Path, runner: int, pause: float) -> None:
        source = ScreenSource(folder, runner)
        while not self._closed.wait(pause):
            try:
                if (update := source.update()) is not None:
                    source.watch(self.archive_server.show(update))
            except OSError:  # no answer, or a full disk: shown again later
                source = ScreenSource(folder, runner)
