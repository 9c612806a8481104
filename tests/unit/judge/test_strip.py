import io
from collections.abc import Callable
from typing import Any

from PIL import Image

from rlaif.judge.evidence.strip import Frame, draw, frames

Make = Callable[..., Any]
RED = (255, 0, 0)


def _opened(png: bytes) -> Image.Image:
    return Image.open(io.BytesIO(png)).convert("RGB")


def test_frames_stand_side_by_side_in_two_columns(png: Make) -> None:
    assert _opened(draw([Frame(png(), ())] * 4)).size == (640, 576)
    assert _opened(draw([Frame(png(), ())] * 3)).size == (640, 576)
    assert _opened(draw([Frame(None, ())])).size == (320, 288)


def test_the_path_is_drawn_below_the_status_bar_and_ends_in_a_dot(png: Make) -> None:
    picture = _opened(draw([Frame(png(), ((20, 64), (100, 64)))]))
    assert picture.getpixel((60 * 2, (64 + 16) * 2)) == RED
    assert picture.getpixel((100 * 2, (64 + 16) * 2 + 4)) == RED
    assert picture.getpixel((60 * 2, (64 + 16) * 2 + 8)) == (0, 0, 0)
    assert picture.getpixel((20 * 2, (64 + 16) * 2 + 8)) == (0, 0, 0)


def test_in_a_large_room_the_path_follows_the_camera(png: Make) -> None:
    picture = _opened(draw([Frame(png(), ((200, 150),), large=True)]))
    # The camera stops at the lower right edge: 240x176 minus what a frame shows.
    assert picture.getpixel(((200 - 80) * 2, (150 - 48 + 16) * 2)) == RED


def test_each_frame_shows_the_way_in_its_own_room_up_to_its_moment(
    records: Make, state: Make, png: Make
) -> None:
    there = {"group": 0, "room": 183}
    states = [state(0), state(4), state(0, room=there), state(9, room=there)]
    first, last = frames([(png(), 1), (png(), 3)], records(states))
    assert first.path == ((20, 64), (24, 64))
    assert last.path == ((20, 64), (29, 64))
    assert not first.large


def test_an_unknown_place_leaves_the_frame_without_a_path(records: Make, png: Make) -> None:
    (frame,) = frames([(png(), 1)], records([{}, {}]))
    assert frame.path == ()
    assert _opened(draw([frame])).size == (320, 288)
