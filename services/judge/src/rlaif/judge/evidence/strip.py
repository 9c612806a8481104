"""Draws the pictures of a segment side by side with the player's path.

A single frame does not show the origin of the player; a line does. Frames are scaled by two,
because one token of a vision model covers about two tiles of this game.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw

from rlaif.judge.evidence.described import DescribedState
from rlaif.judge.evidence.loading import (
    CorruptSegmentError,
    LoadedSegment,
    load_pictures,
)
from rlaif.storage.ports import ObjectStore

Point = tuple[int, int]

_SCALE = 2
_COLUMNS = 2
_STATUS_BAR = 16
"""Pixel rows at the top of a frame with hearts and money."""
_ROOM_WIDTH, _ROOM_HEIGHT = 160, 128
"""Visible part of a room in pixels; in a larger room the camera follows the player."""
_LARGE_WIDTH, _LARGE_HEIGHT = 240, 176
_PATH = (255, 0, 0)
_GROUND = (128, 128, 128)


@dataclass(frozen=True)
class Frame:
    """One frame of the strip.

    Attributes:
        png: The screen, 160x144; None for a grey frame.
        path: Positions [x, y] in this frame's room, oldest first; the last one is current.
        large: The room is larger than the screen.
    """

    png: bytes | None
    path: tuple[Point, ...]
    large: bool = False


def load_strip(store: ObjectStore, segment: LoadedSegment, limit: int) -> bytes | None:
    """A PNG of at most `limit` frames; None if the segment has no pictures. Blocks.

    Raises the errors of `rlaif.judge.evidence.loading.load_pictures`.
    """
    pictures = load_pictures(store, segment.manifest, limit)
    if not pictures:
        return None
    try:
        return draw(frames(pictures, segment.states))
    except OSError as error:  # raised by pillow for an unreadable picture
        raise CorruptSegmentError(f"a picture of the segment is not a PNG: {error}") from error


def frames(pictures: Sequence[tuple[bytes, int]], states: Sequence[DescribedState]) -> list[Frame]:
    """Frames of the pictures, each with the path through its room up to the picture's step."""
    made = []
    for png, step in pictures:
        room = states[step].room if step < len(states) else None
        if room is None or states[step].position is None:
            made.append(Frame(png, ()))
            continue
        path: list[Point] = []
        for state in reversed(states[: step + 1]):
            if state.room != room or state.position is None:
                break
            path.append(state.position)
        inside = [state.position for state in states if state.room == room and state.position]
        large = any(x >= _ROOM_WIDTH or y >= _ROOM_HEIGHT for x, y in inside)
        made.append(Frame(png, tuple(reversed(path)), large))
    return made


def draw(strip: Sequence[Frame]) -> bytes:
    """A PNG with two frames per row, each 320x288; at least one frame."""
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
    """Top left corner of the visible part of a large room.

    Descriptions do not contain the camera; it follows the player and stops at the edges.
    """
    x = min(max(0, at[0] - _ROOM_WIDTH // 2), _LARGE_WIDTH - _ROOM_WIDTH)
    y = min(max(0, at[1] - _ROOM_HEIGHT // 2), _LARGE_HEIGHT - _ROOM_HEIGHT)
    return x, y
