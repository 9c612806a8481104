"""Films made by hand: a square of one colour walks over a screen of another."""

import struct
import zlib

from rlaif.contracts.game.films import Patch, pack_film

Colour = tuple[int, int, int]

WIDTH, HEIGHT = 160, 144
_SQUARE = 16
_WHITE = (255, 255, 255)


def colour_of(segment_id: str) -> Colour:
    """A colour that tells segments apart; no two of some hundred are alike."""
    mixed = zlib.crc32(segment_id.encode())
    return (mixed >> 16) & 0xF8, (mixed >> 8) & 0xF8, mixed & 0xF8


def walking_film(segment_id: str, *, steps: int = 20) -> bytes:
    """A film of `steps` pictures on a ground of the segment's own colour."""
    ground = colour_of(segment_id)
    patches = [
        Patch(step, 4 * (step + 1), 0, 0, WIDTH, HEIGHT, _picture(ground, 2 * step))
        for step in range(steps)
    ]
    return pack_film(segment_id, patches, type="image/png")


def _picture(ground: Colour, x: int) -> bytes:
    plain = bytes(ground) * WIDTH
    marked = bytes(ground) * x + bytes(_WHITE) * _SQUARE + bytes(ground) * (WIDTH - x - _SQUARE)
    top = HEIGHT // 2
    rows = [marked if top <= y < top + _SQUARE else plain for y in range(HEIGHT)]
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows))
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)
