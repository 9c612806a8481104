"""Demonstrations on disk: written atomically, and verified by digest when they are read.

    demonstrations.json     names and digests of all demonstrations, and their identity
    {name}.npz.zst          one demonstration: arrays, flags, save states

The folder is moved into place by rename, so readers never see a partial one.
"""

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import zstandard
from pydantic import BaseModel, ConfigDict, ValidationError

from rlaif.contracts.model import Sha256
from rlaif.game.captures.capture import PackedKeyframe
from rlaif.trainer.curriculum.demonstrations import (
    Demonstration,
    DemonstrationIdentity,
    KeptState,
    Reached,
)
from rlaif.trainer.run_folder import npz_tree

_LIST = "demonstrations.json"
_PARTIAL = ".partial_"
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
    """Write all demonstrations into a folder, and replace the one that exists.

    Raises:
        ValueError: There are none, two have the same name, or their identities differ.
        OSError: Writing failed; the old folder is unchanged.
    """
    names = [each.name for each in demonstrations]
    if not demonstrations or len(set(names)) < len(names):
        raise ValueError(
            f"demonstrations {names}: at least one is required, and names must be unique"
        )
    identity = demonstrations[0].identity
    for each in demonstrations:
        if (difference := identity.mismatch(each.identity)) is not None:
            raise ValueError(f"demonstrations {names[0]} and {each.name} differ: {difference}")
    partial = directory.with_name(f"{_PARTIAL}{directory.name}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        entries = [_written(partial, each) for each in demonstrations]
        listing = _Listing(identity=identity, demonstrations=tuple(entries))
        (partial / _LIST).write_text(listing.model_dump_json(indent=1))
        old = directory.with_name(f"{_PARTIAL}old_{directory.name}")
        shutil.rmtree(old, ignore_errors=True)
        if directory.exists():
            directory.rename(old)
        partial.rename(directory)
        shutil.rmtree(old, ignore_errors=True)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def read(directory: Path, identity: DemonstrationIdentity) -> tuple[Demonstration, ...]:
    """Read all demonstrations of a folder, in the order in which they were written.

    Raises:
        DemonstrationsError: There are none, one is damaged, or they are of another game, emulator
            or action set.
    """
    try:
        listing = _Listing.model_validate_json((directory / _LIST).read_bytes())
    except (OSError, ValidationError) as error:
        raise DemonstrationsError(
            f"{directory} contains no demonstrations: {error}; run a search first"
        ) from error
    if (difference := listing.identity.mismatch(identity)) is not None:
        raise DemonstrationsError(
            f"the demonstrations in {directory} have {difference}; build them again for this run"
        )
    return tuple(_read(directory, entry, listing.identity) for entry in listing.demonstrations)


def exists(directory: Path) -> bool:
    """Whether the folder contains demonstrations."""
    return (directory / _LIST).is_file()


def _written(folder: Path, demonstration: Demonstration) -> _Entry:
    tree = npz_tree.packed(_plain(demonstration))
    packed = zstandard.ZstdCompressor(level=3).compress(tree)
    _file(folder, demonstration.name).write_bytes(packed)
    return _Entry(name=demonstration.name, sha256=hashlib.sha256(packed).hexdigest())


def _read(folder: Path, entry: _Entry, identity: DemonstrationIdentity) -> Demonstration:
    path = _file(folder, entry.name)
    try:
        packed = path.read_bytes()
        found = hashlib.sha256(packed).hexdigest()
        if found != entry.sha256:
            raise ValueError(f"its digest is {found[:12]}, expected {entry.sha256[:12]}")
        data = zstandard.ZstdDecompressor().decompress(packed, max_output_size=_MAX_BYTES)
        return _of(npz_tree.unpacked(data), entry.name, identity)
    except (OSError, ValueError, KeyError, TypeError, zstandard.ZstdError) as error:
        raise DemonstrationsError(f"{path} cannot be used: {error}; build it again") from error


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.npz.zst"


_ARRAYS = ("decisions", "imitated", "frames", "rewards", "observations", "policy_inputs")


def _plain(demonstration: Demonstration) -> dict[str, Any]:
    return {
        **{name: getattr(demonstration, name) for name in _ARRAYS},
        "reached": [(each.at, set(each.marks)) for each in demonstration.reached],
        "states": [
            (each.at, each.keyframe.data, each.keyframe.sha256, each.ram_sha256)
            for each in demonstration.states
        ],
        "part_of": demonstration.part_of,
    }


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
