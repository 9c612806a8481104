"""Replays a recorded episode with pictures: in a window, or as a film (with PyAV, an extra)."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rlaif.contracts.game.rates import FRAMES_PER_SECOND
from rlaif.files.whole import replacing
from rlaif.game.captures.replay import replay
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import SCREEN_SHAPE, new_emulator
from rlaif.game.play.session import FramePace
from rlaif.game.play.window import Command, WindowScreen
from rlaif.trainer.play.followers.episode_log import RecordedEpisode

STEP = 4
"""Maximum number of frames between two pictures; waits are drawn in pieces of this length."""

Picture = npt.NDArray[np.uint8]


def pictures(episode: RecordedEpisode, cartridge: Cartridge) -> Iterator[tuple[int, Picture]]:
    """(Game frames since the start, `[144, 160, 3]` picture) of an episode, after its warm-up.

    Raises:
        ReplayError: Another game or emulator, or the replay led to a different RAM state; what was
            yielded before is then invalid.
        KeyframeError: The start state is damaged.
    """
    capture, steps = episode.whole.capture, range(len(episode.whole.capture.actions))
    emulator = new_emulator(cartridge)
    try:
        for played in replay(
            emulator,
            capture,
            episode.whole.keyframe,
            rom_sha256=cartridge.sha256,
            render_steps=steps,
            piece=STEP,
        ):
            yield played.frame, emulator.screen()
    finally:
        emulator.close()


def show(
    episode: RecordedEpisode, cartridge: Cartridge, screen: WindowScreen, speed: float
) -> bool:
    """Show an episode; returns whether it was shown to its end, not closed by the viewer."""
    pace, paused, shown = FramePace(speed), False, 0
    for frame, picture in pictures(episode, cartridge):
        screen.show(picture)
        for _ in range(frame - shown):
            pace.wait()
        shown = frame
        while True:
            _, commands = screen.poll()
            if Command.QUIT in commands:
                return False
            paused ^= Command.PAUSE in commands
            if not paused:
                break
            pace.wait()
    return True


class _Coding(NamedTuple):
    codec: str
    pixels: str
    max_per_second: int  # pictures
    options: dict[str, str]
    file_options: dict[str, str]


_CODINGS: dict[str, _Coding] = {
    "mp4": _Coding("libx264", "yuv420p", 60, {"crf": "20", "preset": "veryfast"}, {}),
    # An animation for web pages: lossless, in an endless loop.
    "webp": _Coding("libwebp_anim", "bgra", 12, {"lossless": "1"}, {"loop": "0"}),
}


def film(
    episode: RecordedEpisode, cartridge: Cartridge, path: Path, *, scale: int = 3, speed: int = 1
) -> int:
    """Write a film of an episode atomically; returns its number of pictures.

    Pictures are shown for as long as in the game, waits included, `speed` times faster; those above
    the format's picture rate are left out. By the suffix of `path`, .mp4 is H.264, .webp lossless.
    Raises as `pictures` does.
    """
    import av

    form = path.suffix.removeprefix(".")
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
