"""Frames of the watched screen on plain NATS: a header of 24 bytes, then a picture."""

import struct
from dataclasses import dataclass
from enum import IntEnum

FRAME_SUBJECT = "telemetry.frame"
"""Prefix of the subjects: `telemetry.frame.<env>` for one environment."""

_FRAME_HEADER = struct.Struct("<BBBBIIQI")
_FRAME_VERSION = 1


class Codec(IntEnum):
    """Encoding of the picture of a frame."""

    JPEG = 1
    WEBP = 2
    """Lossless: the page shows the exact pixels of the game."""

    @property
    def media_type(self) -> str:
        """Media type of a response."""
        return f"image/{self.name.lower()}"


_CODECS = frozenset(Codec)


class FrameFormatError(ValueError):
    """The bytes are not a screen frame of a supported version."""


@dataclass(frozen=True)
class ScreenFrame:
    """One screen of the game: 24 bytes of header, then a picture of 160 by 144 pixels.

    Attributes:
        sequence: Increases by one per frame of this environment.
        captured_us: Wall clock of the capture, microseconds since 1970.
        step: Environment step of the run, low 32 bits.
        picture: Encoded according to `codec`.
        codec: Older trainers sent JPEG. Opaque to everything between trainer and browser.
    """

    sequence: int
    captured_us: int
    step: int
    picture: bytes
    codec: Codec = Codec.WEBP

    def pack(self) -> bytes:
        """Pack version, kind, codec, flags, epoch, sequence, time, step and picture."""
        head = _FRAME_HEADER.pack(
            _FRAME_VERSION, 1, self.codec, 0, 0,
            self.sequence & 0xFFFFFFFF, self.captured_us, self.step & 0xFFFFFFFF,
        )  # fmt: skip
        return head + self.picture

    @classmethod
    def unpack(cls, payload: bytes) -> "ScreenFrame":
        """Parse the output of `pack`; raises `FrameFormatError`."""
        if len(payload) <= _FRAME_HEADER.size:
            raise FrameFormatError(f"frame of {len(payload)} bytes is shorter than its header")
        version, _, codec, _, _, sequence, captured_us, step = _FRAME_HEADER.unpack_from(payload)
        if version != _FRAME_VERSION or codec not in _CODECS:
            raise FrameFormatError(f"frame version {version} codec {codec} is not supported")
        return cls(sequence, captured_us, step, payload[_FRAME_HEADER.size :], Codec(codec))
