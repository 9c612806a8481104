"""Messages between the exporter and its replay processes: a JSON header and binary parts.

    4 bytes   length of the header
    header    JSON object; `sizes` are those of the parts
    parts     one after the other

No pickle: output of a process that played an unknown save state must not be executed.
"""

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rlaif.contracts.untrusted import read_json

LARGEST_BYTES = 512 * 1024 * 1024
"""Above an hour of pictures."""

_HEADER = struct.Struct(">I")


class BrokenMessageError(ValueError):
    """The bytes are not a message."""


@dataclass(frozen=True)
class Message:
    """One request or one answer."""

    header: dict[str, Any]
    parts: tuple[bytes, ...] = ()


def encode(header: dict[str, Any], parts: Sequence[bytes] = ()) -> bytes:
    """The bytes of a message."""
    text = json.dumps({**header, "sizes": [len(part) for part in parts]}).encode()
    return b"".join((_HEADER.pack(len(text)), text, *parts))


def decode(body: bytes) -> Message:
    """Parse a message, else BrokenMessageError."""
    try:
        (length,) = _HEADER.unpack_from(body)
        at = _HEADER.size + length
        header = read_json(body[_HEADER.size : at])
        sizes = header.pop("sizes")
        parts = []
        for size in sizes:
            parts.append(body[at : at + size])
            at += size
    except (struct.error, ValueError, AttributeError, KeyError, TypeError) as error:
        raise BrokenMessageError(f"not a message: {error}") from error
    if at != len(body):
        raise BrokenMessageError(f"a message of {len(body)} bytes declares {at}")
    return Message(header, tuple(parts))
