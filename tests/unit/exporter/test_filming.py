"""A film shows every moment again, pixel by pixel, and is small."""

import io

import numpy as np
import pytest
from PIL import Image

from rlaif.contracts.game.films import FilmError, unpack_film
from rlaif.exporter.replaying import Film, film_steps, replay_segment
from rlaif.game.captures.replay import frames_after_steps, replay
from rlaif.game.description.words import NO_WORDS
from rlaif.game.machine.emulator import Emulator


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
