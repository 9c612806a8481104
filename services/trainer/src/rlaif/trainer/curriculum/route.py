"""The segments of all demonstrations with their frontiers: outcomes in, shares of starts out."""

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

_LEAST_WEIGHT = 0.1
"""Of a segment that always succeeds, beside 1 for one that never does: what is not played is
forgotten."""

_ARRIVALS = 4
"""Moments that are kept at which play arrived at the beginning of a segment, the newest."""

_UNDECIDED = 8
"""Times the tries that decide, after which a place is one where luck does."""

_WINDOW = 32
"""Tries of a segment, wherever they started, over which its success is told."""


class Leg(NamedTuple):
    """A segment of one of the demonstrations."""

    demonstration: Demonstration
    segment: Segment

    @property
    def key(self) -> str:
        """Tells it from all others, in figures and checkpoints."""
        return f"{self.demonstration.name}/{self.segment.number}"

    @property
    def ends(self) -> tuple[str, str]:
        """Digests of its first and last start; another with the same is the same segment."""
        return self.state(0).ram_sha256, self.state(len(self.segment.starts) - 1).ram_sha256

    def state(self, place: int) -> KeptState:
        """Where a try from a place begins; 0 is the farthest from the goal."""
        return self.demonstration.states[self.segment.starts[place]]

    def frames_from(self, place: int) -> int:
        """Game frames that the demonstration took from there to the goal."""
        return self.demonstration.frames_between(self.state(place).at, self.segment.last)


class Route:
    """What one environment runner knows of all segments.

    Attributes:
        legs: All segments of all demonstrations.
    """

    def __init__(
        self, demonstrations: Sequence[Demonstration], settings: CurriculumSettings
    ) -> None:
        """Begin with every frontier at its goal.

        Raises:
            ValueError: No demonstration has a segment.
        """
        self._settings = settings
        self.legs = _legs([each for each in demonstrations if each.part_of is None])
        if not self.legs:
            raise ValueError(
                "no demonstration reaches a lasting mark with a state before it: let the search "
                "play on"
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
    def home_share(self) -> float:
        """Share of the segments that succeed from their beginning."""
        return sum(frontier.is_home for frontier in self._frontiers) / len(self._frontiers)

    @property
    def power_on_share(self) -> float:
        """Share of the play in episodes that start as they would without demonstrations."""
        return power_on_share(self._settings, self.home_share)

    def leg_shares(self) -> npt.NDArray[np.float64]:
        """How the other episodes are spread over `legs`; sums to 1.

        A segment whose frontier is on its way counts whole. One that has arrived counts as much as
        it fails: weak links of the chain get what strong ones no longer need.
        """
        weights = np.ones(len(self.legs))
        for index, frontier in enumerate(self._frontiers):
            if frontier.is_home and frontier.success is not None:
                weights[index] = max(_LEAST_WEIGHT, 1.0 - frontier.success)
        shares: npt.NDArray[np.float64] = weights / weights.sum()
        return shares

    def place_shares(self, leg: int) -> npt.NDArray[np.float64]:
        """How the starts of a segment are spread over its places; sums to 1.

        Most are at the frontier, `behind` between it and the goal.
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
        """(number of a leg, place in it) to start at; None: as without demonstrations.

        `played_otherwise` is the share of the play so far that did: an episode of the whole game
        lasts as long as hundreds of tries, so drawing it by lot alone would be most of the play.
        """
        share = self.power_on_share
        if rng.random() < share and played_otherwise <= share:
            return None
        leg = _drawn(self.leg_shares(), rng)
        return leg, _drawn(self.place_shares(leg), rng)

    def note(self, leg: int, place: int, *, success: bool) -> None:
        """A try ended."""
        self._tries[leg] += 1
        self._outcomes[leg].append(success)
        self._frontiers[leg].note(place, success=success)

    def time_from(self, leg: int, place: int) -> int:
        """Game frames that a try of a leg from a place may take."""
        patience = self._settings.patience * self._frontiers[leg].time
        return limit(self.legs[leg].frames_from(place), patience)

    def arrive(self, leg: int, at: PackedKeyframe) -> None:
        """Play came to the beginning of a leg by itself, with the goal of the one before."""
        self._arrivals[leg].append(at)

    def arrival(self, leg: int, rng: np.random.Generator) -> PackedKeyframe | None:
        """Where play arrived at the beginning of a leg; None: the demonstration's own state."""
        known = self._arrivals[leg]
        if not known or rng.random() >= self._settings.arrived:
            return None
        return known[int(rng.integers(len(known)))]

    @property
    def first(self) -> int:
        """The leg with which the first demonstration begins, where the game itself starts."""
        return 0

    def after(self, leg: int) -> int | None:
        """The leg that begins where this one ends, in the same demonstration; None: it is over."""
        demonstration, segment = self.legs[leg]
        return self._numbers.get((demonstration.name, segment.number + 1))

    def goals_after(self, leg: int) -> Iterator[tuple[int, Marks]]:
        """(number, goal) of the legs that follow one in its demonstration."""
        while (following := self.after(leg)) is not None:
            yield following, self.legs[following].segment.goal
            leg = following

    def figures(self) -> tuple[LegFigures, ...]:
        """How all segments stand."""
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
        """Frontiers and outcomes by segment, as plain values."""
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
        """Resume with what `state_dict` gave; segments that it does not know begin anew."""
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


def power_on_share(settings: CurriculumSettings, home_share: float) -> float:
    """Share of the play from the game's own start when this share of the frontiers is home."""
    first, last = settings.power_on, max(settings.power_on, settings.chained)
    return first + (last - first) * home_share**2


def legs_of_decisions(
    demonstrations: Sequence[Demonstration],
) -> dict[str, npt.NDArray[np.int64]]:
    """By the name of each demonstration, and of each part with noise: to what its decisions lead.

    `[D] int64`, the number of a leg as in `Route.legs`; -1 for what follows the last one.
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
    """All segments; one that several demonstrations begin with alike is there once."""
    legs: dict[tuple[str, str], Leg] = {}
    for leg in _every_segment(demonstrations):
        legs.setdefault(leg.ends, leg)
    return tuple(legs.values())


def _drawn(shares: npt.NDArray[np.float64], rng: np.random.Generator) -> int:
    cumulated = np.cumsum(shares)
    at = int(np.searchsorted(cumulated, rng.random() * cumulated[-1], side="right"))
    return min(at, len(shares) - 1)
