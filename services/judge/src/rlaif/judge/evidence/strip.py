"""One picture of a segment: its frames side by side, the player's path drawn on them.

A single frame does not show where the player came from; a line does. Frames are doubled, because a
vision model's tokens are about the size of two tiles of this game.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw

Point = tuple[int, int]
Place = tuple[str, Point]
"""(room, [x, y] in pixels from the room's top left corner)."""

_SCALE = 2
_COLUMNS = 2
_STATUS_BAR = 16
"""Rows at the top of a frame that show hearts and money, not the room."""
_ROOM_WIDTH, _ROOM_HEIGHT = 160, 128
"""What a frame shows of a room; a larger room is followed by a camera."""
_LARGE_WIDTH, _LARGE_HEIGHT = 240, 176
_PATH = (255, 0, 0)
_GROUND = (128, 128, 128)


@dataclass(frozen=True)
class Frame:
    """One frame of the strip.

    Attributes:
        png: The screen, 160x144; None for a grey one.
        path: Where the player was in this frame's room, oldest first; the last point is now.
        large: The room is larger than the screen.
    """

    png: bytes | None
    path: tuple[Point, ...]
    large: bool = False


def frames(
    pictures: Sequence[bytes], steps: Sequence[int], places: Sequence[Place | None]
) -> list[Frame]:
    """Join PNG files with the way that led to each, by the decision step after which it was taken.

    `places` says where the player was after each decision step; None where unknown.
    """
    made = []
    for png, step in zip(pictures, steps, strict=True):
        here = places[step] if step < len(places) else None
        path: list[Point] = []
        for place in reversed(places[: step + 1]):
            if here is None or place is None or place[0] != here[0]:
                break
            path.append(place[1])
        inside = [place[1] for place in places if place and here and place[0] == here[0]]
        large = any(x >= _ROOM_WIDTH or y >= _ROOM_HEIGHT for x, y in inside)
        made.append(Frame(png, tuple(reversed(path)), large))
    return made


def draw(strip: Sequence[Frame]) -> bytes:
    """The strip as a PNG: two frames a row, each 320x288; at least one frame."""
    width, height = 160 * _SCALE, 144 * _SCALE
    rows = -(-len(strip) // _COLUMNS)
    sheet = Image.new("RGB", (width * min(_COLUMNS, len(strip)), height * rows))
    for number, frame in enumerate(strip):
        row, column = divmod(number, _COLUMNS)
        sheet.paste(_drawn(frame, width, height), (column * width, row * height))
    buffer = io.BytesIO()
    sheet.quantize(64).save(buffer, format="PNG", optimize=True)
    return buffer.getvalue()


def _drawn(frame: Frame, width: int, height: int) -> Image.Image:
    screen = _screen(frame.png).resize((width, height), Image.Resampling.NEAREST)
    if not frame.path:
        return screen
    pen = ImageDraw.Draw(screen)
    dx, dy = _camera(frame.path[-1]) if frame.large else (0, 0)
    points = [((x - dx) * _SCALE, (y - dy + _STATUS_BAR) * _SCALE) for x, y in frame.path]
    if len(points) > 1:
        pen.line(points, fill=_PATH, width=_SCALE)
    x, y = points[-1]
    pen.ellipse((x - 5, y - 5, x + 5, y + 5), fill=_PATH)
    return screen


def _screen(png: bytes | None) -> Image.Image:
    if png is None:
        return Image.new("RGB", (160, 144), _GROUND)
    with Image.open(io.BytesIO(png), formats=("PNG",)) as image:
        return image.convert("RGB")


def _camera(at: Point) -> Point:
    """Top left corner of the part of a large room that is on the screen: the player in the middle.

    The game's own camera is not in the description; it follows the player and stops at the edges.
    """
    x = min(max(0, at[0] - _ROOM_WIDTH // 2), _LARGE_WIDTH - _ROOM_WIDTH)
    y = min(max(0, at[1] - _ROOM_HEIGHT // 2), _LARGE_HEIGHT - _ROOM_HEIGHT)
    return x, y
