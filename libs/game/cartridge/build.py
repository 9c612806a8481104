#!/usr/bin/env python3
"""Build the cartridge image from the C sources and the ASCII art.

    python3 build.py                 write the ROM that the package ships
    python3 build.py --check         build, and compare with the shipped ROM
    python3 build.py --output my.gbc   write somewhere else
    python3 build.py --data FOLDER --title NAME --output my.gbc   the same engine with other rooms
    python3 build.py --world         write the engine of generated worlds that the package ships,
                                     and the picture of its tiles

Banks 0 and 1 hold the code and small tables, bank 2 rooms, texts and sounds, bank 3
pictures and colours. Slips in rooms, texts and pictures stop the build with a
sentence that names the place.

Needs SDCC (`apt-get install sdcc`) and nothing else. The same sources give
the same bytes every time. After a change of the ROM run walk.py, which plays
the walkthrough again.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import assets
import rooms_check

HERE = Path(__file__).resolve().parent
ROM_NAME = "seedling.gbc"
DEFAULT_OUT = HERE.parent / "src" / "rlaif" / "game" / "roms" / ROM_NAME
WORLD_OUT = DEFAULT_OUT.parent.with_name("worlds") / "engine.gbc"
FACTS_OUT = HERE.parents[1] / "common/src/rlaif/guides/seedling-vale.json"

TITLE = "SEEDLING"
TITLE_LETTERS = 11  # what follows them in the header is the maker's code
MAKER = b"SDLV"
ROM_SIZE = 0x10000
WORLD_ROM_SIZE = 0x20000
BANK_SIZE = 0x4000
CODE_START = 0x0200
CODE_END = 0x8000  # banks 0 and 1: code and small tables
BANK_ROOMS, BANK_ART = 2, 3  # must equal BANK_ROOMS and BANK_ART in src/game.h
DATA_START, DATA_END = 0xC0A0, 0xC2EE  # private variables: first byte, one past the last

MODULES = [
    "main", "video", "input", "rng", "far", "room", "tiles", "travel", "player", "terrain",
    "action", "tools", "carry", "puzzle", "people", "treasure", "scene", "objects", "drops",
    "enemies", "shots", "boss", "sound", "hud", "text", "menu", "death", "ending", "title",
    "art_tables",
]  # fmt: skip
BANKED = {
    "rooms": BANK_ROOMS, "texts": BANK_ROOMS, "sounds": BANK_ROOMS, "art_pictures": BANK_ART,
}  # fmt: skip
BANK_TEXTS = 4  # of a world, must equal BANK_TEXTS in src/game.h
# The directory comes first, then what is the same in all worlds (see src/world.h).
WORLD_BANKED = {
    "directory": BANK_ROOMS, "sounds": BANK_ROOMS, "rooms": BANK_ROOMS, "texts": BANK_TEXTS,
    "art_pictures": BANK_ART,
}  # fmt: skip


class BuildError(Exception):
    """Anything that stops the build, worded for the person at the keyboard."""


def run(tool: str, *args: str, cwd: Path) -> None:
    path = shutil.which(tool)
    if path is None:
        raise BuildError(f"{tool} not found; install the compiler with: apt-get install sdcc")
    done = subprocess.run([path, *args], cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        raise BuildError(f"{tool} {' '.join(args)}\n{done.stdout}{done.stderr}")
    for line in (done.stdout + done.stderr).splitlines():
        if "warning" in line.lower():
            print(line, file=sys.stderr)


def compile_all(work: Path, data: Path, world: bool = False) -> tuple[dict[int, int], str]:
    """Compile and link in a scratch folder; return the bytes and the map text.

    Files of `data` take the place of those in our own data/ that have the same names.
    """
    tables, pictures, header = assets.generate(HERE / "art")
    for folder in (HERE / "src", HERE / "data", data):
        for path in sorted(folder.iterdir()):
            if path.suffix in (".c", ".h", ".s"):
                shutil.copy(path, work / path.name)
    (work / "art_tables.c").write_text(tables, encoding="ascii")
    (work / "art_pictures.c").write_text(pictures, encoding="ascii")
    (work / "art.h").write_text(header, encoding="ascii")

    run("sdasgb", "-o", "crt0.rel", "crt0.s", cwd=work)
    compiler = ["-msm83", "--std-c99", "--opt-code-speed", "--max-allocs-per-node", "8000", "-c"]
    banked = WORLD_BANKED if world else BANKED
    if world:
        compiler.append("-DWORLD")
    for name in MODULES:
        run("sdcc", *compiler, f"{name}.c", cwd=work)
    for name, bank in banked.items():
        run("sdcc", *compiler, "--constseg", f"BANK_{bank}", f"{name}.c", cwd=work)
    run("sdcc", "-msm83", "--no-std-crt0",
        "--code-loc", hex(CODE_START), "--data-loc", hex(DATA_START),
        *(f"-Wl-b_BANK_{bank}={bank << 16 | BANK_SIZE:#x}" for bank in sorted({*banked.values()})),
        "-o", "game.ihx", "crt0.rel", *(f"{n}.rel" for n in (*MODULES, *banked)),
        cwd=work)  # fmt: skip
    return read_ihx(work / "game.ihx"), (work / "game.map").read_text()


def read_ihx(path: Path) -> dict[int, int]:
    """Intel HEX records as {place in the ROM: byte}; two on one place are an error.

    The linker writes places in the ROM, not what the CPU sees.
    """
    image: dict[int, int] = {}
    upper = 0
    for line in path.read_text(encoding="ascii").split():
        record = bytes.fromhex(line[1:])
        if line[0] != ":" or sum(record) & 0xFF:
            raise BuildError(f"{path.name}: bad record {line}")
        count, address, kind = record[0], record[1] << 8 | record[2], record[3]
        if kind == 1:
            break
        if kind == 4:
            upper = (record[4] << 8 | record[5]) << 16
            continue
        if kind != 0:
            raise BuildError(f"{path.name}: unexpected record type {kind}")
        address += upper
        for i, byte in enumerate(record[4 : 4 + count]):
            if address + i in image:
                raise BuildError(f"two pieces of code on ROM place {address + i:05X}")
            image[address + i] = byte
    return image


def check_map(text: str) -> list[tuple[str, int, int]]:
    """Keep private variables away from the public memory map; (name, start, size) of segments."""
    found = re.findall(r"^(_\w+)\s+([0-9A-F]{8})\s+([0-9A-F]{8})\s*=", text, re.M)
    areas = [(name, int(at, 16), int(size, 16)) for name, at, size in found if int(size, 16)]
    for name, start, size in areas:
        end = (start & 0xFFFF) + size
        in_rom = start >> 16 or start < CODE_END
        fits = end <= CODE_END if in_rom else DATA_START <= start <= end <= DATA_END
        if name not in ("_HEADER", "_CABS") and not fits:
            space = f"{DATA_START:04X}-{DATA_END - 1:04X}, the space for private variables"
            space = f"the {CODE_END:04X} bytes of its bank" if in_rom else space
            raise BuildError(f"segment {name} at {start:04X}-{end - 1:04X} leaves {space}")
    return areas


def make_rom(image: dict[int, int], title: bytes, size: int = ROM_SIZE) -> bytes:
    rom = bytearray([0xFF]) * size
    rom[0x104:0x150] = bytes(0x150 - 0x104)  # no logo of anyone's
    for address, byte in image.items():
        if 0x104 <= address < 0x150:
            raise BuildError(f"code in the header at {address:04X}")
        if address >= size:
            raise BuildError(f"code beyond the ROM at {address:05X}")
        rom[address] = byte
    rom[0x134 : 0x134 + len(title)] = title
    rom[0x13F:0x143] = MAKER
    rom[0x143] = 0xC0  # colour only
    rom[0x144:0x146] = b"SV"
    rom[0x147] = 0x1B  # MBC5 + RAM + battery
    rom[0x148] = (size // ROM_SIZE).bit_length()  # 1: 64 KiB, 2: 128 KiB
    rom[0x149] = 0x02  # 8 KiB of RAM
    rom[0x14A] = 0x01
    rom[0x14B] = 0x33
    rom[0x14D] = -sum(byte + 1 for byte in rom[0x134:0x14D]) & 0xFF
    rom[0x14E:0x150] = (sum(rom) & 0xFFFF).to_bytes(2, "big")
    return bytes(rom)


def build(
    data: Path, title: bytes, world: bool = False
) -> tuple[bytes, list[tuple[str, int, int]]]:
    rooms_check.check(data / "rooms.c", HERE / "art" / "tiles.txt")
    rooms_check.check_texts(data / "texts.c")
    with tempfile.TemporaryDirectory(prefix="cartridge-") as folder:
        image, map_text = compile_all(Path(folder), data, world)
    return make_rom(image, title, WORLD_ROM_SIZE if world else ROM_SIZE), check_map(map_text)


def write_tiles(out: Path) -> None:
    """A picture of the tiles, for maps of worlds: a column for each row of tiles.csv."""
    from PIL import Image  # a build needs only SDCC

    with (out.parent / "tiles.csv").open(encoding="ascii", newline="") as file:
        characters = "".join(row["sign"] for row in csv.DictReader(file))
    width, height, pixels = assets.sheet(HERE / "art", characters)
    image = Image.frombytes("RGB", (width, height), pixels)
    image.quantize(256).save(out, optimize=True)


def write_facts(out: Path) -> None:
    """What is known of Seedling Vale, by the package that has just got its engine."""
    from rlaif.game.worlds.records import Facts
    from rlaif.game.worlds.rom import engine

    facts = Facts(engine()).world(out.stem)
    out.write_text(json.dumps(facts, separators=(",", ":")) + "\n", encoding="ascii")


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the game cartridge.")
    add = parser.add_argument
    add("--output", type=Path, default=DEFAULT_OUT, help="ROM to write (default: the shipped one)")
    add("--check", action="store_true", help="compare with the ROM instead of writing it")
    add("--data", type=Path, default=HERE / "data", help="folder with other rooms and texts")
    add("--title", default=TITLE, help=f"title in the header (default: {TITLE})")
    add("--world", action="store_true", help="build the engine of generated worlds")
    args = parser.parse_args()
    if args.world and args.output == DEFAULT_OUT:
        args.output = WORLD_OUT
    if args.data.resolve() != HERE / "data" and args.output == DEFAULT_OUT:
        parser.error("--data builds another game: name its ROM with --output")
    if len(args.title) > TITLE_LETTERS or not args.title.isascii():
        parser.error(f"--title: at most {TITLE_LETTERS} ASCII letters fit the header")
    try:
        rom, areas = build(args.data, args.title.encode("ascii"), args.world)
    except (BuildError, assets.ArtError, rooms_check.RoomError) as error:
        print(f"build failed: {error}", file=sys.stderr)
        return 1
    digest = hashlib.sha256(rom).hexdigest()
    if args.check:
        same = args.output.exists() and args.output.read_bytes() == rom
        found = "matches" if same else "differs from"
        print(f"{args.output} {found} its sources, which give sha256 {digest}")
        return 0 if same else 1
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_bytes(rom)
    if args.output == WORLD_OUT:
        write_tiles(WORLD_OUT.with_name("tiles.png"))
        write_facts(FACTS_OUT)
    for name, start, size in sorted(areas, key=lambda area: area[1:]):
        print(f"{name:14s} {start:05X}-{start + size - 1:05X} {size:6d} bytes")
    print(f"{args.output} {len(rom)} bytes, sha256 {digest}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
