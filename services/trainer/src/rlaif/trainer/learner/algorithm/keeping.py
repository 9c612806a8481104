"""The driver's files for runners anywhere in a Ray cluster: an actor, started by the driver.

It runs on the driver's node. Runners know its name, and ask it for the exploration of the run, for
the files that the settings name, and to show their screens. Only a local Ray needs none: its
runners read and write the run's directory themselves.
"""

import hashlib
import tempfile
import threading
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from rlaif.contracts.model import Sha256
from rlaif.files.whole import write_whole
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.exploration.archive_server import (
    Answer,
    ArchiveServer,
    CountFiles,
    Report,
    SentState,
)
from rlaif.trainer.play.exploration.explorer import ExploreConfig
from rlaif.trainer.play.exploration.states import ArchiveIdentity
from rlaif.trainer.run_folder.live_files import SCREENS, ScreenMirror, ScreenSource, ScreenUpdate
from rlaif.trainer.settings.game import ExploreSettings
from rlaif.trainer.settings.learning import CurriculumSettings

ANSWER_SECONDS = 60.0
"""For which a runner stands still at most; the first call waits for the actor to start."""

_SCREENS = "screens"
"""Concurrency group of the actor: pictures do not wait for an exchange of states."""

_SHOW_SECONDS = 0.1
"""Least seconds between two updates of a runner's screen; each takes 1.2 to 1.5 ms of its CPU."""


class DriverFiles(ArchiveServer):
    """What the actor does, on the driver's machine."""

    def __init__(self, directory: Path, settings: ExploreSettings) -> None:
        super().__init__(directory, settings)
        self._screens = ScreenMirror(directory / SCREENS)

    def read(self, path: Path) -> dict[str, bytes]:
        """The files of a folder by name; a file is its only one, under the name ""."""
        found = [each for each in path.iterdir() if each.is_file()] if path.is_dir() else [path]
        return {"" if each == path else each.name: each.read_bytes() for each in found}

    def show(self, update: ScreenUpdate) -> tuple[int, int] | None:
        return self._screens.write(update)


@dataclass(frozen=True)
class RunningArchiveServer:
    """A running archive server; it ends with the last reference to this object.

    Attributes:
        config: For the runners.
    """

    config: ExploreConfig
    actor: Any

    @classmethod
    def start(cls, config: ExploreConfig) -> Self:
        """Serve the run's files to the runners of a Ray cluster."""
        name = f"archive-server-{uuid4().hex}"
        node = ray.get_runtime_context().get_node_id()
        actor = (
            ray.remote(concurrency_groups={_SCREENS: 1})(DriverFiles)
            .options(
                name=name,
                num_cpus=0,
                max_restarts=-1,  # all it knows is on disk
                scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
            )
            .remote(config.directory, config.settings)
        )
        return cls(replace(config, archive_server=name), actor)


class RemoteArchiveServer:
    """A `ArchiveServerPort` that asks the actor."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._actor: Any = None

    def files_of(self, identity: ArchiveIdentity, runner: int) -> CountFiles:
        files: CountFiles = self._ask("files_of", identity, runner)
        return files

    def exchange(self, identity: ArchiveIdentity, report: Report) -> Answer:
        answer: Answer = self._ask("exchange", identity, report)
        return answer

    def take(self, identity: ArchiveIdentity, states: tuple[SentState, ...]) -> None:
        self._ask("take", identity, states)

    def collect(self, identity: ArchiveIdentity, played_from: Collection[Sha256]) -> None:
        self._ask("collect", identity, played_from)

    def read(self, path: Path) -> dict[str, bytes]:
        return self._ask("read", path)  # type: ignore[no-any-return]  # ray has no types

    def show(self, update: ScreenUpdate) -> tuple[int, int] | None:
        return self._ask("show", update, group=_SCREENS)  # type: ignore[no-any-return]  # likewise

    def _ask(self, method: str, *arguments: Any, group: str | None = None) -> Any:
        try:
            if self._actor is None:
                self._actor = ray.get_actor(self._name)
            call = getattr(self._actor, method).options(concurrency_group=group)
            return ray.get(call.remote(*arguments), timeout=ANSWER_SECONDS)
        except RayTaskError as error:
            raise error.cause from error
        except (RayError, ValueError) as error:
            raise ConnectionError(f"the driver's machine does not answer: {error}") from error


class RunnerFiles:
    """How one runner reaches the files of the run and of its settings.

    Attributes:
        `archive_server`: Archive server; None where the run's directory is used directly.
    """

    def __init__(self, explore: ExploreConfig | None) -> None:
        self._explore = explore
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._closed = threading.Event()
        self.archive_server: RemoteArchiveServer | None = None
        if explore is None or not explore.archive_server:
            return
        self.archive_server = RemoteArchiveServer(explore.archive_server)
        self._folder = tempfile.TemporaryDirectory(prefix="rlaif-run-", ignore_cleanup_errors=True)

    @property
    def exploration(self) -> ExploreConfig | None:
        """With a local directory when there is an archive server."""
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
        # Looks twice as often as pictures are drawn, or some would be missed.
        pause = max(_SHOW_SECONDS, 0.5 / env.game.watch_fps)
        show = partial(_show, self.archive_server, env.screens, runner, pause, self._closed)
        threading.Thread(target=show, name="screens", daemon=True).start()

    def close(self) -> None:
        self._closed.set()
        if self._folder is not None:
            self._folder.cleanup()

    def _copied(self, path: Path) -> Path:
        if self._folder is None or self.archive_server is None:
            return path
        apart = hashlib.sha256(bytes(path)).hexdigest()[:12]
        copy = Path(self._folder.name) / "files" / apart / path.name
        if copy.exists():
            return copy
        for name, data in self.archive_server.read(path).items():
            write_whole(copy / name, data)
        return copy


def _show(
    archive_server: RemoteArchiveServer,
    folder: Path,
    runner: int,
    pause: float,
    closed: threading.Event,
) -> None:
    source = ScreenSource(folder, runner)
    while not closed.wait(pause):
        try:
            if (update := source.update()) is not None:
                source.watch(archive_server.show(update))
        except OSError:  # no answer, or a full disk there: shown again once that is over
            source = ScreenSource(folder, runner)
