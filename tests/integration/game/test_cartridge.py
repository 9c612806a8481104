"""The embedded game: built from its sources, in sturdy health, shown as it is."""

import re
import struct

import pytest

from rlaif.game.motion.terrain import HOLES, LAVA, LEDGES, WARPS, WATER

MODES = {0: 0, 3: 3, 4: 4, 5: 4}
"""Group of a room → wActiveCollisions, which says what a tile index means."""

WORDS = ("index", "col", "type")
HAZARD, HAZARDS = 0x10, {0x01: "hole", 0x07: "water"}
ENTRANCES = {"DOOR", "CAVE_MOUTH", "MAT", "CAVE_EXIT"}

FRAMES = 60_000
LARGEST_PICTURE = 10 * 1024
LARGEST_FILM = 300 * 1024
SCREEN_TWICE = (320, 288)


def test_the_shipped_rom_is_what_the_sources_build(cartridge_program):
    cartridge_program("build.py", "--check")


@pytest.mark.parametrize("seed", [1, 2])
def test_random_buttons_never_hang_it_nor_wall_the_player_in(cartridge_program, seed):
    output = cartridge_program("soak.py", "--frames", str(FRAMES), "--seed", str(seed))
    played = re.search(r": (\d+) frames .* (\d+) rooms", output)
    assert played is not None
    frames, rooms = played.groups()
    assert int(frames) >= FRAMES
    assert int(rooms) >= 5


def tiles_by_group(folder):
    """(group, name, index, collision byte, type) of every tile in a map, season forms included."""
    tiles = {}
    for line in (folder / "art/tiles.txt").read_text().splitlines():
        if line.startswith("tile "):
            words = dict(re.findall(r" (index|col|type)=([0-9A-F]{2})", line))
            char = re.search(r" char=(.)", line)
            name = line.split(" ")[1]
            tiles[name] = char and char[1], *(int(words.get(w, "0"), 16) for w in WORDS)
    by_char = {tile[0]: name for name, tile in tiles.items() if tile[0]}
    source = (folder / "data/rooms.c").read_text()
    seen = set()
    for group, rows in re.findall(
        r"\{(\d), 0x[0-9A-F]{2}, \"[^\"]*\",((?:\s*\"[^\"]*\")+)", source
    ):
        for drawn in set("".join(re.findall(r"\"([^\"]*)\"", rows))):
            seen.add((int(group), by_char[drawn]))
    table = re.search(r"season_tiles\[\] = \{(.*?)\n\s*\{0\}", source, re.S)
    assert table is not None
    seen |= {(0, name) for name in re.findall(r"TILE_(\w+)", table[1])}
    return [(group, name, *tiles[name][1:]) for group, name in sorted(seen)]


def test_a_tile_means_to_the_navigator_what_it_is_in_the_game(cartridge_folder):
    tiles = tiles_by_group(cartridge_folder)
    assert len(tiles) > 60
    for group, name, index, collision, kind in tiles:
        mode = MODES[group]
        hazard = HAZARDS.get(kind) if collision == HAZARD else None
        assert (index in WATER[mode]) == (hazard == "water"), name
        assert index not in HOLES[mode] or hazard == "hole", name
        assert index not in LAVA[mode], name
        assert all(index not in ledges for ledges in LEDGES[mode].values()), name
        assert (index in WARPS[mode]) == (name in ENTRANCES), name


def test_the_gallery_shows_small_pictures_of_the_screen_and_no_others(cartridge_folder):
    folder = cartridge_folder.parents[2] / "docs/game"
    pictures = {path.name: path.read_bytes() for path in folder.glob("*.png")}
    films = {path.name: path.read_bytes() for path in folder.glob("*.gif")}
    shown = re.findall(r"^!\[.+\]\((.+)\)$", (folder / "README.md").read_text(), re.M)
    assert sorted(shown) == sorted([*pictures, *films])
    assert len(pictures) >= 16
    for name, data in pictures.items():
        assert len(data) <= LARGEST_PICTURE, name
        assert struct.unpack(">II", data[16:24]) == SCREEN_TWICE, name
    for name, data in films.items():
        assert len(data) <= LARGEST_FILM, name
        assert struct.unpack("<HH", data[6:10]) == SCREEN_TWICE, name
