"""A recorded episode in a window: replayed, with a picture of each base step."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from rlaif.game.captures.capture import unpack_keyframe
from rlaif.game.captures.replay import ReplayMismatchError
from rlaif.game.machine.actions import decode_actions
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import PyBoyEmulator
from rlaif.game.play.loop import FramePace
from rlaif.game.play.screens import Command, PlayScreen
from rlaif.trainer.play.followers.episode_log import RecordedEpisode

STEP = 4
"""Frames between two pictures: a base step, and pieces of as many while the game plays alone."""


def pictures(episode: RecordedEpisode, cartridge: Cartridge) -> Iterator[npt.NDArray[np.uint8]]:
    """`[144, 160, 3]` pictures of an episode, its warm-up included, 15 a second of the game.

    Raises:
        ReplayMismatchError: It led elsewhere than when it was recorded; told at its end.
    """
    capture = episode.whole.capture
    emulator = PyBoyEmulator(cartridge.data, sound_emulated=cartridge.needs_sound)
    try:
        emulator.load_state(unpack_keyframe(episode.whole.keyframe, capture.keyframe_sha256))
        for actions, waits in (
            (capture.prefix_actions, dict(capture.prefix_waits)),
            (capture.actions, dict(capture.waits)),
        ):
            for step, action in enumerate(decode_actions(actions)):
                emulator.step(action, capture.frame_skip, render=True)
                yield emulator.screen()
                left = waits.get(step, 0)
                while left > 0:
                    emulator.tick(min(left, STEP), render=True)
                    left -= STEP
                    yield emulator.screen()
        found = emulator.ram_digest()
        if found != capture.end_ram_sha256:
            raise ReplayMismatchError(capture.segment_id, "end", capture.end_ram_sha256, found)
    finally:
        emulator.close()


def show(episode: RecordedEpisode, cartridge: Cartridge, screen: PlayScreen, speed: float) -> bool:
    """Show an episode; whether all of it was shown, not stopped by the viewer."""
    pace, paused = FramePace(speed), False
    for picture in pictures(episode, cartridge):
        screen.show(picture)
        for _ in range(STEP):
            pace.wait()
        while True:
            _, commands = screen.poll()
            if Command.QUIT in commands:
                return False
            paused ^= Command.PAUSE in commands
            if not paused:
                break
            pace.wait()
    return True
