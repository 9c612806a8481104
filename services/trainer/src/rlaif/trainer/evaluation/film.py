"""Films of recorded episodes, made by replaying them."""

from fractions import Fraction
from pathlib import Path
from typing import Literal, NamedTuple

import av
import numpy as np

from rlaif.files.whole import replacing
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import SCREEN_SHAPE
from rlaif.trainer.evaluation.replaying import Picture, pictures
from rlaif.trainer.play.followers.episode_log import RecordedEpisode

Format = Literal["mp4", "webm", "webp"]

FRAMES_PER_SECOND = 60
"""Of the game, approximately: a Game Boy draws 59.73."""


class _Coding(NamedTuple):
    codec: str
    pixels: str
    max_per_second: int  # pictures
    options: dict[str, str]
    file_options: dict[str, str]


_CODINGS: dict[Format, _Coding] = {
    "mp4": _Coding("libx264", "yuv420p", 60, {"crf": "20", "preset": "veryfast"}, {}),
    "webm": _Coding(
        "libvpx-vp9",
        "yuv420p",
        60,
        {"crf": "30", "b:v": "0", "deadline": "realtime", "cpu-used": "8"},
        {},
    ),
    # An animation for web pages: lossless, in an endless loop.
    "webp": _Coding("libwebp_anim", "bgra", 12, {"lossless": "1"}, {"loop": "0"}),
}


def form_of(path: Path) -> Format:
    """The format of a file's suffix; mp4 for any other suffix."""
    return next((form for form in _CODINGS if path.suffix == f".{form}"), "mp4")


def film(
    episode: RecordedEpisode,
    cartridge: Cartridge,
    path: Path,
    *,
    form: Format = "mp4",
    scale: int = 3,
    speed: int = 1,
) -> int:
    """Write a film of an episode atomically; returns its number of pictures.

    Pictures are shown for as long as in the game, waits included, `speed` times faster; those above
    the format's picture rate are left out. mp4 is H.264, webm VP9, webp lossless. Raises as
    `pictures` does.
    """
    coding = _CODINGS[form]
    count, due = 0, 0.0
    with (
        replacing(path) as partial,
        av.open(str(partial), "w", format=form, options=coding.file_options) as container,
    ):
        stream = container.add_stream(coding.codec, rate=FRAMES_PER_SECOND, options=coding.options)
        assert isinstance(stream, av.VideoStream), "all codecs are video codecs"
        stream.height, stream.width = SCREEN_SHAPE[0] * scale, SCREEN_SHAPE[1] * scale
        stream.pix_fmt = coding.pixels
        stream.codec_context.time_base = Fraction(1, FRAMES_PER_SECOND * speed)
        for frame, picture in pictures(episode, cartridge):
            if frame < due:
                continue
            due = frame + FRAMES_PER_SECOND * speed / coding.max_per_second
            image = av.VideoFrame.from_ndarray(_enlarged(picture, scale), format="rgb24")
            image.pts, image.time_base = frame, Fraction(1, FRAMES_PER_SECOND * speed)
            container.mux(stream.encode(image))
            count += 1
        container.mux(stream.encode(None))
    return count


def _enlarged(picture: Picture, scale: int) -> Picture:
    return np.ascontiguousarray(picture.repeat(scale, axis=0).repeat(scale, axis=1))
