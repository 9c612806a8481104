"""Replays a recorded episode with pictures, and shows it in a window."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from rlaif.game.captures.capture import KeyframeError, unpack_keyframe
from rlaif.game.captures.replay import ReplayMismatchError, check_identity
from rlaif.game.machine.actions import decode_actions
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import PyBoyEmulator, SaveStateError
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
    capture = episode.whole.capture
    emulator = PyBoyEmulator(cartridge.data, sound_emulated=cartridge.needs_sound)
    try:
        check_identity(emulator, capture, cartridge.sha256)
        try:
            emulator.load_state(unpack_keyframe(episode.whole.keyframe, capture.keyframe_sha256))
        except SaveStateError as error:
            raise KeyframeError(str(error)) from error
        waits, frame = dict(capture.prefix_waits), 0
        for step, action in enumerate(decode_actions(capture.prefix_actions)):
            emulator.step(action, capture.frame_skip)
            if step in waits:
                emulator.tick(waits[step])
        waits = dict(capture.waits)
        for step, action in enumerate(decode_actions(capture.actions)):
            emulator.step(action, capture.frame_skip, render=True)
            frame += capture.frame_skip
            yield frame, emulator.screen()
            left = waits.get(step, 0)
            while left > 0:
                piece = min(left, STEP)
                emulator.tick(piece, render=True)
                left, frame = left - piece, frame + piece
                yield frame, emulator.screen()
        found = emulator.ram_digest()
        if found != capture.end_ram_sha256:
            raise ReplayMismatchError(capture.segment_id, "end", capture.end_ram_sha256, found)
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
