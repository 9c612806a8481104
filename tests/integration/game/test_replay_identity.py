"""The claim on which captures rest: a replay with rendering is the play without, bit for bit.

`rlaif replay-check --segments 1000` shows it of the RAM of more; this is the everyday part.
"""

import pytest

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.replay_check.segments import Play
from rlaif.testing.data.random_play import boot, random_segments, replayed_observations

SEGMENTS = 60


def replays_the_same(emulator, recorded, cartridge):
    """Raises where the RAM differs."""
    found = replayed_observations(emulator, recorded, cartridge.sha256)
    return found.tobytes() == recorded.observations.tobytes()


def test_every_segment_of_the_embedded_game_replays_to_the_same_ram_and_observations():
    cartridge = load_cartridge()
    live, second = (Emulator(cartridge.data) for _ in range(2))
    boot(live)
    ends = set()
    for recorded in random_segments(live, cartridge, Play(segments=SEGMENTS, seed=11)):
        assert replays_the_same(second, recorded, cartridge)
        ends.add(recorded.capture.end_ram_sha256)
    # Were the game standing still, equal digests would prove nothing.
    assert len(ends) == SEGMENTS
    live.close()
    second.close()


@pytest.mark.parametrize("frame_skip", [1, 2, 7])
def test_it_holds_for_other_frame_skips(frame_skip):
    cartridge = load_cartridge()
    live, second = (Emulator(cartridge.data) for _ in range(2))
    boot(live)
    play = Play(segments=4, steps=40, frame_skip=frame_skip, segments_per_keyframe=2)
    for recorded in random_segments(live, cartridge, play):
        assert replays_the_same(second, recorded, cartridge)
    live.close()
    second.close()
