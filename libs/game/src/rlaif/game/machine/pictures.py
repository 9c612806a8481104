"""Encodes pictures of the screen as PNG, WebP or JPEG."""

import io

import numpy as np
import numpy.typing as npt
from PIL import Image

JPEG_QUALITY = 40
"""Sufficient for a live view; 3 to 6 kB per frame."""

_MAX_COLOURS = 256


def png(picture: npt.NDArray[np.uint8]) -> bytes:
    """Lossless PNG of `[144, 160, 3]` uint8 RGB.

    A Game Boy screen has few colours: with at most 256 the picture is stored with a palette, which
    is about half the size.
    """
    image = Image.fromarray(picture)
    colours, indices = _palette(picture)
    if len(colours) <= _MAX_COLOURS:
        image = Image.fromarray(indices.astype(np.uint8), mode="P")
        image.putpalette(colours.tobytes())
    return _saved(image, format="PNG", optimize=True)


def webp(picture: npt.NDArray[np.uint8]) -> bytes:
    """Lossless WebP of `[rows, columns, 3]` uint8 RGB.

    About 3 kB for a whole screen in 0.6 ms, smaller than a JPEG. More effort saves a tenth of the
    size in twice the time.
    """
    return _saved(Image.fromarray(picture), format="WEBP", lossless=True, quality=0, method=0)


def jpeg(picture: npt.NDArray[np.uint8], *, quality: int = JPEG_QUALITY) -> bytes:
    """JPEG of `[144, 160, 3]` uint8 RGB."""
    return _saved(Image.fromarray(picture), format="JPEG", quality=quality)


def _palette(
    picture: npt.NDArray[np.uint8],
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.intp]]:
    """The colours `[n, 3]` in order of their value, and each pixel's index `[rows, columns]`."""
    wide = picture.astype(np.uint32)
    packed = wide[:, :, 0] << 16 | wide[:, :, 1] << 8 | wide[:, :, 2]
    unique, indices = np.unique(packed, return_inverse=True)
    colours = np.stack([unique >> 16, unique >> 8 & 0xFF, unique & 0xFF], axis=1)
    return colours.astype(np.uint8), indices.reshape(packed.shape)


def _saved(image: Image.Image, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, **options)  # type: ignore[arg-type]  # options are pillow's own keywords
    return buffer.getvalue()
