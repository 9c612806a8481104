"""A segment's film: all its pictures in one object.

    4 bytes   length of the index, little endian
    index     JSON, `FilmIndex`
    pictures  one after the other

Lossless. A picture contains only the change since the previous one and is drawn over it.
"""

import struct
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal

from pydantic import Field, ValidationError

from rlaif.contracts.model import Contract

MEDIA_TYPE = "application/vnd.rlaif.film"

MAX_PICTURES = 3600

_LENGTH = struct.Struct("<I")


class FilmError(ValueError):
    """The bytes are not a valid film."""


@dataclass(frozen=True)
class Patch:
    """The change of one picture: `data` is drawn at (x, y), both even.

    A pixel (a, b) of the room is at (a - camera_x, b - camera_y + 16) of the screen.
    """

    step: int
    frame: int
    x: int
    y: int
    width: int
    height: int
    data: bytes
    camera_x: int | None = None
    camera_y: int | None = None


class FilmPicture(Contract):
    """Position of one picture."""

    step: int = Field(ge=0, description="Emulator step after which it was taken.")
    frame: int = Field(ge=0, description="Game frames since the start of the segment, at 60 Hz.")
    x: int = Field(default=0, ge=0, description="Left edge of the change, in pixels, even.")
    y: int = Field(default=0, ge=0, description="Top edge, even.")
    width: int = Field(ge=0)
    height: int = Field(ge=0)
    camera_x: int | None = Field(
        default=None, description="Pixel of the room at the screen's left edge; null: unknown."
    )
    camera_y: int | None = Field(default=None, description="The same at the status bar's bottom.")
    offset: int = Field(ge=0, description="Byte after the index.")
    length: int = Field(ge=0, description="Bytes; 0 without a change.")


class FilmIndex(Contract):
    """Index of a film."""

    version: Literal[1] = 1
    segment_id: str
    type: Literal["image/webp", "image/png"]
    width: int = Field(ge=1)
    height: int = Field(ge=1)
    pictures: tuple[FilmPicture, ...] = Field(min_length=1, max_length=MAX_PICTURES)


def pack_film(
    segment_id: str,
    patches: Iterable[Patch],
    *,
    type: Literal["image/webp", "image/png"] = "image/webp",
    size: tuple[int, int] = (160, 144),
) -> bytes:
    """Pack pictures in order into a film; `size` is (width, height); ValueError without any."""
    body = bytearray()
    index = []
    for patch in patches:
        place = {k: v for k, v in asdict(patch).items() if k != "data"}
        index.append(FilmPicture(**place, offset=len(body), length=len(patch.data)))
        body += patch.data
    width, height = size
    head = FilmIndex(
        segment_id=segment_id, type=type, width=width, height=height, pictures=tuple(index)
    )
    text = head.model_dump_json().encode()
    return _LENGTH.pack(len(text)) + text + bytes(body)


def unpack_film(data: bytes) -> tuple[FilmIndex, list[bytes]]:
    """Return the index and the bytes of each picture; raises `FilmError`."""
    if len(data) < _LENGTH.size:
        raise FilmError("shorter than its length field")
    (length,) = _LENGTH.unpack_from(data)
    start = _LENGTH.size + length
    if start > len(data):
        raise FilmError("shorter than its index")
    try:
        index = FilmIndex.model_validate_json(data[_LENGTH.size : start])
    except ValidationError as error:
        raise FilmError(f"the index cannot be read: {error.error_count()} faults") from error
    places = [(start + each.offset, each.length) for each in index.pictures]
    if max(offset + length for offset, length in places) > len(data):
        raise FilmError("shorter than its pictures")
    return index, [data[offset : offset + length] for offset, length in places]
