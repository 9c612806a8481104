"""The keeper of a run's exploration as a Ray actor: started by the driver, found by the runners.

A mark in the run's directory holds its name. A runner that reads the mark sees that directory, on
the driver's machine or a shared disk, and exchanges files there; another one asks the actor, which
runs on the driver's node.
"""

import tempfile
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import ray
from ray.exceptions import GetTimeoutError, RayActorError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from rlaif.contracts.ids import Sha256
from rlaif.files.whole import write_whole
from rlaif.trainer.play.exploration.explorer import ExploreConfig
from rlaif.trainer.play.exploration.keeper import (
    Answer,
    CountFiles,
    Keeper,
    Report,
    SentState,
)
from rlaif.trainer.play.exploration.states import ArchiveIdentity
from rlaif.trainer.run_folder.exploration_file import EXPLORATION_DIR

_MARK = ".keeper"
"""Hidden: checkpoints leave it out."""

ANSWER_SECONDS = 60.0
"""For which a runner stands still at most; the first call waits for the actor to start."""


@dataclass(frozen=True)
class RunningKeeper:
    """A keeper that was started; it ends when nobody holds this any more.

    Attributes:
        config: For the runners.
    """

    config: ExploreConfig
    actor: Any

    @classmethod
    def start(cls, config: ExploreConfig) -> Self:
        """Keep the exploration of the run for runners on other machines of Ray's cluster."""
        name = f"keeper-{uuid4().hex}"
        write_whole(config.directory / EXPLORATION_DIR / _MARK, name.encode())
        node = ray.get_runtime_context().get_node_id()
        actor = (
            ray.remote(Keeper)
            .options(
                name=name,
                num_cpus=0,
                max_restarts=-1,  # all it knows is on disk
                scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
            )
            .remote(config.directory, config.settings)
        )
        return cls(replace(config, keeper=name), actor)


class RemoteKeeper:
    """A `KeeperPort` that asks the actor."""

    def __init__(self, name: str) -> None:
        self._name = name

    def files_of(self, identity: ArchiveIdentity, runner: int) -> CountFiles:
        """See `Keeper`."""
        files: CountFiles = self._ask("files_of", identity, runner)
        return files

    def exchange(self, identity: ArchiveIdentity, report: Report) -> Answer:
        """See `Keeper`."""
        answer: Answer = self._ask("exchange", identity, report)
        return answer

    def take(self, identity: ArchiveIdentity, states: tuple[SentState, ...]) -> None:
        """See `Keeper`."""
        self._ask("take", identity, states)

    def collect(self, identity: ArchiveIdentity, played_from: Collection[Sha256]) -> None:
        """See `Keeper`."""
        self._ask("collect", identity, played_from)

    def _ask(self, method: str, *arguments: Any) -> Any:
        """Call it, and raise what it raised; no answer is a ConnectionError."""
        try:
            actor = ray.get_actor(self._name)
            return ray.get(getattr(actor, method).remote(*arguments), timeout=ANSWER_SECONDS)
        except RayTaskError as error:
            raise error.cause from error
        except (RayActorError, GetTimeoutError, ValueError) as error:
            raise ConnectionError(
                f"the driver's archive of states does not answer: {error}"
            ) from error


@dataclass(frozen=True)
class RunnerExploration:
    """How one runner reaches the exploration of the run.

    Attributes:
        config: With a directory of this runner's own when there is a keeper to ask.
        folder: That directory; it is removed with this.
    """

    config: ExploreConfig
    keeper: RemoteKeeper | None = None
    folder: "tempfile.TemporaryDirectory[str] | None" = None

    @classmethod
    def of(cls, config: ExploreConfig) -> Self:
        """By files where the run's directory is there, by its keeper elsewhere."""
        if not config.keeper or _marked(config.directory) == config.keeper:
            return cls(config)
        folder = tempfile.TemporaryDirectory(
            prefix="rlaif-exploration-", ignore_cleanup_errors=True
        )
        own = replace(config, directory=Path(folder.name))
        return cls(own, RemoteKeeper(config.keeper), folder)


def _marked(directory: Path) -> str | None:
    with suppress(OSError):
        return (directory / EXPLORATION_DIR / _MARK).read_text()
    return None
