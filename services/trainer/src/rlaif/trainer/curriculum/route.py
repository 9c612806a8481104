"""Subtasks of all demonstrations with their frontiers: outcomes in, distribution of starts out."""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rlaif.game.captures.capture import PackedKeyframe
from rlaif.trainer.curriculum.attempt import limit
from rlaif.trainer.curriculum.demonstrations import (
    Demonstration,
    KeptState,
    Segment,
    segments,
)
from rlaif.trainer.play.frontier import Frontier, LegFigures
from rlaif.trainer.search.marks import Marks
from rlaif.trainer.settings.curriculum import CurriculumSettings

_MIN_WEIGHT = 0.1
"""Weight of a subtask that always succeeds, compared with 1 for one that always fails. It must be
positive, because a policy forgets what it does not play."""

_ARRIVALS = 4
"""Number of states stored per subtask at which episodes arrived at its beginning; the newest are
kept."""

_UNDECIDED = 8
"""Windows of attempts without a decision after which a start state is skipped as one decided by
chance."""

_WINDOW = 32
"""Window, in attempts from any start state, of a subtask's success rate."""


class Leg(NamedTuple):
    """A subtask of a demonstration."""

    demonstration: Demonstration
    segment: Segment

    @property
    def key(self) -> str:
        """Unique key in statistics and checkpoints."""
        return f"{self.demonstration.name}/{self.segment.number}"

    @property
    def ends(self) -> tuple[str, str]:
        """Digests of its first and last start state; subtasks with equal digests are the same."""
        return self.state(0).ram_sha256, self.state(len(self.segment.starts) - 1).ram_sha256

    def state(self, place: int) -> KeptState:
        """Return a start state; place 0 is the farthest from the goal."""
        return self.demonstration.states[self.segment.starts[place]]

    def frames_from(self, place: int) -> int:
        """Return the game frames that the demonstration took from there to the goal."""
        return self.demonstration.frames_between(self.state(place).at, self.segment.last)


class Route:
    """All subtasks and their frontiers, as seen by one environment runner.

    Attributes:
        legs: All subtasks of all demonstrations.
    """

    def __init__(
        self, demonstrations: Sequence[Demonstration], settings: CurriculumSettings
    ) -> None:
        """Start with every frontier at its goal.

        Raises:
            ValueError: No demonstration has a subtask.
        """
        self._settings = settings
        self.legs = _legs([each for each in demonstrations if each.part_of is None])
        if not self.legs:
            raise ValueError(
                "no demonstration reaches a flag with a start state before it: search longer"
            )
        self._numbers = {
            (leg.demonstration.name, leg.segment.number): number
            for number, leg in enumerate(self.legs)
        }
        self._frontiers = [self._new_frontier(leg) for leg in self.legs]
        self._tries = [0] * len(self.legs)
        self._outcomes: list[deque[bool]] = [deque(maxlen=_WINDOW) for _ in self.legs]
        self._arrivals: list[deque[PackedKeyframe]] = [deque(maxlen=_ARRIVALS) for _ in self.legs]

    def _new_frontier(self, leg: Leg) -> Frontier:
        tries = self._settings.tries
        return Frontier(
            len(leg.segment.starts),
            tries=tries,
            success=self._settings.success,
            undecided=_UNDECIDED * tries,
        )

    @property
    def mastered_share(self) -> float:
        """Share of mastered subtasks."""
        return sum(frontier.is_home for frontier in self._frontiers) / len(self._frontiers)

    @property
    def power_on_share(self) -> float:
        """Share of frames in episodes without a start on a demonstration."""
        return power_on_share(self._settings, self.mastered_share)

    def leg_shares(self) -> npt.NDArray[np.float64]:
        """Return the distribution of the other episodes over `legs`.

        A subtask that is not mastered has weight 1, a mastered one its failure rate, so that weak
        subtasks get the episodes that strong ones no longer need.
        """
        weights = np.ones(len(self.legs))
        for index, frontier in enumerate(self._frontiers):
            if frontier.is_home and frontier.success is not None:
                weights[index] = max(_MIN_WEIGHT, 1.0 - frontier.success)
        shares: npt.NDArray[np.float64] = weights / weights.sum()
        return shares

    def place_shares(self, leg: int) -> npt.NDArray[np.float64]:
        """Return the distribution of a subtask's starts over its places.

        The share `behind` is spread between frontier and goal, the rest is at the frontier.
        """
        frontier = self._frontiers[leg]
        shares = np.zeros(frontier.places)
        mastered = frontier.places - frontier.at - 1
        behind = self._settings.behind if mastered else 0.0
        shares[frontier.at] = 1.0 - behind
        shares[frontier.at + 1 :] = behind / max(1, mastered)
        return shares

    def draw(
        self, rng: np.random.Generator, *, played_otherwise: float = 0.0
    ) -> tuple[int, int] | None:
        """Draw (subtask, place) to start at, or None for a start without demonstration.

        `played_otherwise` is the present share of frames in such episodes. An episode of the whole
        game lasts as long as hundreds of attempts, so that a random draw alone would give them most
        of the frames.
        """
        share = self.power_on_share
        if rng.random() < share and played_otherwise <= share:
            return None
        leg = _draw_index(self.leg_shares(), rng)
        return leg, _draw_index(self.place_shares(leg), rng)

    def note(self, leg: int, place: int, *, success: bool) -> None:
        """Record the outcome of an attempt."""
        self._tries[leg] += 1
        self._outcomes[leg].append(success)
        self._frontiers[leg].note(place, success=success)

    def time_from(self, leg: int, place: int) -> int:
        """Return the maximum game frames of an attempt from a place."""
        patience = self._settings.patience * self._frontiers[leg].time
        return limit(self.legs[leg].frames_from(place), patience)

    def arrive(self, leg: int, at: PackedKeyframe) -> None:
        """Store a state in which an episode arrived at the beginning of a subtask."""
        self._arrivals[leg].append(at)

    def arrival(self, leg: int, rng: np.random.Generator) -> PackedKeyframe | None:
        """Draw a state of arrival at a subtask; None: use the demonstration's state."""
        known = self._arrivals[leg]
        if not known or rng.random() >= self._settings.arrived:
            return None
        return known[int(rng.integers(len(known)))]

    @property
    def first(self) -> int:
        """The subtask at the game's own start, with which the first demonstration begins."""
        return 0

    def after(self, leg: int) -> int | None:
        """Return the next subtask of the same demonstration, or None."""
        demonstration, segment = self.legs[leg]
        return self._numbers.get((demonstration.name, segment.number + 1))

    def goals_after(self, leg: int) -> Iterator[tuple[int, Marks]]:
        """Yield (index, goal) of the later subtasks of the same demonstration."""
        while (following := self.after(leg)) is not None:
            yield following, self.legs[following].segment.goal
            leg = following

    def figures(self) -> tuple[LegFigures, ...]:
        """Return the statistics of all subtasks."""
        return tuple(map(self._figures_of, range(len(self.legs))))

    def _figures_of(self, leg: int) -> LegFigures:
        demonstration, segment = self.legs[leg]
        frontier, outcomes = self._frontiers[leg], self._outcomes[leg]
        before = self._numbers.get((demonstration.name, segment.number - 1))
        began = frozenset[str]() if before is None else self.legs[before].segment.goal
        return LegFigures(
            demonstration=demonstration.name,
            begins_with=tuple(sorted(began)),
            goal=tuple(sorted(segment.goal)),
            places=frontier.places,
            at=frontier.at,
            is_home=frontier.is_home,
            tries=self._tries[leg],
            success=frontier.success,
            success_anywhere=sum(outcomes) / len(outcomes) if outcomes else None,
        )

    def state_dict(self) -> dict[str, Any]:
        """Frontiers and outcomes by subtask."""
        return {
            leg.key: {
                "frontier": frontier.state_dict(),
                "tries": tries,
                "outcomes": list(outcomes),
                "arrivals": [(each.data, each.sha256) for each in arrivals],
            }
            for leg, frontier, tries, outcomes, arrivals in zip(
                self.legs,
                self._frontiers,
                self._tries,
                self._outcomes,
                self._arrivals,
                strict=True,
            )
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore; subtasks that are not in `state` keep their initial frontiers."""
        for index, leg in enumerate(self.legs):
            saved = state.get(leg.key)
            if saved is None or saved["frontier"]["places"] != len(leg.segment.starts):
                continue
            self._frontiers[index].load_state_dict(saved["frontier"])
            self._tries[index] = saved["tries"]
            self._outcomes[index] = deque(saved["outcomes"], maxlen=_WINDOW)
            self._arrivals[index].extend(
                PackedKeyframe(data, sha256) for data, sha256 in saved["arrivals"]
            )


def power_on_share(settings: CurriculumSettings, mastered_share: float) -> float:
    """Return the share of frames from the game's own start at this share of mastered subtasks."""
    first, last = settings.power_on, max(settings.power_on, settings.chained)
    return first + (last - first) * mastered_share**2


def legs_of_decisions(
    demonstrations: Sequence[Demonstration],
) -> dict[str, npt.NDArray[np.int64]]:
    """Return, by demonstration or noisy replay, the subtask of each decision.

    `[D] int64`, an index into `Route.legs`; -1 after the last goal.
    """
    whole = [each for each in demonstrations if each.part_of is None]
    numbers: dict[tuple[str, str], int] = {}
    found: dict[str, npt.NDArray[np.int64]] = {}
    ends_at: dict[tuple[str, int], int] = {}
    for leg in _every_segment(whole):
        name, segment = leg.demonstration.name, leg.segment
        number = numbers.setdefault(leg.ends, len(numbers))
        own = found.setdefault(name, np.full(leg.demonstration.length, -1, dtype=np.int64))
        own[segment.first : segment.last] = ends_at[name, segment.last] = number
    for each in demonstrations:
        number = -1 if each.part_of is None else ends_at.get(each.part_of, -1)
        found.setdefault(each.name, np.full(each.length, number, dtype=np.int64))
    return found


def _every_segment(demonstrations: Sequence[Demonstration]) -> Iterator[Leg]:
    for demonstration in demonstrations:
        for segment in segments(demonstration, demonstration.needed(demonstrations)):
            yield Leg(demonstration, segment)


def _legs(demonstrations: Sequence[Demonstration]) -> tuple[Leg, ...]:
    """Return all subtasks; those with equal start states are merged."""
    legs: dict[tuple[str, str], Leg] = {}
    for leg in _every_segment(demonstrations):
        legs.setdefault(leg.ends, leg)
    return tuple(legs.values())


def _draw_index(shares: npt.NDArray[np.float64], rng: np.random.Generator) -> int:
    cumulated = np.cumsum(shares)
    at = int(np.searchsorted(cumulated, rng.random() * cumulated[-1], side="right"))
    return min(at, len(shares) - 1)
