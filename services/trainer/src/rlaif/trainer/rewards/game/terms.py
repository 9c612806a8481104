"""The terms of the game's own reward: each pays for one kind of thing, once.

A term keeps what it has paid for and what the start state already had. Both count as known: a flag
that is cleared and set again, a room that is left and entered again, rupees that are spent and
found again pay nothing. What cannot be known yet (a place in the middle of a scroll) waits.
"""

from abc import ABC, abstractmethod
from math import sqrt
from typing import Any, ClassVar, Literal, Protocol

from rlaif.game.machine.actions import Action
from rlaif.trainer.rewards.game.facts import GameFacts, Progress
from rlaif.trainer.settings.game import STEP_FRAMES, steps_lasting

STUCK_STEPS = 30
"""Steps of four frames in one place, with control, that count as stuck: 2 s."""


class VisitCounts(Protocol):
    """How well known a place is, over all episodes."""

    def episodes(self, square: int) -> int:
        """Earlier episodes in which a square was visited; the running one does not count."""
        ...


class SwitchedVisits:
    """Visit counts of a source that may be given later; without one, nothing was ever visited."""

    def __init__(self) -> None:
        self.source: VisitCounts | None = None

    def episodes(self, square: int) -> int:
        return 0 if self.source is None else self.source.episodes(square)


class Term(ABC):
    """One part of the reward.

    Attributes:
        looks_at: When it has to be asked: on every step; when the player moved, or more changed;
            when the square, or more than the position, changed; or only when the
            progress did.
        weight: Reward per unit.
    """

    name: ClassVar[str]
    looks_at: ClassVar[Literal["steps", "moves", "squares", "progress"]] = "squares"

    def __init__(self, weight: float) -> None:
        self.weight = weight

    @abstractmethod
    def begin(self, facts: GameFacts) -> None: ...

    @abstractmethod
    def step(self, before: GameFacts, after: GameFacts, action: int) -> float: ...

    @abstractmethod
    def state_dict(self) -> dict[str, Any]: ...

    @abstractmethod
    def load_state_dict(self, state: dict[str, Any]) -> None: ...


class _Stateless(Term):
    """A term that looks at two moments and remembers nothing."""

    def begin(self, facts: GameFacts) -> None: ...

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None: ...


class _NewPlaces(Term):
    """Pays for each place of the episode, once.

    Not for the first one, where it starts, nor for the first one after a death: the game put the
    player there.
    """

    def begin(self, facts: GameFacts) -> None:
        self._seen: set[int] = {self._place(facts)} if facts.settled else set()
        self._here = self._place(facts) if facts.settled else -1

    def state_dict(self) -> dict[str, Any]:
        return {"_seen": set(self._seen), "_here": self._here}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._seen, self._here = set(state["_seen"]), state["_here"]

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
        return 0.0 if first else self._pay(place)

    def _pay(self, place: int) -> float:
        return self.weight

    @abstractmethod
    def _place(self, facts: GameFacts) -> int: ...


class NewRooms(_NewPlaces):
    """Rooms that are new in this episode."""

    name = "room"

    @property
    def count(self) -> int:
        return len(self._seen)

    def _place(self, facts: GameFacts) -> int:
        return facts.room_index


class NewSquares(_NewPlaces):
    """Squares that are new in this episode."""

    name = "square"

    def _place(self, facts: GameFacts) -> int:
        return facts.square_index


class Novelty(NewSquares):
    """Squares that are new in this episode, worth 1/√(n + 1) after n episodes that visited them.

    The count decays over episodes, not inside one: a bonus that decayed with each entry would
    still pay for walking to and fro. There is no penalty for coming back either: it teaches to
    stay away from crossroads.
    """

    name = "novelty"

    def __init__(self, weight: float, visits: VisitCounts) -> None:
        super().__init__(weight)
        self._visits = visits

    def _pay(self, place: int) -> float:
        return self.weight / sqrt(self._visits.episodes(place) + 1)


class Moves(_Stateless):
    """Steps that changed the position inside one room. It pays for walking to and fro."""

    name = "move"
    looks_at = "moves"

    def step(self, before: GameFacts, after: GameFacts, action: int) -> float:
        moved = (
            (after.x != before.x or after.y != before.y)
            and before.settled
            and after.settled
            and after.room_index == before.room_index
        )
        return self.weight if moved else 0.0


class Rupees(Term):
    """Rupees above the most that the episode has held.

    Not the sum of what was picked up: spending and finding again would pay for ever. The purse
    holds 999, which bounds the term.
    """

    name = "rupee"
    looks_at = "progress"

    def begin(self, facts: GameFacts) -> None:
        self._most = facts.progress.rupees

    def state_dict(self) -> dict[str, Any]:
        return {"_most": self._most}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._most = state["_most"]

    def step(self, before: GameFacts, after: GameFacts, action: int) -> float:
        gain = after.progress.rupees - self._most
        if gain <= 0:
            return 0.0
        self._most += gain
        return self.weight * gain


class Keys(Term):
    """Small keys above the most that the episode has held in that dungeon.

    A second key after the first was used pays nothing here; its chest pays as an event. Counting
    every rise would pay again for a key that comes back with a loaded file.
    """

    name = "key"
    looks_at = "progress"

    def begin(self, facts: GameFacts) -> None:
        self._most = facts.progress.keys

    def state_dict(self) -> dict[str, Any]:
        return {"_most": self._most}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._most = state["_most"]

    def step(self, before: GameFacts, after: GameFacts, action: int) -> float:
        held = after.progress.keys
        if held == before.progress.keys and held == self._most:
            return 0.0
        most = bytes(map(max, held, self._most))
        gain = sum(most) - sum(self._most)
        self._most = most
        return self.weight * gain


class _NewBits(Term):
    """Pays for each bit of a set, once."""

    looks_at = "progress"

    def begin(self, facts: GameFacts) -> None:
        self._known = self._bits(facts.progress)

    def state_dict(self) -> dict[str, Any]:
        return {"_known": self._known}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._known = state["_known"]

    def step(self, before: GameFacts, after: GameFacts, action: int) -> float:
        if after.progress is before.progress:
            return 0.0
        new = self._bits(after.progress) & ~self._known
        if not new:
            return 0.0
        self._known |= new
        return self.weight * new.bit_count()

    @abstractmethod
    def _bits(self, progress: Progress) -> int: ...


class Items(_NewBits):
    """Treasures, boss keys, compasses, maps, seasons."""

    name = "item"

    def _bits(self, progress: Progress) -> int:
        return progress.items


class Events(_NewBits):
    """Chests, doors, gates, bosses, story flags."""

    name = "event"

    def _bits(self, progress: Progress) -> int:
        return progress.events


class Essences(_NewBits):
    """Essences."""

    name = "essence"

    def _bits(self, progress: Progress) -> int:
        return progress.essences


class Damage(_Stateless):
    """Quarter hearts lost. Healing pays nothing, or being hurt and healed would."""

    name = "damage"

    def step(self, before: GameFacts, after: GameFacts, action: int) -> float:
        lost = before.health - after.health
        return self.weight * lost if lost > 0 else 0.0


class Deaths(_Stateless):
    """The step at which the player starts to die."""

    name = "death"

    def step(self, before: GameFacts, after: GameFacts, action: int) -> float:
        return self.weight if after.dead and not before.dead else 0.0


class MenuPresses(_Stateless):
    """Presses of START."""

    name = "menu"
    looks_at = "steps"

    def step(self, before: GameFacts, after: GameFacts, action: int) -> float:
        return self.weight if action == Action.START else 0.0


class Standstill(Term):
    """Steps in one place with control, after as many as last as long as `STUCK_STEPS`.

    Text, menus and fades stop the count and do not set it back: opening a menu is no way out. What
    was charged is not paid back by moving.
    """

    name = "stuck"
    looks_at = "steps"

    def __init__(self, weight: float, frame_skip: int = STEP_FRAMES) -> None:
        super().__init__(weight)
        self._most = steps_lasting(STUCK_STEPS, frame_skip)

    def begin(self, facts: GameFacts) -> None:
        self._still = 0

    def state_dict(self) -> dict[str, Any]:
        return {"_still": self._still}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._still = state["_still"]

    def step(self, before: GameFacts, after: GameFacts, action: int) -> float:
        if (after.x, after.y, after.room) != (before.x, before.y, before.room):
            self._still = 0
            return 0.0
        if not after.control:
            return 0.0
        self._still += 1
        return self.weight if self._still > self._most else 0.0
