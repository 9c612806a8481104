import io

import numpy as np
import pytest
from PIL import Image

from rlaif.contracts.game.films import FilmError, unpack_film
from rlaif.exporter.replaying import Film, film_steps, picture_steps, replay_segment
from rlaif.game.captures.replay import ReplayMismatchError, frames_after_steps, replay
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


def shown(film: bytes) -> list[np.ndarray]:
    """The screens of a film, as a page draws them."""
    index, pictures = unpack_film(film)
    screen = np.zeros((index.height, index.width, 3), dtype=np.uint8)
    screens = []
    for place, data in zip(index.pictures, pictures, strict=True):
        if data:
            part = np.array(Image.open(io.BytesIO(data)).convert("RGB"))
            assert part.shape[:2] == (place.height, place.width)
            screen[place.y : place.y + place.height, place.x : place.x + place.width] = part
        screens.append(screen.copy())
    return screens


def test_a_film_shows_the_screen_of_every_decision_step(cartridge, recorded):
    capture, keyframe = recorded[0].capture, recorded[0].keyframe.data
    emulator = Emulator(cartridge.data)
    common = {"rom_sha256": cartridge.sha256}
    files = replay_segment(
        emulator, capture, keyframe, words=NO_WORDS, png_interval_frames=30, film_pictures=600,
        **common,
    )  # fmt: skip
    steps = range(len(capture.actions))
    played = replay(emulator, capture, keyframe, render_steps=frozenset(steps), **common)
    screens = [emulator.screen().copy() for _ in played]
    emulator.close()
    assert files.film is not None
    index, pictures = unpack_film(files.film)
    assert [each.step for each in index.pictures] == list(steps)
    assert tuple(each.frame for each in index.pictures) == frames_after_steps(capture)
    assert all((a == b).all() for a, b in zip(shown(files.film), screens, strict=True))
    assert len(files.film) < len(pictures[0]) * len(screens) / 2, "changes alone are stored"


def test_a_picture_that_changes_nothing_takes_no_bytes_and_patches_begin_at_even_pixels():
    screen = np.zeros((144, 160, 3), dtype=np.uint8)
    film = Film("segment-1")
    film.add(0, 4, screen)
    film.add(1, 8, screen)
    screen[33:35, 51:60] = 255
    film.add(2, 12, screen)
    index, pictures = unpack_film(film.packed())
    assert pictures[1] == b""
    last = index.pictures[2]
    assert (last.x, last.y, last.width, last.height) == (50, 32, 10, 3)
    assert (shown(film.packed())[2] == screen).all()


@pytest.mark.parametrize(
    ("steps", "most", "expected"),
    [(4, 600, {0, 1, 2, 3}), (4, 0, set()), (10, 4, {0, 3, 6, 9}), (8, 4, {0, 2, 4, 6, 7})],
)
def test_a_long_segment_leaves_steps_out_evenly_and_keeps_its_ends(steps, most, expected):
    assert film_steps(steps, most) == expected


@pytest.mark.parametrize("cut", [2, 20, -1])
def test_what_is_cut_off_is_no_film(cut):
    film = Film("segment-1")
    film.add(0, 4, np.zeros((144, 160, 3), dtype=np.uint8))
    with pytest.raises(FilmError):
        unpack_film(film.packed()[:cut])
