"""The terms of the game's own reward: each rewards one kind of thing, once.

A term stores everything that it has rewarded and that the start state had. Both count as known: a
flag that is cleared and set again, a room that is left and entered again, rupees that are spent and
found again give no reward. Undetermined facts (a place in the middle of a scroll) are deferred.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from math import sqrt
from typing import Any, ClassVar, Literal, Protocol

from rlaif.game.machine.actions import Action
from rlaif.trainer.rewards.game.facts import GameFacts, Progress
from rlaif.trainer.rewards.game.presets import RewardWeights
from rlaif.trainer.settings.game import STEP_FRAMES, steps_lasting

STUCK_STEPS = 30
"""Steps of four frames in one place, with control, that count as stuck: 2 s."""

LooksAt = Literal["steps", "moves", "squares", "progress"]
"""When a term must be evaluated: on every step; on moves and all other changes; on changes of the
square and all changes but moves; or only on changes of the progress."""


class VisitCounts(Protocol):
    """Counts of visits to places, over all episodes."""

    def episodes(self, square: int) -> int:
        """Number of earlier episodes that visited a square."""
        ...


class Term(ABC):
    """One part of the reward.

    Attributes:
        weight: Reward per unit.
        state: Names of the attributes that change during an episode.
    """

    looks_at: LooksAt = "squares"
    state: ClassVar[tuple[str, ...]] = ()

    def __init__(self, weight: float) -> None:
        self.weight = weight

    def begin(self, facts: GameFacts) -> None:  # noqa: B027 - most terms need no preparation
        ...

    @abstractmethod
    def step(self, before: GameFacts, after: GameFacts, action: int) -> float: ...

    def state_dict(self) -> dict[str, Any]:
        return {name: copy(getattr(self, name)) for name in self.state}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for name in self.state:
            setattr(self, name, copy(state[name]))


class Change(Term):
    """A reward that depends on two consecutive states only."""

    def __init__(
        self,
        weight: float,
        units: Callable[[GameFacts, GameFacts, int], int],
        looks_at: LooksAt = "squares",
    ) -> None:
        super().__init__(weight)
        self._units, self.looks_at = units, looks_at

    def step(self, before: GameFacts, after: GameFacts, action: int) -> float:
        return self.weight * self._units(before, after, action)


class NewPlaces(Term):
    """Rewards each place of the episode, once.

    Excluded are the first one of the episode and the first one after a death, to which the game
    moved the player. With `visits`, a place is worth 1/√(n + 1) after n earlier episodes that
    visited it. The count is constant inside an episode: a bonus that decayed with each entry would
    reward walking to and fro. Returns are not penalized, as that teaches avoiding crossroads.
    """

    state = ("_seen", "_here")

    def __init__(self, weight: float, place: Callable[[GameFacts], int]) -> None:
        super().__init__(weight)
        self._place = place
        self.visits: VisitCounts | None = None

    @property
    def count(self) -> int:
        return len(self._seen)

    def begin(self, facts: GameFacts) -> None:
        self._seen: set[int] = {self._place(facts)} if facts.settled else set()
        self._here = self._place(facts) if facts.settled else -1

    def step(self, before: GameFacts, after: GameFacts, action: int) -> float:
        if before.dead:
            self._here = -1
        if not after.settled:
            return 0.0
        place = self._place(after)
        if place == self._here:
            return 0.0
        first = self._here < 0
        self._here = place
        if place in self._seen:
            return 0.0
        self._seen.add(place)
        if first:
            return 0.0
        return self.weight if self.visits is None else self._novelty(self.visits, place)

    def _novelty(self, visits: VisitCounts, place: int) -> float:
        return self.weight / sqrt(visits.episodes(place) + 1)


class Rupees(Term):
    """Rupees above the maximum of the episode.

    Not the sum of all pickups, which would reward spending and finding again without end. The purse
    holds 999, which bounds the term.
    """

    looks_at = "progress"
    state = ("_most",)

    def begin(self, facts: GameFacts) -> None:
        self._most = facts.progress.rupees

    def step(self, before: GameFacts, after: GameFacts, action: int) -> float:
        gain = after.progress.rupees - self._most
        if gain <= 0:
            return 0.0
        self._most += gain
        return self.weight * gain


class Keys(Term):
    """Small keys above the maximum of the episode in that dungeon.

    A second key after the first was used gives nothing here; its chest counts as an event. Counting
    every rise would reward a key again that comes back with a loaded file.
    """

    looks_at = "progress"
    state = ("_most",)

    def begin(self, facts: GameFacts) -> None:
        self._most = facts.progress.keys

    def step(self, before: GameFacts, after: GameFacts, action: int) -> float:
        held = after.progress.keys
        if held == before.progress.keys and held == self._most:
            return 0.0
        most = bytes(map(max, held, self._most))
        gain = sum(most) - sum(self._most)
        self._most = most
        return self.weight * gain


class NewBits(Term):
    """Rewards each bit of a set, once."""

    looks_at = "progress"
    state = ("_known",)

    def __init__(self, weight: float, bits: Callable[[Progress], int]) -> None:
        super().__init__(weight)
        self._bits = bits

    def begin(self, facts: GameFacts) -> None:
        self._known = self._bits(facts.progress)

    def step(self, before: GameFacts, after: GameFacts, action: int) -> float:
        if after.progress is before.progress:
            return 0.0
        new = self._bits(after.progress) & ~self._known
        if not new:
            return 0.0
        self._known |= new
        return self.weight * new.bit_count()


class Standstill(Term):
    """Steps in one place with control, after those that last as long as `STUCK_STEPS`.

    Text, menus and fades pause the count without resetting it, so opening a menu does not avoid it.
    Moving does not refund past penalties.
    """

    looks_at = "steps"
    state = ("_still",)

    def __init__(self, weight: float, frame_skip: int) -> None:
        super().__init__(weight)
        self._limit = steps_lasting(STUCK_STEPS, frame_skip)

    def begin(self, facts: GameFacts) -> None:
        self._still = 0

    def step(self, before: GameFacts, after: GameFacts, action: int) -> float:
        if (after.x, after.y, after.room) != (before.x, before.y, before.room):
            self._still = 0
            return 0.0
        if not after.control:
            return 0.0
        self._still += 1
        return self.weight if self._still > self._limit else 0.0


def moved(before: GameFacts, after: GameFacts, _action: int) -> bool:
    """Whether the position changed inside one room. It rewards walking to and fro."""
    return (
        (after.x != before.x or after.y != before.y)
        and before.settled
        and after.settled
        and after.room_index == before.room_index
    )


def build_terms(weights: RewardWeights, frame_skip: int = STEP_FRAMES) -> dict[str, Term]:
    """Term of each part, in the order of `PARTS`, for steps of `frame_skip` frames."""
    return {
        "room": NewPlaces(weights.room, lambda facts: facts.room_index),
        "square": NewPlaces(weights.square, lambda facts: facts.square_index),
        "novelty": NewPlaces(weights.novelty, lambda facts: facts.square_index),
        "move": Change(weights.move, moved, "moves"),
        "rupee": Rupees(weights.rupee),
        "key": Keys(weights.key),
        "item": NewBits(weights.item, lambda progress: progress.items),
        "event": NewBits(weights.event, lambda progress: progress.events),
        "essence": NewBits(weights.essence, lambda progress: progress.essences),
        # Healing gives nothing, as else the cycle of damage and healing would be rewarded.
        "damage": Change(weights.damage, lambda old, new, _: max(0, old.health - new.health)),
        "death": Change(weights.death, lambda old, new, _: new.dead and not old.dead),
        "menu": Change(weights.menu, lambda _, __, action: action == Action.START, "steps"),
        "stuck": Standstill(weights.stuck, frame_skip),
    }
