import io

import numpy as np
import pytest

from rlaif.exporter.replaying import picture_steps, replay_segment
from rlaif.game.captures.replay import ReplayMismatchError
from rlaif.game.description.words import NO_WORDS, words_of
from rlaif.game.machine.emulator import Emulator


@pytest.fixture(scope="module")
def emulator(cartridge):
    emulator = Emulator(cartridge.data)
    yield emulator
    emulator.close()


@pytest.fixture
def files(emulator, recorded, cartridge):
    return replay_segment(
        emulator,
        recorded[0].capture,
        recorded[0].keyframe.data,
        rom_sha256=cartridge.sha256,
        words=words_of(cartridge.game, cartridge.data),
        png_interval_frames=30,
    )


@pytest.mark.parametrize(
    ("frames", "interval", "expected"),
    [
        (range(4, 304, 4), 30, {0, 7, 14, 22, 29, 37, 44, 52, 59, 67, 74}),
        (range(4, 16, 4), 3600, {0, 2}),
        ([4], 30, {0}),
        (range(4, 20, 4), 1, {0, 1, 2, 3}),
        (range(60, 300, 60), 30, {0, 1, 2, 3}),
        # A wait of 100 frames after step 2 is one step, and has one picture.
        ([4, 8, 112, 116, 120, 124], 30, {0, 2, 4, 5}),
    ],
)
def test_a_picture_an_interval_and_always_the_first_and_the_last(frames, interval, expected):
    assert picture_steps(frames, interval) == expected


def test_the_observations_are_those_that_were_seen_while_playing(files, recorded):
    observations = np.load(io.BytesIO(files.observations), allow_pickle=False)
    assert (observations.shape, observations.dtype) == ((20, 128), np.float32)
    assert observations.tobytes() == recorded[0].observations.tobytes()


def test_a_second_replay_gives_the_same_bytes(files, emulator, recorded, cartridge):
    again = replay_segment(
        emulator,
        recorded[0].capture,
        recorded[0].keyframe.data,
        rom_sha256=cartridge.sha256,
        words=words_of(cartridge.game, cartridge.data),
        png_interval_frames=30,
    )
    assert again == files


def test_nothing_comes_of_a_capture_that_fails_its_proof(emulator, recorded, cartridge):
    wrong = recorded[0].capture.model_copy(update={"end_ram_sha256": "0" * 64})
    with pytest.raises(ReplayMismatchError):
        replay_segment(
            emulator,
            wrong,
            recorded[0].keyframe.data,
            rom_sha256=cartridge.sha256,
            words=NO_WORDS,
            png_interval_frames=30,
        )
