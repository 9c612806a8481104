import io

import numpy as np
import pytest
from PIL import Image

from rlaif.game.machine.pictures import jpeg, png, webp


def screen(colours):
    rng = np.random.default_rng(0)
    palette = rng.integers(0, 256, (colours, 3), dtype=np.uint8)
    return palette[rng.integers(0, colours, (144, 160))]


@pytest.mark.parametrize("encoded", [png, webp])
@pytest.mark.parametrize("colours", [1, 4, 32, 256, 5000])
def test_a_file_gives_back_every_pixel(colours, encoded):
    picture = screen(colours)
    read = np.asarray(Image.open(io.BytesIO(encoded(picture))).convert("RGB"))
    assert np.array_equal(read, picture)


def test_few_colours_are_stored_with_a_palette():
    assert Image.open(io.BytesIO(png(screen(4)))).mode == "P"


def test_a_jpeg_has_the_size_of_the_screen():
    data = jpeg(screen(4))
    assert data[:2] == b"\xff\xd8"
    assert Image.open(io.BytesIO(data)).size == (160, 144)
    assert len(jpeg(screen(32), quality=10)) < len(jpeg(screen(32), quality=90))
