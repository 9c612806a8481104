"""An episode in, a film out: replayed with pictures, proved by the digest of the RAM at its end."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Literal, NamedTuple

import av
import numpy as np
import numpy.typing as npt

from rlaif.files.whole import replacing
from rlaif.game.captures.replay import replay
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import SCREEN_SHAPE, PyBoyEmulator
from rlaif.trainer.play.followers.episode_log import RecordedEpisode

Format = Literal["mp4", "webm", "webp"]

FRAMES_A_SECOND = 60
"""Of the game, nearly: a Game Boy draws 59.73."""


class _Coding(NamedTuple):
    codec: str
    pixels: str
    most_a_second: int  # pictures
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
    # A picture that moves, for a page: the game's own pixels, round and round.
    "webp": _Coding("libwebp_anim", "bgra", 12, {"lossless": "1"}, {"loop": "0"}),
}

Picture = npt.NDArray[np.uint8]


def pictures(episode: RecordedEpisode, cartridge: Cartridge) -> Iterator[tuple[int, Picture]]:
    """(Game frames since the start, `[144, 160, 3]` picture) after each decision step.

    Raises:
        ReplayError: Another game or emulator, or the replay led to other RAM. What came before the
            error is then worth nothing.
        KeyframeError: The start is damaged.
    """
    capture = episode.whole.capture
    emulator = PyBoyEmulator(cartridge.data, sound_emulated=cartridge.needs_sound)
    try:
        for step in replay(
            emulator,
            capture,
            episode.whole.keyframe,
            rom_sha256=cartridge.sha256,
            render_steps=frozenset(range(len(capture.actions))),
        ):
            yield step.frame, emulator.screen()
    finally:
        emulator.close()


def form_of(path: Path) -> Format:
    """The form that a file's ending names; mp4 for any other ending."""
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
    """Write a film of an episode, whole or not at all; gives how many pictures are in it.

    Pictures are shown for as long as the game took, waits included, `speed` times faster; those
    that would come too fast for the eye are left out. In mp4 is H.264, in webm VP9, in webp every
    pixel as it was. Raises as `pictures` does.
    """
    coding = _CODINGS[form]
    count, due = 0, 0.0
    with (
        replacing(path) as partial,
        av.open(str(partial), "w", format=form, options=coding.file_options) as container,
    ):
        stream = container.add_stream(coding.codec, rate=FRAMES_A_SECOND, options=coding.options)
        assert isinstance(stream, av.VideoStream), "all codecs are of pictures"
        stream.height, stream.width = SCREEN_SHAPE[0] * scale, SCREEN_SHAPE[1] * scale
        stream.pix_fmt = coding.pixels
        stream.codec_context.time_base = Fraction(1, FRAMES_A_SECOND * speed)
        for frame, picture in pictures(episode, cartridge):
            if frame < due:
                continue
            due = frame + FRAMES_A_SECOND * speed / coding.most_a_second
            image = av.VideoFrame.from_ndarray(_enlarged(picture, scale), format="rgb24")
            image.pts, image.time_base = frame, Fraction(1, FRAMES_A_SECOND * speed)
            container.mux(stream.encode(image))
            count += 1
        container.mux(stream.encode(None))
    return count


def _enlarged(picture: Picture, scale: int) -> Picture:
    return np.ascontiguousarray(picture.repeat(scale, axis=0).repeat(scale, axis=1))
