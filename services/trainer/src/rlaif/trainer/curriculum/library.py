"""Demonstrations on disk: written whole or not at all, checked by digest when they are read.

    demonstrations.json     which there are, with digest, and what all of them depend on
    {name}.npz.zst          one of them: arrays, marks, save states

The folder appears by rename, so that a reader finds all of it or none.
"""

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import zstandard
from pydantic import BaseModel, ConfigDict, ValidationError

from rlaif.contracts.ids import Sha256
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
_LARGEST_BYTES = 1 << 30
"""Unpacked; a day of play is some 100 MB."""


class DemonstrationsError(Exception):
    """The folder holds no demonstrations that this run can use; the message says why."""


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
    """Write all of them into a folder that takes the place of one that was there.

    Raises:
        ValueError: There are none, two have one name, or they are not of one identity.
        OSError: The disk does not take them; the old folder is as it was.
    """
    names = [each.name for each in demonstrations]
    if not demonstrations or len(set(names)) < len(names):
        raise ValueError(f"demonstrations {names}: give at least one, and each a name of its own")
    identity = demonstrations[0].identity
    for each in demonstrations:
        if (why := identity.mismatch(each.identity)) is not None:
            raise ValueError(f"demonstrations {names[0]} and {each.name} do not fit: {why}")
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
    """All demonstrations of a folder, in the order in which they were written.

    Raises:
        DemonstrationsError: There are none, one is damaged, or they are of another game, emulator
            or set of decisions.
    """
    try:
        listing = _Listing.model_validate_json((directory / _LIST).read_bytes())
    except (OSError, ValidationError) as error:
        raise DemonstrationsError(
            f"{directory} holds no demonstrations: {error}; let a search find some first"
        ) from error
    if (why := listing.identity.mismatch(identity)) is not None:
        raise DemonstrationsError(
            f"the demonstrations in {directory} are of {why}; make them again for this run"
        )
    return tuple(_read(directory, entry, listing.identity) for entry in listing.demonstrations)


def exists(directory: Path) -> bool:
    """Whether a folder of demonstrations is there."""
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
            raise ValueError(f"it has digest {found[:12]}, the list names {entry.sha256[:12]}")
        data = zstandard.ZstdDecompressor().decompress(packed, max_output_size=_LARGEST_BYTES)
        return _of(npz_tree.unpacked(data), entry.name, identity)
    except (OSError, ValueError, KeyError, TypeError, zstandard.ZstdError) as error:
        raise DemonstrationsError(f"{path} cannot be used: {error}; make it again") from error


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
