"""A film as one animated WebP, for people who want it as a file.

The pictures of a film are put into the container of an animation as they are: no encoder, nothing
is drawn again, every pixel stays.

Container: https://developers.google.com/speed/webp/docs/riff_container
"""

import struct
from collections.abc import Iterator

from rlaif.contracts.game.films import FilmError, FilmIndex

FRAMES_A_SECOND = 59.7275
"""Of a Game Boy."""

LAST_MILLISECONDS = 1000
"""The last picture is shown for so long before the film begins again."""

_ANIMATED = 0x02
_DO_NOT_BLEND = 0x02


def animation(index: FilmIndex, pictures: list[bytes]) -> bytes:
    """The animation of a film whose pictures are lossless WebP; FilmError for others."""
    if index.type != "image/webp":
        raise FilmError(f"its pictures are {index.type}, an animation takes image/webp")
    size = _u24(index.width - 1) + _u24(index.height - 1)
    body = _chunk(b"VP8X", struct.pack("<I", _ANIMATED) + size)
    body += _chunk(b"ANIM", struct.pack("<IH", 0, 0))  # black, for ever
    for number, milliseconds in _shown(index):
        place = index.pictures[number]
        head = _u24(place.x // 2) + _u24(place.y // 2)
        head += _u24(place.width - 1) + _u24(place.height - 1)
        head += _u24(milliseconds) + bytes([_DO_NOT_BLEND])
        body += _chunk(b"ANMF", head + _bitstream(pictures[number]))
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WEBP" + body


def _shown(index: FilmIndex) -> Iterator[tuple[int, int]]:
    """(number, milliseconds) of each picture that changes something; others prolong it."""
    changing = [number for number, each in enumerate(index.pictures) if each.length]
    starts = [_milliseconds(index.pictures[number].frame) for number in changing]
    end = _milliseconds(index.pictures[-1].frame) + LAST_MILLISECONDS
    for number, start, stop in zip(changing, starts, [*starts[1:], end], strict=True):
        yield number, stop - start


def _milliseconds(frame: int) -> int:
    return round(1000 * frame / FRAMES_A_SECOND)


def _bitstream(picture: bytes) -> bytes:
    at = 12
    while at + 8 <= len(picture):
        kind = picture[at : at + 4]
        (length,) = struct.unpack_from("<I", picture, at + 4)
        if kind == b"VP8L":
            return _chunk(kind, picture[at + 8 : at + 8 + length])
        at += 8 + length + length % 2
    raise FilmError("a picture is no lossless WebP")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def _u24(value: int) -> bytes:
    return struct.pack("<I", value)[:3]
