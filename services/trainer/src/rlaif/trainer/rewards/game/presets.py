"""Weights of the terms: the specification's, the defaults, almost none. Rationale: ADR 0004."""

from dataclasses import dataclass, fields
from typing import Literal


@dataclass(frozen=True)
class RewardWeights:
    """Reward per unit of each term, in the order of the parts."""

    room: float
    """A room that is new in this episode."""
    square: float
    """A grid square that is new in this episode."""
    novelty: float
    """A new grid square, divided by √(n + 1) after n earlier episodes that visited it."""
    move: float
    """An emulator step that changed the position."""
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
    # The specification's numbers, in which a loop of moves is worth more than a key.
    "seed": RewardWeights(
        room=20, square=5, novelty=0, move=0.1, rupee=0.01, key=0.5, item=20, event=5,
        essence=150, damage=-0.1, death=-50, menu=-0.5, stuck=-1,
    ),
    # The scale fits PPO's value clip: returns of episodes stay in the tens, and the rarest things
    # have the highest rewards. An entire unknown room (50 squares) gives 2.6, after 100 episodes
    # 0.35: with a constant 1, rooms are toured endlessly and the first item is unlearned.
    # Rupees give nothing, as they grow back; purchases count as items.
    # Moving, standing and START give nothing either: the discount penalizes time.
    "default": RewardWeights(
        room=0.1, square=0.0, novelty=0.05, move=0.0, rupee=0.0, key=2.0, item=3.0, event=2.0,
        essence=10.0, damage=-0.1, death=-2.0, menu=0.0, stuck=0.0,
    ),
    # For runs that learn from the judges alone.
    "judges": RewardWeights(
        room=0.0, square=0.0, novelty=0.0, move=0.0, rupee=0.0, key=0.0, item=0.0, event=0.0,
        essence=0.0, damage=0.0, death=-2.0, menu=0.0, stuck=0.0,
    ),
    # The previous one with the exploration bonus of `default`, which is independent of the quest.
    "novelty": RewardWeights(
        room=0.1, square=0.0, novelty=0.05, move=0.0, rupee=0.0, key=0.0, item=0.0, event=0.0,
        essence=0.0, damage=0.0, death=-2.0, menu=0.0, stuck=0.0,
    ),
}  # fmt: skip


RewardPreset = Literal["seed", "default", "judges", "novelty"]


def preset(name: RewardPreset) -> RewardWeights:
    """A named set of weights."""
    return _PRESETS[name]
