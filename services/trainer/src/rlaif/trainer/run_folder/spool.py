"""Files of a run that wait for upload: captures, and pictures of rooms.

The training process writes them atomically; the service uploads them, including those of a killed
process. A capture's file contains the capture and its keyframe.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rlaif.contracts.game.captures import Capture
from rlaif.files.whole import write_whole
from rlaif.trainer.run_folder import disk

_SUFFIX = ".capture"

_ROOM_NAME = re.compile(r"^(?P<group>[0-9]{1,3})-(?P<room>[0-9]{1,3})\.png$")


@dataclass(frozen=True)
class SpooledCapture:
    """A capture, as stored under `captures/`, and its keyframe, zstd, as under `keyframes/`."""

    capture: Capture
    keyframe: bytes

    def pack(self) -> bytes:
        """One line of JSON, then the keyframe's bytes."""
        return self.capture.model_dump_json().encode() + b"\n" + self.keyframe

    @classmethod
    def unpack(cls, data: bytes) -> "SpooledCapture":
        """Read what `pack` wrote; raises `ValueError` for anything else."""
        head, _, keyframe = data.partition(b"\n")
        return cls(Capture.model_validate_json(head), keyframe)


@dataclass(frozen=True)
class Spool:
    """A directory of `*.capture` files, of which `limit` may wait; None for no limit."""

    directory: Path
    limit: int | None = None

    def prepare(self) -> None:
        """Create the directory and delete incomplete files of a killed writer."""
        self.directory.mkdir(parents=True, exist_ok=True)
        for path in self.directory.glob("*.partial"):
            path.unlink()

    def offer(self, item: SpooledCapture) -> str | None:
        """Queue a capture, or return why it is dropped: training never waits for a full disk."""
        try:
            if self.limit is not None and self.count() >= self.limit:
                return f"{self.limit} captures are in the spool already"
            self.write(item)
        except OSError as error:
            return f"the spool cannot be written: {disk.why(error)}"
        return None

    def write(self, item: SpooledCapture) -> None:
        write_whole(self.directory / f"{item.capture.segment_id}{_SUFFIX}", item.pack())

    def waiting(self) -> Iterator[Path]:
        paths = list(self.directory.glob(f"*{_SUFFIX}"))
        yield from sorted(paths, key=lambda path: (path.stat().st_mtime_ns, path.name))

    def count(self) -> int:
        return sum(1 for _ in self.directory.glob(f"*{_SUFFIX}"))


@dataclass(frozen=True)
class RoomPictures:
    """Pictures of the rooms that a run has visited: `runs/{run_id}/rooms/{group}-{room}.png`."""

    folder: Path

    @classmethod
    def of_run(cls, directory: Path) -> "RoomPictures":
        return cls(directory / "rooms")

    def keep(self, group: int, room: int, png: bytes) -> None:
        write_whole(self.folder / f"{group}-{room}.png", png)

    def all(self) -> Iterator[tuple[int, int, Path]]:
        """(group, room, file) of each."""
        try:
            paths = sorted(self.folder.iterdir())
        except FileNotFoundError:
            return
        for path in paths:
            if match := _ROOM_NAME.match(path.name):
                yield int(match["group"]), int(match["room"]), path
