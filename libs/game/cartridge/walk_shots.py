"""The gallery of walk.py: pictures of the walkthrough.

A picture may press a few more buttons (to talk, to open the satchel), which are
rewound afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from walker import Walker

SCALE = 2
COLOURS = 64  # more than one screen ever shows


@dataclass(frozen=True)
class Shot:
    """A picture: taken at a visit of the route, after a few more presses."""

    file: str
    visit: str
    caption: str
    presses: tuple[tuple[str, int], ...] = ()


GALLERY: tuple[Shot, ...] = (
    Shot("title", "title", "The title waits for START or A."),
    Shot("village", "village", "Seedling, where a new game starts: Granny Fern's red roof, "
          "the Nut Shop's blue one."),
    Shot("dialog", "elder", "People say what fits the moment of the story: Elder Sorrel.",
          (("A", 2), ("NOP", 25))),
    Shot("shop", "shop choice", "The shop asks Yes or No."),
    Shot("field", "dug", "East Field in spring: soft soil shows rings; the shovel digs it."),
    Shot("bomb", "bomb", "A bomb opens the old quarry."),
    Shot("cliff", "vine cliff", "Summer: vines grow green on the cliff and carry a climber."),
    Shot("feather", "jumped", "Windy Cave: over the holes with the Gale Feather."),
    Shot("autumn", "dry hollow", "Autumn in Dry Hollow: dry bushes that burn."),
    Shot("pond", "winter", "Winter: Mirror Pond is frozen and can be crossed."),
    Shot("hollow", "frost hollow", "Frost Hollow, behind the snow drifts of winter."),
    Shot("torches", "torches", "Ember Cave: four torches lit, and a chest appears."),
    Shot("lake", "swimming", "Reed Lake with the flippers."),
    Shot("gate", "root gate", "Root Gate: the keyhole of the gnarled key; a charger, a spitter."),
    Shot("dungeon", "root cave", "Root Cave, the dungeon, behind the keyhole."),
    Shot("blocks", "block", "Button Room: one button for a block, one for a foot."),
    Shot("lever", "lever", "Hop Hall: the lever swaps blocks in another room."),
    Shot("menu", "flippers", "The satchel: START, pad, then A or B puts an item on that button.",
          (("START", 2), ("NOP", 40))),
    Shot("map", "boss key", "In the dungeon it shows the map; the compass adds what is "
          "still to be found.", (("START", 2), ("NOP", 40))),
    Shot("boss", "den", "Gnarl, the boss, sways along the wall and spits.", (("NOP", 50),)),
    Shot("boss-angry", "boss angry", "With half his health gone he turns red, hunts and spits "
          "three ways."),
    Shot("seed", "seed hall", "Seed Hall: the essence."),
    Shot("end", "essence", "The Sun Seed is found.", (("NOP", 20),)),
    Shot("game-over", "game over", "After a death, A continues at the last entrance."),
)  # fmt: skip


# Moving pictures, taken while the buttons are held.
FILMS: tuple[Shot, ...] = (
    Shot("scroll", "meadow", "On foot from room to room: the old one slides out, the new one in.",
         (("RIGHT", 56), ("NOP", 16))),
    Shot("water", "swimming", "Water, reeds and flowers move.", (("NOP", 128),)),
)  # fmt: skip
EVERY = 2  # frames from one picture of a film to the next


def _large(picture: Image.Image) -> Image.Image:
    return picture.resize((SCALE * picture.width, SCALE * picture.height), 0)


def _film(walker: Walker, film: Shot, path: Path) -> None:
    pictures = [_large(picture) for picture in walker.film(EVERY, *film.presses)]
    ends = pictures[0].resize((SCALE * pictures[0].width, pictures[0].height), 0)
    ends.paste(pictures[-1], (pictures[0].width, 0))
    palette = ends.quantize(2 * COLOURS, dither=0)
    first, *others = [picture.quantize(palette=palette, dither=0) for picture in pictures]
    first.save(
        path, save_all=True, append_images=others, duration=round(1000 * EVERY / 60), loop=0,
        optimize=True,
    )  # fmt: skip


def take(walker: Walker, visit: str, folder: Path) -> None:
    """Save the pictures of a visit, twice as large as the screen."""
    folder.mkdir(parents=True, exist_ok=True)
    for shot in GALLERY:
        if shot.visit == visit:
            picture = _large(walker.picture(*shot.presses)).quantize(COLOURS, dither=0)
            picture.save(folder / f"{shot.file}.png", optimize=True)
    for film in FILMS:
        if film.visit == visit:
            _film(walker, film, folder / f"{film.file}.gif")


def write_index(folder: Path) -> None:
    """Write README.md, which shows all pictures with a line each."""
    lines = [
        "# Seedling Vale in pictures",
        "",
        "Moments of the walkthrough of the embedded game, twice the size of the screen (320x288).",
        "Written by `walk.py --shots` in `libs/game/cartridge`; do not edit. What the game is and",
        "how it is built: [libs/game/cartridge](../../libs/game/cartridge/README.md).",
        "",
        "Rooms slide past each other on foot; doors, caves, the satchel, a season and a death fade",
        "to black and back. Water, fire and plants move, a hit object flashes white, and `make",
        "play` has sound: two tunes and twenty effects (M or `--mute` for silence).",
    ]
    shown = [(f"{film.file}.gif", film.caption) for film in FILMS]
    shown += [(f"{shot.file}.png", shot.caption) for shot in GALLERY]
    for file, caption in shown:
        lines += ["", f"![{caption}]({file})", "", caption]
    (folder / "README.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
