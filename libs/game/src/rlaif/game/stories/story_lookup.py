"""The milestones of each game, from `<game>.csv`: name, title, `main` or an extra, test.

A test is a function of `milestones` and its arguments. The rows of Oracle of Seasons (US) are in
the usual order of an unlinked game, in which some dungeons can be done earlier; those of Seedling
Vale in the order of its walkthrough. Extras, which the quest does not need, come last.
"""

import csv
from collections.abc import Callable, Iterator
from functools import cache
from importlib import resources

from rlaif.game.machine.cartridges import Game
from rlaif.game.stories import milestones
from rlaif.game.stories.milestones import ByteTest, Milestone, Story

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
def story_of(game: Game) -> Story:
    """The story of a game; one without steps for an unknown game."""
    return Story(() if game == "other" else _read(game))


def _read(game: Game) -> Iterator[Milestone]:
    text = (resources.files(__package__ or "") / f"{game}.csv").read_text(encoding="ascii")
    for row in csv.DictReader(text.splitlines()):
        kind, *arguments = row["test"].split()
        test = _TESTS[kind](*(int(a, 0) if a[0].isdigit() else a for a in arguments))
        yield Milestone(row["name"], row["title"], test, is_main=row["quest"] == "main")
