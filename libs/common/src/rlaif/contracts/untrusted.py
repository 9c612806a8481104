"""Parses untrusted JSON into plain values, or raises one error.

For JSON without a pydantic model: `json.loads` raises `RecursionError` on deep nesting, and accepts
NaN, repeated keys and lone surrogates.
"""

import json
from collections.abc import Iterable
from typing import Any

MAX_DEPTH = 64
"""Maximum nesting; own events and files have at most 6 levels."""


class NotJsonError(ValueError):
    """The bytes are not valid JSON, or cannot be serialized again."""


def read_json(data: bytes | str) -> Any:
    """Parse strict JSON; raises NotJsonError for anything else."""
    try:
        text = data.decode() if isinstance(data, bytes) else data
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
        # Serializing finds the remaining faults: 1e999 is parsed as infinity.
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise NotJsonError(f"not JSON: {type(error).__name__}: {error!s:.200}") from error
    if _deeper_than(MAX_DEPTH, value):
        raise NotJsonError(f"JSON is nested deeper than {MAX_DEPTH} levels")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not a number")


def _deeper_than(limit: int, value: Any) -> bool:
    """Whether the nesting exceeds `limit`; checked iteratively, level by level."""
    level = _containers([value])
    for _ in range(limit):
        level = _containers(inner for each in level for inner in _inside(each))
    return bool(level)


def _containers(values: Iterable[Any]) -> list[Any]:
    return [each for each in values if isinstance(each, list | dict)]


def _inside(container: list[Any] | dict[str, Any]) -> Iterable[Any]:
    return container.values() if isinstance(container, dict) else container
