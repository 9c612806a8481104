"""The milestones of each game, from `<game>.csv`: name, title, `main` or an extra, test.

A test is a function of `milestones` and its arguments. The rows of Oracle of Seasons (US) are in
the usual order of an unlinked game, in which some dungeons can be done earlier; those of Seedling
Vale in the order of its walkthrough. Extras, which the quest does not need, come last.
"""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import resources

from rlaif.contracts.game.names import NAMED_GAMES, seed_and_size
from rlaif.game.machine.cartridges import Game
from rlaif.game.stories import milestones
from rlaif.game.stories.milestones import ByteTest, Milestone, Story
from rlaif.game.worlds.records import Facts

_TESTS: dict[str, Callable[..., ByteTest]] = {
    "treasure": milestones.treasure,
    "story_flag": milestones.story_flag,
    "room_flag": milestones.room_flag,
    "visited": milestones.visited,
    "essence": milestones.essence,
    "boss_key": milestones.boss_key,
    "compass": milestones.compass,
    "dungeon_map": milestones.dungeon_map,
    "season": milestones.season,
    "at_least": milestones.at_least,
    "equals": milestones.equals,
}


@cache
def story_of(game: Game, rom: bytes = b"") -> Story:
    """The story of a game; an empty one for an unknown game.

    For a generated world it is computed from the `rom` by the solver, in up to a second.
    """
    if game in NAMED_GAMES:
        text = (resources.files(__package__ or "") / f"{game}.csv").read_text(encoding="ascii")
        return Story(_read(csv.DictReader(text.splitlines())))
    return Story(_read(Facts(rom).milestones()) if seed_and_size(game) else ())


def _read(rows: Iterable[Mapping[str, str]]) -> Iterator[Milestone]:
    for row in rows:
        kind, *arguments = row["test"].split()
        test = _TESTS[kind](*(int(a, 0) if a[0].isdigit() else a for a in arguments))
        yield Milestone(row["name"], row["title"], test, is_main=row["quest"] == "main")
