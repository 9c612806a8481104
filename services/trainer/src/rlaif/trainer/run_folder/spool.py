"""The outbox of a run: captures wait here, on local disk, until they are in the object store.

The training process writes, the service reads and deletes. A file holds one capture and the save
state that it names, and appears whole, by rename, or not at all. What a killed process left behind
is found again at the next start.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rlaif.contracts.captures import Capture
from rlaif.files.whole import write_whole
from rlaif.trainer.run_folder import disk

_SUFFIX = ".capture"


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
        """Create the directory and drop what a killed writer left half-done."""
        self.directory.mkdir(parents=True, exist_ok=True)
        for path in self.directory.glob("*.partial"):
            path.unlink()

    def offer(self, item: SpooledCapture) -> str | None:
        """Queue a capture, or say why it is dropped: training never waits for a full disk."""
        try:
            if self.limit is not None and self.count() >= self.limit:
                return f"{self.limit} captures wait in the spool already"
            self.write(item)
        except OSError as error:
            return f"the spool cannot be written: {disk.why(error)}"
        return None

    def write(self, item: SpooledCapture) -> None:
        """Queue a capture."""
        write_whole(self.directory / f"{item.capture.segment_id}{_SUFFIX}", item.pack())

    def waiting(self) -> Iterator[Path]:
        """Files that wait, the oldest first."""
        paths = list(self.directory.glob(f"*{_SUFFIX}"))
        yield from sorted(paths, key=lambda path: (path.stat().st_mtime_ns, path.name))

    def count(self) -> int:
        """How many captures wait."""
        return sum(1 for _ in self.directory.glob(f"*{_SUFFIX}"))
