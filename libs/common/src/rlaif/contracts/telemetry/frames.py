"""Frames of the watched screen on plain NATS: a header of 24 bytes, then a picture."""

import struct
from dataclasses import dataclass

FRAME_SUBJECT = "telemetry.frame"
"""Prefix of the subjects: `telemetry.frame.<env>` for one environment."""

_FRAME_HEADER = struct.Struct("<BBBBIIQI")
_FRAME_VERSION = 1
_WEBP = 2
"""The codec; trainers of 0.1.0 sent JPEG, 1."""


class FrameFormatError(ValueError):
    """The bytes are not a screen frame of a supported version."""


@dataclass(frozen=True)
class ScreenFrame:
    """One screen of the game: 24 bytes of header, then a picture of 160 by 144 pixels.

    Attributes:
        sequence: Increases by one per frame of this environment.
        captured_us: Wall clock of the capture, microseconds since 1970.
        step: Environment step of the run, low 32 bits.
        picture: Lossless WebP; opaque to everything between trainer and browser.
    """

    sequence: int
    captured_us: int
    step: int
    picture: bytes

    def pack(self) -> bytes:
        """Pack version, kind, codec, flags, epoch, sequence, time, step and picture."""
        head = _FRAME_HEADER.pack(
            _FRAME_VERSION, 1, _WEBP, 0, 0,
            self.sequence & 0xFFFFFFFF, self.captured_us, self.step & 0xFFFFFFFF,
        )  # fmt: skip
        return head + self.picture

    @classmethod
    def unpack(cls, payload: bytes) -> "ScreenFrame":
        """Parse the output of `pack`; raises `FrameFormatError`."""
        if len(payload) <= _FRAME_HEADER.size:
            raise FrameFormatError(f"frame of {len(payload)} bytes is shorter than its header")
        version, _, codec, _, _, sequence, captured_us, step = _FRAME_HEADER.unpack_from(payload)
        if version != _FRAME_VERSION or codec != _WEBP:
            raise FrameFormatError(f"frame version {version} codec {codec} is not supported")
        return cls(sequence, captured_us, step, payload[_FRAME_HEADER.size :])
