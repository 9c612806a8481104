"""The video of a segment is its film, pixel by pixel."""

import io

import pytest
from PIL import Image, ImageSequence

from rlaif.contracts.game.films import FilmError, Patch, pack_film, unpack_film
from rlaif.hud.segment_objects import LAST_MILLISECONDS, animation

RED, BLUE = (255, 0, 0), (0, 0, 255)


def webp(size: tuple[int, int], colour: tuple[int, int, int]) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size, colour).save(buffer, format="WEBP", lossless=True)
    return buffer.getvalue()


def test_every_picture_is_shown_for_as_long_as_the_game_took() -> None:
    film = pack_film(
        "s-1",
        [
            Patch(0, 4, 0, 0, 160, 144, webp((160, 144), RED)),
            Patch(1, 8, 0, 0, 0, 0, b""),
            Patch(2, 64, 10, 20, 7, 5, webp((7, 5), BLUE)),
        ],
    )
    video = Image.open(io.BytesIO(animation(*unpack_film(film))))
    assert (video.format, video.size) == ("WEBP", (160, 144))
    shown = [
        (frame.convert("RGB"), frame.info["duration"]) for frame in ImageSequence.Iterator(video)
    ]
    assert len(shown) == 2, "a picture that changes nothing prolongs the one before it"
    assert shown[0][1] == round(64e3 / 59.7275) - round(4e3 / 59.7275)
    assert shown[1][1] == LAST_MILLISECONDS
    second = shown[1][0]
    assert second.getpixel((9, 20)) == RED
    assert second.getpixel((10, 20)) == second.getpixel((16, 24)) == BLUE
    assert second.getpixel((17, 24)) == RED


def test_pictures_of_another_kind_make_no_video() -> None:
    film = pack_film("s-1", [Patch(0, 4, 0, 0, 2, 2, b"png")], type="image/png")
    with pytest.raises(FilmError, match="image/png"):
        animation(*unpack_film(film))
    film = pack_film("s-1", [Patch(0, 4, 0, 0, 2, 2, b"RIFF0000WEBPjunk")])
    with pytest.raises(FilmError, match="lossless"):
        animation(*unpack_film(film))
