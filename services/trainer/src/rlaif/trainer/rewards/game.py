"""The game's own reward: small terms over what changed, paid once, that sum to the reward.

Facts in, `[P] float32` parts out. What the start state already has pays nothing: every count is
compared with the highest value seen in the episode, which begins at the start state's.
"""

from dataclasses import dataclass, fields
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

from rlaif.game.actions import Action

SQUARE_PIXELS = 16
"""Side of a grid square: one metatile."""

STUCK_STEPS = 30
"""Decision steps in one place, with no menu or text open, that count as stuck."""


K = TypeVar("K")


@dataclass(frozen=True)
class GameFacts:
    """What the rewards know of the game after a step.

    Attributes:
        group, room: Which room.
        x, y: Pixels inside it.
        rupees: 0 to 999.
        keys: Small keys held, all dungeons.
        items: Treasures obtained.
        essences: Essences obtained, 0 to 8.
        events: Room flags set: chests opened, doors unlocked, gates cut.
        health: Quarter hearts.
        dead: The player is dying.
        menu: A menu is open.
        text: Text is on screen.
    """

    group: int
    room: int
    x: int
    y: int
    rupees: int
    keys: int
    items: int
    essences: int
    events: int
    health: int
    dead: bool
    menu: bool
    text: bool


@dataclass(frozen=True)
class RewardWeights:
    """What each term pays. The order of the fields is the order of the parts."""

    room: float
    """A room that is new in this episode."""
    square: float
    """A grid square that is new in this episode."""
    move: float
    """A decision step that changed the position."""
    rupee: float
    """Each rupee above the episode's highest count."""
    key: float
    """Each small key above the episode's highest count."""
    item: float
    """Each treasure."""
    event: float
    """Each room flag: a chest, a door, a gate."""
    essence: float
    """Each essence."""
    damage: float
    """Each quarter heart lost."""
    death: float
    """Death."""
    menu: float
    """A press of START."""
    stuck: float
    """Each step in one place after `STUCK_STEPS` of them."""


PARTS: tuple[str, ...] = tuple(field.name for field in fields(RewardWeights))
"""Names of the parts, in order."""

_PRESETS: dict[str, RewardWeights] = {
    # The seeds' numbers. A loop of moves pays more than a key, see ADR 0004.
    "seed": RewardWeights(
        room=20, square=5, move=0.1, rupee=0.01, key=0.5, item=20, event=5,
        essence=150, damage=-0.1, death=-50, menu=-0.5, stuck=-1,
    ),
    # The scale of PPO's value clip: an episode's return stays in the tens, and the rarest
    # things pay most. Moving and standing pay nothing, so nothing can be farmed.
    "default": RewardWeights(
        room=1.0, square=0.05, move=0.0, rupee=0.02, key=2.0, item=3.0, event=2.0,
        essence=10.0, damage=-0.1, death=-2.0, menu=0.0, stuck=0.0,
    ),
}  # fmt: skip


def preset(name: Literal["seed", "default"]) -> RewardWeights:
    """A named set of weights."""
    return _PRESETS[name]


class EpisodeRewards:
    """The ledger of one episode."""

    def __init__(self, weights: RewardWeights) -> None:
        """Use these weights in every episode."""
        self._weights = np.array([getattr(weights, name) for name in PARTS], dtype=np.float32)
        self._rooms: set[tuple[int, int]] = set()
        self._squares: set[tuple[int, int, int, int]] = set()
        self._best = np.zeros(5, dtype=np.int64)
        self._last: GameFacts | None = None
        self._still = 0

    @property
    def rooms_visited(self) -> int:
        """Distinct rooms of this episode."""
        return len(self._rooms)

    def begin(self, facts: GameFacts) -> None:
        """An episode starts; what is true now pays nothing later."""
        self._rooms = {(facts.group, facts.room)}
        self._squares = {_square(facts)}
        self._best = _counts(facts)
        self._last = facts
        self._still = 0

    def step(self, facts: GameFacts, action: int) -> npt.NDArray[np.float32]:
        """The parts of one step's reward, `[P] float32` in the order of `PARTS`."""
        before = self._last
        assert before is not None, "begin() starts an episode"
        moved = (facts.x, facts.y, facts.room) != (before.x, before.y, before.room)
        self._still = 0 if moved or facts.menu or facts.text else self._still + 1
        counts = _counts(facts)
        gains = np.maximum(counts - self._best, 0)
        self._best = np.maximum(counts, self._best)
        rupees, keys, items, events, essences = gains.tolist()
        amounts = np.array(
            [
                _added(self._rooms, (facts.group, facts.room)),
                _added(self._squares, _square(facts)),
                moved,
                rupees,
                keys,
                items,
                events,
                essences,
                max(0, before.health - facts.health),
                facts.dead and not before.dead,
                action == Action.START,
                self._still > STUCK_STEPS,
            ],
            dtype=np.float32,
        )
        self._last = facts
        return amounts * self._weights


def _counts(facts: GameFacts) -> npt.NDArray[np.int64]:
    return np.array([facts.rupees, facts.keys, facts.items, facts.events, facts.essences])


def _square(facts: GameFacts) -> tuple[int, int, int, int]:
    return (facts.group, facts.room, facts.x // SQUARE_PIXELS, facts.y // SQUARE_PIXELS)


def _added(seen: set[K], key: K) -> bool:
    if key in seen:
        return False
    seen.add(key)
    return True
