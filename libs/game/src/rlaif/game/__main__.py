"""`python -m rlaif.game inspect ROM|STATE`: what a ROM or a save state is."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rlaif.game.blocks import read_blocks
from rlaif.game.cartridges import CartridgeError, load_cartridge
from rlaif.game.describe import describe
from rlaif.game.emulator import STATE_VERSION, PyBoyEmulator, SaveStateError
from rlaif.game.state import decode


def main(argv: list[str] | None = None) -> int:
    """Print one JSON object; exit code 0, or 1 with the reason on standard error."""
    parser = argparse.ArgumentParser(prog="python -m rlaif.game", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    inspect = commands.add_parser("inspect", help="say what a file is")
    inspect.add_argument("file", type=Path, help="a ROM, or a save state of the ROM given by --rom")
    inspect.add_argument("--rom", type=Path, help="ROM of the save state; else the embedded game")
    options = parser.parse_args(argv)
    try:
        found = inspect_file(options.file, options.rom)
    except (CartridgeError, SaveStateError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(json.dumps(found, indent=2) + "\n")
    return 0


def inspect_file(file: Path, rom: Path | None) -> dict[str, Any]:
    """What a ROM or a save state is.

    Raises:
        CartridgeError: The ROM cannot be used.
        SaveStateError: The save state does not fit the ROM.
        OSError: A file cannot be read.
    """
    data = file.read_bytes()
    if data[:1] != bytes([STATE_VERSION]):
        cartridge = load_cartridge(file)
        return {
            "kind": "rom",
            "title": cartridge.title,
            "sha256": cartridge.sha256,
            "size_bytes": len(cartridge.data),
            "oracle_of_seasons": cartridge.is_oracle_of_seasons,
        }
    cartridge = load_cartridge(rom)
    emulator = PyBoyEmulator(cartridge.data, sound_emulated=cartridge.needs_sound)
    try:
        emulator.load_state(data)
        state = decode(read_blocks(emulator))
        return {
            "kind": "state",
            "size_bytes": len(data),
            "ram_sha256": emulator.ram_digest(),
            "game": cartridge.title,
            "state": describe(state, oracle_names=cartridge.is_oracle_of_seasons),
        }
    finally:
        emulator.close()


if __name__ == "__main__":
    sys.exit(main())
