"""Turn the ASCII art under art/ into C arrays.

The pictures are text so that a change to them can be read in a diff. Called
by build.py; prints nothing and returns the generated C source and header.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import chain, product
from pathlib import Path

SHADES = {".": 0, ":": 1, "o": 2, "#": 3}
PLACES = ("spring", "summer", "autumn", "winter", "indoors", "dungeon", "cave")
BG_TILES, TEXT_TILES, OBJ_TILES = 256, 128, 256  # what fits into video memory
LEVELS = 5  # steps from full brightness to black; must equal BLACK in src/video.c
MOTIONS = ("water", "fire", "plants")
PHASES = 4  # pictures of a tile that moves
VARIANTS = 16  # quarters of which a floor is assembled
FLIP_X, FLIP_Y = 0x20, 0x40


class ArtError(Exception):
    """A picture that cannot be converted; the message names file and picture."""


def _blocks(path: Path):
    """Yield (header words, rows) for every picture in an art file."""
    head, rows = None, []
    for line in path.read_text(encoding="ascii").splitlines():
        # A row of pixels may start with '#', a comment is '#' and a space (or nothing).
        if line == "#" or line.startswith("# ") or not line.strip():
            continue
        word = line.split(" ", 1)[0]
        if word in ("tile", "frame", "piece", "sprite", "icon", "strip"):
            if head is not None:
                yield head, rows
            head, rows = line.split(" "), []
        elif head is None:
            raise ArtError(f"{path.name}: picture rows before any header: {line!r}")
        else:
            rows.append(line)
    if head is not None:
        yield head, rows


def _pixels(path: Path, name: str, rows, width: int, height: int, mirror=False):
    if mirror:
        rows = [row + row[::-1] for row in rows]
    if len(rows) != height:
        raise ArtError(f"{path.name}: {name} has {len(rows)} rows, expected {height}")
    out = []
    for i, row in enumerate(rows):
        if len(row) != width:
            raise ArtError(f"{path.name}: {name} row {i} has {len(row)} columns, expected {width}")
        try:
            out.append([SHADES[c] for c in row])
        except KeyError as bad:
            raise ArtError(f"{path.name}: {name} row {i}: unknown pixel {bad}") from None
    return out


def _tile(pixels, x: int, y: int) -> bytes:
    """One 8x8 tile in the console's two-bits-per-pixel format."""
    out = bytearray()
    for row in pixels[y : y + 8]:
        lo = hi = 0
        for p in row[x : x + 8]:
            lo = lo << 1 | (p & 1)
            hi = hi << 1 | (p >> 1)
        out += bytes((lo, hi))
    return bytes(out)


def _array(name: str, data, per_line: int = 16) -> str:
    rows = (data[i : i + per_line] for i in range(0, len(data), per_line))
    lines = ["    " + ", ".join(f"0x{b:02X}" for b in row) + "," for row in rows]
    return "\n".join([f"const uint8_t {name}[{len(data)}] = {{", *lines, "};"])


def _colours(path: Path) -> dict[tuple[str, int], list[tuple[int, ...]]]:
    """Four colours as (red, green, blue) by place and number of palette."""
    table: dict[tuple[str, int], list[tuple[int, ...]]] = {}
    for line in path.read_text(encoding="ascii").splitlines():
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        rgb = [tuple(int(w[i : i + 2], 16) for i in (0, 2, 4)) for w in words[2:6]]
        table[words[0], int(words[1])] = rgb
    return table


def _palettes(path: Path) -> tuple[bytes, bytes]:
    """Background colours [7 places][6 levels][64], sprite colours [6 levels][64].

    The levels are full brightness, then 4/5 to 0/5, which is black. The places are the four
    seasons of the overworld, houses, the dungeon and caves; one without a line
    of its own for a palette takes the "bg" one.
    """
    table = _colours(path)

    def level_bytes(kind: str, level: int) -> bytes:
        out = bytearray()
        for n in range(8):
            colours = table[kind, n] if (kind, n) in table else table["bg", n]
            for r, g, b in colours:
                r, g, b = ((c >> 3) * level // LEVELS for c in (r, g, b))
                out += (r | g << 5 | b << 10).to_bytes(2, "little")
        return bytes(out)

    levels = range(LEVELS, -1, -1)
    background = b"".join(level_bytes(s, level) for s in PLACES for level in levels)
    return background, b"".join(level_bytes("obj", level) for level in levels)


class _Background:
    """The 8x8 tiles of the rooms; a tile that is there already, even mirrored, is shared.

    A tile is known by its pictures: one, or the phases of one that moves.
    """

    def __init__(self) -> None:
        self.tiles: list[tuple[bytes, ...]] = []
        self._where: dict[tuple[bytes, ...], tuple[int, int]] = {}

    def put(self, phases: list[list[list[int]]], x: int, y: int) -> tuple[int, int]:
        """(number, mirror bits) of a tile."""
        cells = [[row[x : x + 8] for row in pixels[y : y + 8]] for pixels in phases]
        key = tuple(_tile(cell, 0, 0) for cell in cells)
        if len(set(key)) == 1:
            key, cells = key[:1], cells[:1]
        found = self._where.get(key)
        if found is None:
            found = len(self.tiles), 0
            self.tiles.append(key)
            for flip, turned in (
                (0, cells),
                (FLIP_X, [[r[::-1] for r in cell] for cell in cells]),
                (FLIP_Y, [cell[::-1] for cell in cells]),
                (FLIP_X | FLIP_Y, [[r[::-1] for r in cell[::-1]] for cell in cells]),
            ):
                seen = tuple(_tile(cell, 0, 0) for cell in turned)
                self._where.setdefault(seen, (found[0], flip))
        return found


def _roll(pixels, down: int, right: int):
    """Move a picture that is seamless, over its own edges."""
    turned = pixels[-down:] + pixels[:-down] if down else pixels
    return [row[-right:] + row[:-right] if right else row for row in turned]


def _sway(pixels, top: int, by: int):
    """Water from row `top` on: each half of the tile drifts its own way."""
    return [
        row if i < top else _roll([row], 0, by if i < 8 else -by)[0] for i, row in enumerate(pixels)
    ]


@dataclass
class _Drawn:
    """A tile of tiles.txt: its words, its picture in every phase, 8x8 pieces that vary it."""

    name: str
    options: dict[str, str]
    phases: list[list[list[int]]]
    pieces: list[tuple[list[list[int]], dict[str, str]]] = field(default_factory=list)


def _phases(pixels, options: dict[str, str]) -> list[list[list[int]]]:
    """The four pictures of a tile that moves by rule: `sway`, `bob`, `rustle`."""
    if "sway" in options:
        return [_sway(pixels, int(options["sway"]), by) for by in (0, 1, 2, 1)]
    if "bob" in options:
        return [_roll(pixels, down, 0) for down in (0, 0, 1, 1)]
    if "rustle" in options:
        return [_roll(pixels, 0, right) for right in (0, 0, 1, 1)]
    return [pixels]


def _drawn(path: Path) -> list[_Drawn]:
    """The tiles of tiles.txt, those that move first, by kind of motion, then those that vary."""
    drawn: list[_Drawn] = []
    for head, rows in _blocks(path):
        options = dict(w.split("=", 1) for w in head[2:] if "=" in w)
        name = head[1]
        if head[0] == "piece":
            drawn[-1].pieces.append((_pixels(path, name, rows, 8, 8), options))
            continue
        pixels = _pixels(path, name, rows, 16, 16, "mirror" in head)
        if head[0] == "frame":
            drawn[-1].phases.append(pixels)
        else:
            drawn.append(_Drawn(name, options, _phases(pixels, options)))
    for tile in drawn:
        while 1 < len(tile.phases) < PHASES:  # there and back again
            tile.phases.append(tile.phases[-2])
    return drawn


def _text(art: Path, header: list[str]) -> tuple[list[bytes], list[int]]:
    """Icons and letters: (tiles, tile number by character - 32)."""
    tiles: list[bytes] = []
    path = art / "icons.txt"
    for head, rows in _blocks(path):
        header.append(f"#define ICON_{head[1]} {len(tiles)}")
        tiles.append(_tile(_pixels(path, head[1], rows, 8, 8), 0, 0))
    path = art / "font.txt"
    glyph = [0] * 96  # the first icon is blank
    for head, rows in _blocks(path):
        chars = head[1]
        pixels = _pixels(path, chars, rows, 6 * len(chars), 8)
        for i, ch in enumerate(chars):
            cell = [[0, *row[6 * i : 6 * i + 6], 0] for row in pixels]
            glyph[ord(ch) - 32] = len(tiles)
            tiles.append(_tile(cell, 0, 0))
    if len(tiles) > TEXT_TILES:
        raise ArtError(f"{len(tiles)} icons and letters, only {TEXT_TILES} fit")
    return tiles, glyph


def _place(background: _Background, tile: _Drawn) -> list[tuple[int, int]]:
    """(number, attributes) of the four quarters of a tile."""
    pal = tile.options["pal"] * 4 if len(tile.options["pal"]) == 1 else tile.options["pal"]
    placed = [background.put(tile.phases, x, y) for y, x in ((0, 0), (0, 8), (8, 0), (8, 8))]
    return [(n, int(pal[q]) | flip) for q, (n, flip) in enumerate(placed)]


def _varied(background: _Background, tile: _Drawn) -> list[list[tuple[int, int]]]:
    """The variants of a floor: each four quarters as (number, attributes).

    Of 16 quarters a piece is as many as its `weight`, mirrored in turn, and the tile's own
    are the rest; a variant draws four of them.
    """
    found: list[tuple[int, int]] = []
    for pixels, options in tile.pieces:
        number, flip = background.put([pixels], 0, 0)
        turns = (0,) if "upright" in options else (0, FLIP_X)
        attr = int(options.get("pal", tile.options["pal"]))
        found += [
            (number, attr | flip ^ turns[i % len(turns)]) for i in range(int(options["weight"]))
        ]
    own = _place(background, tile)
    found += [own[i % 4] for i in range(VARIANTS - len(found))]
    if len(found) > VARIANTS:
        raise ArtError(f"tiles.txt: {tile.name}: the pieces weigh more than {VARIANTS}")
    draw = random.Random(tile.name)
    return [draw.sample(found, 4) for _ in range(VARIANTS)]


def _motions(background: _Background, drawn: list[_Drawn], header: list[str]) -> list[bytes]:
    """Number the tiles that move, kind by kind; the pictures of each kind, phase by phase."""
    pictures = []
    for kind in MOTIONS:
        first = len(background.tiles)
        for tile in drawn:
            if tile.options.get("motion") == kind and len(tile.phases) > 1:
                for y, x in ((0, 0), (0, 8), (8, 0), (8, 8)):
                    if len({_tile(pixels, x, y) for pixels in tile.phases}) > 1:
                        background.put(tile.phases, x, y)
        moving = background.tiles[first:]
        header.append(f"#define ART_{kind.upper()}_FIRST {first}")
        header.append(f"#define ART_{kind.upper()}_TILES {len(moving)}")
        pictures.append(b"".join(tile[phase] for phase in range(PHASES) for tile in moving))
    return pictures


def _rooms(art: Path, header: list[str]) -> tuple[list[bytes], list[bytes], dict[str, list[int]]]:
    """Room tiles: (8x8 tiles, pictures of those that move by kind, tables by name)."""
    path = art / "tiles.txt"
    background = _Background()
    drawn = _drawn(path)
    moving = _motions(background, drawn, header)
    collision, kind, number, motion = [0] * 256, [0] * 256, [0] * 256, [0] * 256
    by_char = [0] * 96
    placed: list[tuple[int, int]] = []
    varied = 0
    seen: dict[int, str] = {}
    for tile in sorted(drawn, key=lambda tile: not tile.pieces):
        name, opt = tile.name, tile.options
        index = int(opt["index"], 16)
        if index in seen:
            raise ArtError(f"tiles.txt: {name} and {seen[index]} share index {index:02X}")
        seen[index] = name
        header.append(f"#define TILE_{name} 0x{index:02X}")
        if "char" in opt:  # what only the game itself makes of a tile has none
            slot = ord(opt["char"][0]) - 32
            if by_char[slot]:
                raise ArtError(f"tiles.txt: {name}: character {opt['char']!r} is taken")
            by_char[slot] = index
        collision[index] = int(opt.get("col", "0"), 16)
        kind[index] = int(opt.get("type", "0"), 16)
        motion[index] = 1 << MOTIONS.index(opt["motion"]) if "motion" in opt else 0
        number[index] = len(placed) // 4
        variants = _varied(background, tile) if tile.pieces else []
        varied += len(variants)
        placed += chain.from_iterable(variants or [_place(background, tile)])
    if len(background.tiles) > BG_TILES:
        raise ArtError(f"{len(background.tiles)} background tiles, only {BG_TILES} fit")
    if len(placed) // 4 > 256:
        raise ArtError(f"tiles.txt: {len(placed) // 4} tiles and variants, only 256 can be counted")
    return (
        [phases[0] for phases in background.tiles],
        moving,
        {
            "tile_by_char": by_char,
            "tile_collision": collision,
            "tile_type": kind,
            "tile_number": number,
            "tile_motion": motion,
            "tile_quads": [n for n, _ in placed],
            "tile_attrs": [attributes for _, attributes in placed],
            "varied_numbers": [varied],  # the numbers below it are variants of floors
        },
    )


def _sprites(art: Path, header: list[str]) -> list[bytes]:
    tiles: list[bytes] = []
    path = art / "sprites.txt"
    for head, rows in _blocks(path):
        pixels = _pixels(path, head[1], rows, 16, 16, "mirror" in head)
        header.append(f"#define SPR_{head[1]} {len(tiles)}")
        tiles += [_tile(pixels, x, y) for x, y in ((0, 0), (0, 8), (8, 0), (8, 8))]
    if len(tiles) > OBJ_TILES:
        raise ArtError(f"{len(tiles) // 4} sprites, only {OBJ_TILES // 4} fit")
    return tiles


def sheet(art: Path, characters: str) -> tuple[int, int, bytes]:
    """Pictures of tiles by their characters, a row for each of `PLACES`: (width, height, RGB)."""
    colours = _colours(art / "palettes.txt")
    tiles = {
        tile.options["char"]: tile for tile in _drawn(art / "tiles.txt") if "char" in tile.options
    }
    out = bytearray()
    for place, y in product(PLACES, range(16)):
        for character, x in product(characters, range(16)):
            tile = tiles[character]
            pal = tile.options["pal"] * 4 if len(tile.options["pal"]) == 1 else tile.options["pal"]
            number = int(pal[y // 8 * 2 + x // 8])
            shades = colours[(place if (place, number) in colours else "bg"), number]
            out += bytes(shades[tile.phases[0][y][x]])
    return 16 * len(characters), 16 * len(PLACES), bytes(out)


def generate(art: Path) -> tuple[str, str, str]:
    """Return (C tables, C pictures and colours, C header) for everything under the art folder."""
    header = [
        "/* Generated by assets.py from art/. */",
        "#ifndef ART_H",
        "#define ART_H",
        "#include <stdint.h>",
    ]
    text, glyph = _text(art, header)
    bg, moving, tables = _rooms(art, header)
    obj = _sprites(art, header)
    colours, obj_colours = _palettes(art / "palettes.txt")

    start = ["/* Generated by assets.py from art/. */", '#include "art.h"']
    near = [*start, _array("art_glyph", glyph)]
    near += [_array(name, table) for name, table in tables.items()]
    far = [
        *start,
        # First, as the hardware copies them from addresses that end in 0.
        *(_array(f"art_{kind}", data) for kind, data in zip(MOTIONS, moving, strict=True)),
        _array("art_bg", b"".join(bg)),
        _array("art_obj", b"".join(obj)),
        _array("art_text", b"".join(text)),
        _array("art_bg_colours", colours),
        _array("art_obj_colours", obj_colours),
    ]
    header += [
        f"#define ART_BG_TILES {len(bg)}",
        f"#define ART_OBJ_TILES {len(obj)}",
        f"#define ART_TEXT_TILES {len(text)}",
        "extern const uint8_t art_glyph[];",
        *(f"extern const uint8_t {name}[];" for name in tables),
        "/* in ROM bank BANK_ART */",
        "extern const uint8_t art_bg[], art_obj[], art_text[];",
        *(f"extern const uint8_t art_{kind}[];" for kind in MOTIONS),
        "extern const uint8_t art_bg_colours[], art_obj_colours[];",
        "#endif",
    ]
    return "\n".join(near) + "\n", "\n".join(far) + "\n", "\n".join(header) + "\n"
