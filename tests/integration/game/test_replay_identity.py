"""The claim on which captures rest: a replay with rendering is the play without, bit for bit.

`benchmarks/replay_identity.py` shows it for 1,000 segments; this is the everyday part of it.
"""

import pytest

from rlaif.game.captures.replay import ReplayMismatchError
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import PyBoyEmulator
from rlaif.game.replay_check.selfcheck import (
    Play,
    RecordedSegment,
    boot,
    check_replay,
    random_segments,
)

SEGMENTS = 60


def test_every_segment_of_the_embedded_game_replays_to_the_same_ram_and_observations():
    cartridge = load_cartridge()
    live, second = (PyBoyEmulator(cartridge.data) for _ in range(2))
    boot(live)
    ends = set()
    for recorded in random_segments(live, cartridge, Play(segments=SEGMENTS, seed=11)):
        assert check_replay(second, recorded, cartridge.sha256)
        ends.add(recorded.capture.end_ram_sha256)
    # Were the game standing still, equal digests would prove nothing.
    assert len(ends) == SEGMENTS
    live.close()
    second.close()


@pytest.mark.parametrize("frame_skip", [1, 2, 7])
def test_it_holds_for_other_frame_skips(frame_skip):
    cartridge = load_cartridge()
    live, second = (PyBoyEmulator(cartridge.data) for _ in range(2))
    boot(live)
    play = Play(segments=4, steps=40, frame_skip=frame_skip, segments_per_keyframe=2)
    for recorded in random_segments(live, cartridge, play):
        assert check_replay(second, recorded, cartridge.sha256)
    live.close()
    second.close()


def test_it_holds_with_sound():
    cartridge = load_cartridge()
    live, second = (PyBoyEmulator(cartridge.data, sound_emulated=True) for _ in range(2))
    boot(live)
    for recorded in random_segments(live, cartridge, Play(segments=3)):
        assert check_replay(second, recorded, cartridge.sha256)
    live.close()
    second.close()


def test_a_tampered_action_is_detected():
    cartridge = load_cartridge()
    live = PyBoyEmulator(cartridge.data)
    boot(live)
    recorded = next(random_segments(live, cartridge, Play(segments=1, seed=5)))
    # The opposite direction at every step: the player ends somewhere else.
    turned = recorded.capture.actions.translate(str.maketrans("0123", "1032"))
    tampered = RecordedSegment(
        recorded.capture.model_copy(update={"actions": turned}),
        recorded.keyframe,
        recorded.observations,
    )
    with pytest.raises(ReplayMismatchError):
        check_replay(live, tampered, cartridge.sha256)
    live.close()
