#!/usr/bin/env python3
"""Play the whole story and write the inputs down as walkthrough.json.

    python3 walk.py                    play the shipped ROM, write walkthrough.json
    python3 walk.py --rom my.gbc       play another build of it
    python3 walk.py --shots ../../../docs/game   also take the pictures of the gallery there

The route is a list of commands (walk_route.txt), played by reading RAM (walker.py). The output is
a list of [button, frames held], where NOP holds nothing and each button is released before the next
step.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path

from PIL import Image
from walker import LostError, Walker

from rlaif.game.machine.cartridges import load_cartridge

HERE = Path(__file__).resolve().parent
ROUTE, OUT = HERE / "walk_route.txt", HERE / "walkthrough.json"
ATTEMPTS = 30
ENOUGH_HEALTH = 8  # quarter hearts at the end of a chapter
LINE = 96
SCALE = 2
COLOURS = 64  # more than one screen ever shows
EVERY = 2  # frames from one picture of a film to the next
INTRODUCTION = """\
# Seedling Vale in pictures

Moments of the walkthrough of the embedded game, twice the size of the screen (320x288).
Written by `walk.py --shots` in `libs/game/cartridge`; do not edit. The game and its
build: [libs/game/cartridge](../../libs/game/cartridge/README.md).

Rooms slide past each other on foot; doors, caves, the satchel, a season and a death fade
to black and back. Water, fire and plants move, characters flash white when hit, and `make
play` has sound: two tunes and twenty effects (M or `--mute` for silence).
"""


class Gallery:
    """The pictures of a walkthrough, written below a folder; without one, nothing is taken."""

    def __init__(self, walker: Walker, folder: Path | None) -> None:
        self._walker, self._folder = walker, folder
        self._captions: dict[str, str] = {}

    def take(self, kind: str, rest: str) -> None:
        """Take the picture (`shot`) or film of a line of the route."""
        if self._folder is None:
            return
        described, caption = rest.split(" | ")
        name, *pressed = described.split()
        presses = [(button, int(n)) for button, n in (each.split(":") for each in pressed)]
        pictures = [_large(each) for each in self._walker.film(EVERY, presses, last=kind == "shot")]
        file = f"{name}.png" if kind == "shot" else f"{name}.gif"
        self._captions[file] = caption
        if kind == "shot":
            pictures[-1].quantize(COLOURS, dither=0).save(self._folder / file, optimize=True)
            return
        ends = pictures[0].resize((SCALE * pictures[0].width, pictures[0].height), 0)
        ends.paste(pictures[-1], (pictures[0].width, 0))
        palette = ends.quantize(2 * COLOURS, dither=0)
        first, *others = [picture.quantize(palette=palette, dither=0) for picture in pictures]
        first.save(
            self._folder / file, save_all=True, append_images=others,
            duration=round(1000 * EVERY / 60), loop=0, optimize=True,
        )  # fmt: skip

    def write_index(self) -> None:
        """Write README.md, which shows all pictures with a line each."""
        if self._folder is not None:
            shown = [
                f"\n![{Path(file).stem}]({file})\n\n{line}\n"
                for file, line in self._captions.items()
            ]
            text = INTRODUCTION + "".join(shown)
            (self._folder / "README.md").write_text(text, encoding="utf-8")


def _large(picture: Image.Image) -> Image.Image:
    return picture.resize((SCALE * picture.width, SCALE * picture.height), 0)


def chapters(text: str) -> Iterable[tuple[str, list[str]]]:
    """The (name, lines) of each chapter of a route."""
    for part in text.split("\nchapter ")[1:]:
        name, *lines = part.splitlines()
        yield name, [line for line in lines if line and not line.startswith("#")]


def play(walker: Walker, lines: Iterable[str], gallery: Gallery) -> None:
    """Play one chapter; LostError if a command fails or too much health is lost."""
    for line in lines:
        command, _, rest = line.partition(" ")
        if command == "visit":
            print(f"{walker.frames:7d} {walker.status()}  {rest}", flush=True)
        elif command in ("shot", "film"):
            gallery.take(command, rest)
        else:
            words = [int(word) if word.isdecimal() else word for word in rest.split()]
            getattr(walker, command)(*words)
    if walker.u8("wLinkHealth") < ENOUGH_HEALTH:
        raise LostError("too many hearts lost")


def run(walker: Walker, gallery: Gallery) -> None:
    """Play all chapters; one that fails is retried after a short wait.

    The game has no clock but the frames, so waiting changes how its enemies move.
    """
    for name, lines in chapters(ROUTE.read_text(encoding="utf-8")):
        start = walker.snapshot()
        for attempt in range(ATTEMPTS):
            try:
                play(walker, lines, gallery)
                break
            except LostError as error:
                if attempt == ATTEMPTS - 1:
                    raise LostError(f"chapter {name}: {error}") from error
                walker.restore(start)
                walker.press("NOP", 5 + 3 * attempt)


def dumps(steps: list[list[str | int]]) -> str:
    lines = [""]
    for text in (json.dumps(step) for step in steps):
        if lines[-1] and len(lines[-1]) + len(text) + 2 > LINE:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + text + ","
    body = "\n    ".join(lines).rstrip(",")
    return f'{{\n  "rom": "seedling.gbc",\n  "steps": [\n    {body}\n  ]\n}}\n'


def main() -> int:
    parser = argparse.ArgumentParser(description="Play the story, write the inputs.")
    parser.add_argument("--rom", type=Path, help="ROM to play (default: shipped)")
    parser.add_argument("--out", type=Path, default=OUT, help="file to write")
    parser.add_argument("--shots", type=Path, help="folder for the pictures of the gallery")
    args = parser.parse_args()
    walker = Walker(load_cartridge(args.rom))
    gallery = Gallery(walker, args.shots)
    if args.shots:
        args.shots.mkdir(parents=True, exist_ok=True)
    try:
        run(walker, gallery)
    except LostError as error:
        print(f"lost: {error}", file=sys.stderr)
        return 1
    gallery.write_index()
    args.out.write_text(dumps(walker.steps), encoding="ascii")
    print(f"{args.out} {len(walker.steps)} steps, {walker.frames} frames")
    return 0


if __name__ == "__main__":
    sys.exit(main())
