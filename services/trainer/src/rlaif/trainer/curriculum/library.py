"""Demonstrations on disk: written atomically, and verified by digest when they are read.

    demonstrations.json     names and digests of all demonstrations, and their identity
    {name}.npz.zst          one demonstration: arrays, flags, save states

The list is written last and replaces the one of the demonstrations before.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import zstandard
from pydantic import BaseModel, ConfigDict, ValidationError

from rlaif.contracts.model import Sha256
from rlaif.files.whole import drop_partial, write_whole
from rlaif.game.captures.capture import PackedKeyframe
from rlaif.trainer.curriculum.demonstrations import (
    Demonstration,
    DemonstrationIdentity,
    KeptState,
    Reached,
)
from rlaif.trainer.run_folder import npz_tree

_LIST = "demonstrations.json"
_SUFFIX = ".npz.zst"
_MAX_BYTES = 1 << 30
"""Limit of the unpacked size; a day of play takes about 100 MB."""


class DemonstrationsError(Exception):
    """The folder contains no demonstrations that this run can use."""


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    sha256: Sha256


class _Listing(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    identity: DemonstrationIdentity
    demonstrations: tuple[_Entry, ...]


def write(directory: Path, demonstrations: Sequence[Demonstration]) -> None:
    """Write at least one demonstration of one identity into a folder, instead of those in it."""
    files = {f"{each.name}{_SUFFIX}": _packed(each) for each in demonstrations}
    for name, data in files.items():
        write_whole(directory / name, data)
    listing = _Listing(
        identity=demonstrations[0].identity,
        demonstrations=tuple(
            _Entry(name=name.removesuffix(_SUFFIX), sha256=hashlib.sha256(data).hexdigest())
            for name, data in files.items()
        ),
    )
    write_whole(directory / _LIST, listing.model_dump_json(indent=1).encode())
    drop_partial(directory)
    for path in directory.glob(f"*{_SUFFIX}"):
        if path.name not in files:
            path.unlink()


def read(directory: Path, identity: DemonstrationIdentity) -> tuple[Demonstration, ...]:
    """Read all demonstrations of a folder, in the order in which they were written.

    Raises:
        DemonstrationsError: There are none, one is damaged, or they are of another game, emulator
            or action set.
    """
    listing = _listing(directory)
    if (difference := listing.identity.mismatch(identity)) is not None:
        raise DemonstrationsError(
            f"the demonstrations in {directory} have {difference}; build them again for this run"
        )
    return tuple(_read(directory, entry, listing.identity) for entry in listing.demonstrations)


def exists(directory: Path) -> bool:
    """Whether the folder contains demonstrations."""
    return (directory / _LIST).is_file()


def count(directory: Path) -> int:
    """Return the number of demonstrations in a folder; DemonstrationsError if there is none."""
    return len(_listing(directory).demonstrations)


def _listing(directory: Path) -> _Listing:
    try:
        return _Listing.model_validate_json((directory / _LIST).read_bytes())
    except (OSError, ValidationError) as error:
        raise DemonstrationsError(
            f"{directory} contains no demonstrations: {error}; run a search first"
        ) from error


def _read(folder: Path, entry: _Entry, identity: DemonstrationIdentity) -> Demonstration:
    path = folder / f"{entry.name}{_SUFFIX}"
    try:
        packed = path.read_bytes()
        found = hashlib.sha256(packed).hexdigest()
        if found != entry.sha256:
            raise ValueError(f"its digest is {found[:12]}, expected {entry.sha256[:12]}")
        data = zstandard.ZstdDecompressor().decompress(packed, max_output_size=_MAX_BYTES)
        return _of(npz_tree.unpacked(data), entry.name, identity)
    except (OSError, ValueError, KeyError, TypeError, zstandard.ZstdError) as error:
        raise DemonstrationsError(f"{path} cannot be used: {error}; build it again") from error


_ARRAYS = ("decisions", "imitated", "frames", "rewards", "observations", "policy_inputs")


def _packed(demonstration: Demonstration) -> bytes:
    tree = {
        **{name: getattr(demonstration, name) for name in _ARRAYS},
        "reached": [(each.at, set(each.marks)) for each in demonstration.reached],
        "states": [
            (each.at, each.keyframe.data, each.keyframe.sha256, each.ram_sha256)
            for each in demonstration.states
        ],
        "part_of": demonstration.part_of,
    }
    return zstandard.ZstdCompressor(level=3).compress(npz_tree.packed(tree))


def _of(tree: Any, name: str, identity: DemonstrationIdentity) -> Demonstration:
    return Demonstration(
        name=name,
        identity=identity,
        **{each: tree[each] for each in _ARRAYS},
        reached=tuple(Reached(at, frozenset(marks)) for at, marks in tree["reached"]),
        states=tuple(
            KeptState(at, PackedKeyframe(data, sha256), ram)
            for at, data, sha256, ram in tree["states"]
        ),
        part_of=tree["part_of"],
    )
