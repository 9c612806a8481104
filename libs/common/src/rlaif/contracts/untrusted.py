"""Parses untrusted JSON into plain values, or raises one error.

For JSON without a pydantic model: `json.loads` raises `RecursionError` on deep nesting, and accepts
NaN, repeated keys and half a surrogate pair.
"""

import json
from collections.abc import Iterable
from typing import Any

MAX_DEPTH = 64
"""Own events and files have at most 6."""


class NotJsonError(ValueError):
    """The bytes are not JSON that can be read, or not JSON that can be written again."""


def read_json(data: bytes | str) -> Any:
    """The value of a JSON text; raises NotJsonError for anything that is not strict JSON."""
    try:
        text = data.decode() if isinstance(data, bytes) else data
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
        # What is still wrong shows when it is written: 1e999 was read as infinity.
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise NotJsonError(f"not JSON: {type(error).__name__}: {error!s:.200}") from error
    if _deeper_than(MAX_DEPTH, value):
        raise NotJsonError(f"not JSON that is read here: nested deeper than {MAX_DEPTH}")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is no number")


def _deeper_than(limit: int, value: Any) -> bool:
    """Level by level, not by recursion."""
    level = _containers([value])
    for _ in range(limit):
        level = _containers(inner for each in level for inner in _inside(each))
    return bool(level)


def _containers(values: Iterable[Any]) -> list[Any]:
    return [each for each in values if isinstance(each, list | dict)]


def _inside(container: list[Any] | dict[str, Any]) -> Iterable[Any]:
    return container.values() if isinstance(container, dict) else container
