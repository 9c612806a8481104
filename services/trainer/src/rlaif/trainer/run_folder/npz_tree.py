"""Plain values and arrays as one `.npz` file without pickle, for the state of a process.

A tree is None, bool, int of any size, float, str, bytes, numpy arrays and numbers, and lists,
tuples, sets and dicts of trees; keys are str or int. The round trip is exact, including types.
"""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Tree = Any
"""See above; a recursive type would be less readable."""

_TREE = "tree"
_TAG = "$"


class NpzTreeError(ValueError):
    """The file has another format, or is truncated."""


def write(path: Path, tree: Tree) -> None:
    """Write a tree; raises `TypeError` if it contains another type."""
    path.write_bytes(packed(tree))


def read(path: Path) -> Tree:
    """Read what `write` wrote; raises `NpzTreeError` for anything else."""
    try:
        return unpacked(path.read_bytes())
    except NpzTreeError as error:
        raise NpzTreeError(f"{path} cannot be read: {error}") from error


def packed(tree: Tree) -> bytes:
    """Return a tree as bytes of such a file; raises `TypeError` if it contains another type."""
    arrays: list[npt.NDArray[Any]] = []
    text = json.dumps(_pack(tree, arrays), allow_nan=True)
    named = {f"a{index}": array for index, array in enumerate(arrays)}
    buffer = io.BytesIO()
    np.savez(
        buffer,
        allow_pickle=False,
        **{_TREE: np.frombuffer(text.encode(), dtype=np.uint8)},
        **named,
    )
    return buffer.getvalue()


def unpacked(data: bytes) -> Tree:
    """Read the bytes that `packed` returned; raises `NpzTreeError` for anything else."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            return _unpack(json.loads(file[_TREE].tobytes()), file)
    except (ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile) as error:
        raise NpzTreeError(str(error)) from error


def _pack(value: Tree, arrays: list[npt.NDArray[Any]]) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.hasobject:
            raise TypeError(f"an array of dtype {value.dtype} cannot be stored without pickle")
        return _array(value, arrays, "scalar" if isinstance(value, np.generic) else "array")
    if isinstance(value, int | float):
        return value
    if isinstance(value, bytes):
        return _array(np.frombuffer(value, dtype=np.uint8), arrays, "bytes")
    if isinstance(value, list):
        return [_pack(item, arrays) for item in value]
    if isinstance(value, tuple):
        return {_TAG: "tuple", "items": [_pack(item, arrays) for item in value]}
    if isinstance(value, set | frozenset):
        return {_TAG: "set", "items": [_pack(item, arrays) for item in sorted(value)]}
    if isinstance(value, dict):
        return {
            _TAG: "dict",
            "items": [[_key(key), _pack(item, arrays)] for key, item in value.items()],
        }
    raise TypeError(f"a {type(value).__name__} cannot be stored in a checkpoint: use plain values")


def _key(key: object) -> str | int:
    if isinstance(key, str | int) and not isinstance(key, bool):
        return key
    raise TypeError(f"the key {key!r} is neither text nor an integer")


def _array(value: Any, arrays: list[npt.NDArray[Any]], kind: str) -> dict[str, Any]:
    arrays.append(np.asarray(value))
    return {_TAG: kind, "at": len(arrays) - 1}


def _unpack(packed: Any, file: Any) -> Tree:
    if isinstance(packed, list):
        return [_unpack(item, file) for item in packed]
    if not isinstance(packed, dict):
        return packed
    kind = packed[_TAG]
    if kind in ("array", "scalar", "bytes"):
        array = file[f"a{packed['at']}"]
        return {"array": lambda: array, "scalar": lambda: array[()], "bytes": array.tobytes}[kind]()
    if kind == "dict":
        return {key: _unpack(item, file) for key, item in packed["items"]}
    items = [_unpack(item, file) for item in packed["items"]]
    return tuple(items) if kind == "tuple" else set(items)
