"""Pictures of the rooms that a run has seen, in its folder until the service has stored them.

Where they are:

    runs/{run_id}/rooms/{group}-{room}.png
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rlaif.files.whole import write_whole

_NAME = re.compile(r"^(?P<group>[0-9]{1,3})-(?P<room>[0-9]{1,3})\.png$")


@dataclass(frozen=True)
class RoomPictures:
    """The pictures of one run."""

    folder: Path

    @classmethod
    def of_run(cls, directory: Path) -> "RoomPictures":
        """Those of the run that keeps its files in `directory`."""
        return cls(directory / "rooms")

    def keep(self, group: int, room: int, png: bytes) -> None:
        """Write one; a disk that does not take it is an `OSError`."""
        write_whole(self.folder / f"{group}-{room}.png", png)

    def all(self) -> Iterator[tuple[int, int, Path]]:
        """(group, room, file) of each."""
        try:
            paths = sorted(self.folder.iterdir())
        except FileNotFoundError:
            return
        for path in paths:
            if match := _NAME.match(path.name):
                yield int(match["group"]), int(match["room"]), path
