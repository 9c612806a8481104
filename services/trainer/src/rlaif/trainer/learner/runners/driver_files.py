"""File server for runners on other machines of a Ray cluster."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from rlaif.trainer.run_folder.live_files import SCREENS, ScreenMirror, ScreenUpdate

ANSWER_SECONDS = 60.0
"""Maximum wait of a runner for a result; the first call includes the start of the actor."""

_SCREENS = "screens"
"""Concurrency group of the actor, so that screens do not wait for other files."""


class DriverFiles:
    """Actor on the driver's node that gives runners on other machines access to its files.

    Runners read the files named in the settings and write their screens.
    """

    def __init__(self, directory: Path) -> None:
        self._screens = ScreenMirror(directory / SCREENS)

    def read(self, path: Path) -> dict[str, bytes]:
        """Return the files of a folder by name, or a single file under the name ""."""
        found = [each for each in path.iterdir() if each.is_file()] if path.is_dir() else [path]
        return {"" if each == path else each.name: each.read_bytes() for each in found}

    @ray.method(concurrency_group=_SCREENS)  # type: ignore[untyped-decorator]  # ray has no types
    def show(self, update: ScreenUpdate) -> tuple[int, int] | None:
        return self._screens.write(update)


@dataclass(frozen=True)
class RunningDriverFiles:
    """A running actor, which ends with the last reference to this object.

    Attributes:
        name: Actor name, which the runners need.
    """

    name: str
    actor: Any

    @classmethod
    def start(cls, directory: Path) -> Self:
        name = f"driver-files-{uuid4().hex}"
        node = ray.get_runtime_context().get_node_id()
        actor = (
            ray.remote(concurrency_groups={_SCREENS: 1})(DriverFiles)
            .options(
                name=name,
                num_cpus=0,
                max_restarts=-1,
                scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
            )
            .remote(directory)
        )
        return cls(name, actor)


class RemoteDriverFiles:
    """Calls methods of `DriverFiles` on the actor; raises ConnectionError if it fails."""

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
