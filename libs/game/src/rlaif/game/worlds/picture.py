"""The map of a world, drawn with the engine's own tiles; numbers are the guide's objectives."""

from importlib import resources
from typing import Any

from PIL import Image, ImageDraw

from rlaif.game.worlds.records import parse_key
from rlaif.game.worlds.tables import (
    CAVES,
    COLUMNS,
    DUNGEON,
    HOUSES,
    OVERWORLD,
    ROWS,
    SIGNS,
    Key,
    Spot,
)

_TILE, _GAP = 16, 8
_WIDTH, _HEIGHT = COLUMNS * _TILE + _GAP, ROWS * _TILE + _GAP
_SHEET_ROWS = {OVERWORLD: 0, HOUSES: 4, DUNGEON: 5, CAVES: 6}
"""Rows of tiles.png, from `cartridge/build.py --world`: a column for each row of tiles.csv."""
_BACKGROUND, _LABEL, _MARK, _START = "#182038", "#f8f8e8", "#e02848", "#3070c8"


def picture(world: dict[str, Any]) -> Image.Image:
    """The map: rooms on the ground at their positions, below them dungeon, houses and caves."""
    rooms = {parse_key(room["room"]): room for room in world["rooms"]}
    cells = _cells(list(rooms))
    width = 1 + max(column for _, column in cells.values())
    height = 1 + max(row for row, _ in cells.values())
    image = Image.new("RGB", (width * _WIDTH + _GAP, height * _HEIGHT + _GAP), _BACKGROUND)
    with resources.files(__package__).joinpath("tiles.png").open("rb") as file:
        sheet = Image.open(file).convert("RGB")
    for key, room in rooms.items():
        image.paste(_draw(room["map"], sheet, _SHEET_ROWS[key[0]]), _corner(cells[key]))
    drawing = ImageDraw.Draw(image)
    start = world["start"]
    _mark(drawing, cells[parse_key(start["room"])], start["tile"], "*", _START)
    for it in world["objectives"]:
        _mark(drawing, cells[parse_key(it["room"])], it["tile"], str(it["number"]), _MARK)
    return image.quantize(256)


def _cells(keys: list[Key]) -> dict[Key, Spot]:
    """Row and column of each room in the picture."""
    land = {key: divmod(key[1], 16) for key in keys if key[0] == OVERWORLD}
    top, left = min(row for row, _ in land.values()), min(column for _, column in land.values())
    cells = {key: (row - top, column - left) for key, (row, column) in land.items()}
    width = max(8, 1 + max(column for _, column in cells.values()))
    below = 1 + max(row for row, _ in cells.values())
    deep = {key: divmod(key[1], 8) for key in keys if key[0] == DUNGEON}
    top, left = min(row for row, _ in deep.values()), min(column for _, column in deep.values())
    cells |= {key: (below + row - top, column - left) for key, (row, column) in deep.items()}
    others = [key for key in keys if key not in cells]
    below = 1 + max(row for row, _ in cells.values())
    return cells | {key: (below + i // width, i % width) for i, key in enumerate(others)}


def _draw(rows: list[str], sheet: Image.Image, place: int) -> Image.Image:
    image = Image.new("RGB", (COLUMNS * _TILE, ROWS * _TILE))
    columns = {sign: column for column, sign in enumerate(SIGNS)}
    for row, line in enumerate(rows):
        for column, sign in enumerate(line):
            x, y = columns[sign] * _TILE, place * _TILE
            tile = sheet.crop((x, y, x + _TILE, y + _TILE))
            image.paste(tile, (column * _TILE, row * _TILE))
    return image


def _corner(cell: Spot) -> tuple[int, int]:
    return cell[1] * _WIDTH + _GAP, cell[0] * _HEIGHT + _GAP


def _mark(drawing: ImageDraw.ImageDraw, cell: Spot, tile: Spot, text: str, colour: str) -> None:
    x, y = _corner(cell)
    x, y = x + tile[1] * _TILE + _TILE // 2, y + tile[0] * _TILE + _TILE // 2
    drawing.ellipse((x - 8, y - 8, x + 8, y + 8), fill=colour, outline=_LABEL)
    drawing.text((x, y), text, fill=_LABEL, anchor="mm")
