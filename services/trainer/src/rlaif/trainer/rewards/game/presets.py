"""How much each term pays: the seeds' numbers, and ours. Reasons: ADR 0004."""

from dataclasses import dataclass, fields
from typing import Literal


@dataclass(frozen=True)
class RewardWeights:
    """What each term pays a unit. The order of the fields is the order of the parts."""

    room: float
    """A room that is new in this episode."""
    square: float
    """A grid square that is new in this episode."""
    novelty: float
    """The same, divided by √(n + 1) after n earlier episodes that visited it."""
    move: float
    """A decision step that changed the position."""
    rupee: float
    """Each rupee above the episode's highest count."""
    key: float
    """Each small key above the episode's highest count in its dungeon."""
    item: float
    """Each treasure, boss key, compass, map, season."""
    event: float
    """Each room flag (a chest, a door, a gate, a boss) and story flag."""
    essence: float
    """Each essence."""
    damage: float
    """Each quarter heart lost."""
    death: float
    """Death."""
    menu: float
    """A press of START."""
    stuck: float
    """Each step in one place after `terms.STUCK_STEPS` of them."""


PARTS: tuple[str, ...] = tuple(field.name for field in fields(RewardWeights))
"""Names of the parts, in order."""

_PRESETS: dict[str, RewardWeights] = {
    # The seeds' numbers. A loop of moves pays more than a key; that is theirs, not a mistake here.
    "seed": RewardWeights(
        room=20, square=5, novelty=0, move=0.1, rupee=0.01, key=0.5, item=20, event=5,
        essence=150, damage=-0.1, death=-50, menu=-0.5, stuck=-1,
    ),
    # The scale of PPO's value clip: an episode's return stays in the tens, and the rarest things
    # pay most. Walking an unknown room over (about 50 squares) pays 2.6, after a hundred episodes
    # that did 0.35: a room that always pays 1 is toured for ever, and the first item is unlearned.
    # Rupees pay nothing: they grow back with every bush; what is bought with them pays as an item.
    # Moving, standing and START pay nothing either: time costs through the discount.
    "default": RewardWeights(
        room=0.1, square=0.0, novelty=0.05, move=0.0, rupee=0.0, key=2.0, item=3.0, event=2.0,
        essence=10.0, damage=-0.1, death=-2.0, menu=0.0, stuck=0.0,
    ),
}  # fmt: skip


def preset(name: Literal["seed", "default"]) -> RewardWeights:
    """A named set of weights."""
    return _PRESETS[name]
