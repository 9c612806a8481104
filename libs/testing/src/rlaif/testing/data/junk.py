"""Invalid contents of a JSON object, one of each kind that caused a failure."""

import json
from typing import Any

JUNK: dict[str, bytes] = {
    "empty": b"",
    "zeros": bytes(64),
    "binary": b"\xff\xfe\x00\x9f\x92\x96",
    "text": b"<html>502 Bad Gateway</html>",
    "null": b"null",
    "a number": b"7",
    "a huge number": b"9" * 5_000,
    "a list": b"[]",
    "another object": b'{"specversion": "1.0"}',
    "NaN": b"NaN",
    "nested": b"[" * 100_000,
    "nested objects": b'{"version":' * 100_000 + b"1" + b"}" * 100_000,
    "half a surrogate pair": rb'{"version": "\ud800"}',
    "UTF-16": '{"version": 1}'.encode("utf-16"),
}
"""Name → bytes that are no valid object."""


def spoiled(good: bytes, name: str) -> dict[str, bytes]:
    """Invalid variants of an object's integer field `name`: kind → bytes."""
    fields: dict[str, Any] = json.loads(good)
    left = json.dumps({key: value for key, value in fields.items() if key != name})[:-1]
    values = {
        "gone": "",
        "null": f', "{name}": null',
        "zero": f', "{name}": 0',
        "negative": f', "{name}": -1',
        "not there": f', "{name}": 999999',
        "large": f', "{name}": {10**18}',
        "huge": f', "{name}": {"9" * 4_000}',
        "a fraction": f', "{name}": 1.5',
        "NaN": f', "{name}": NaN',
        "infinite": f', "{name}": 1e999',
        "a text": f', "{name}": "../../etc"',
        "nested": f', "{name}": ' + "[" * 100_000,
        "twice": f', "{name}": 1, "{name}": 999999',
    }
    return {kind: f"{left}{value}}}".encode() for kind, value in values.items()}
