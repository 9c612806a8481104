"""The milestones of each game."""

from rlaif.game.machine.cartridges import Game
from rlaif.game.stories.milestones import Story
from rlaif.game.stories.oracle_milestones import ORACLE_MILESTONES
from rlaif.game.stories.seedling_milestones import SEEDLING_MILESTONES

_STORIES: dict[Game, Story] = {
    "oracle-of-seasons": Story(ORACLE_MILESTONES),
    "seedling-vale": Story(SEEDLING_MILESTONES),
    "other": Story(()),
}


def story_of(game: Game) -> Story:
    """The story of a game; one without steps for an unknown game."""
    return _STORIES[game]
