#!/usr/bin/env python3
"""Play the whole story and write the inputs down as walkthrough.json.

    python3 walk.py                    play the shipped ROM, write walkthrough.json
    python3 walk.py --rom my.gbc       play another build of it
    python3 walk.py --shots ../../../docs/game   also take the pictures of the gallery there

The route is a script of skills (walk_route.py), which `rlaif.game.skills` plays by
reading RAM (walker.py). The output is a list of [button, frames held], where NOP
holds nothing and each button is released before the next step.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import walk_route
import walk_shots
from walker import LostError, Walker

from rlaif.game.machine.cartridges import load_cartridge

OUT = Path(__file__).resolve().parent / "walkthrough.json"
ROM = "seedling.gbc"


def _dumps(steps: list[list[str | int]], rom: str) -> str:
    lines, line = [], ""
    for step in steps:
        text = json.dumps(step)
        if line and len(line) + len(text) + 2 > 96:
            lines.append(line)
            line = ""
        line += (" " if line else "") + text + ","
    lines.append(line.rstrip(","))
    body = "\n    ".join(lines)
    return f'{{\n  "rom": "{rom}",\n  "steps": [\n    {body}\n  ]\n}}\n'


def main() -> int:
    parser = argparse.ArgumentParser(description="Play the story, write the inputs.")
    parser.add_argument("--rom", type=Path, help="ROM to play (default: shipped)")
    parser.add_argument("--out", type=Path, default=OUT, help="file to write")
    parser.add_argument("--shots", type=Path, help="folder for the pictures of the gallery")
    args = parser.parse_args()

    walker = Walker(load_cartridge(args.rom))

    def visit(name: str) -> None:
        group, room = walker.room
        coins = walker.u8("wNumRupees")
        health = walker.u8("wLinkHealth")
        where = f"{group}:{room:02X} health {health} coins {coins:02X}"
        print(f"{walker.frames:7d} {where}  {name}", flush=True)
        if args.shots:
            walk_shots.take(walker, name, args.shots)

    try:
        walk_route.run(walker, visit)
    except LostError as error:
        print(f"lost: {error}", file=sys.stderr)
        return 1
    if args.shots:
        walk_shots.write_index(args.shots)
    args.out.write_text(_dumps(walker.steps, ROM), encoding="ascii")
    print(f"{args.out} {len(walker.steps)} steps, {walker.frames} frames")
    return 0


if __name__ == "__main__":
    sys.exit(main())
