"""Subtasks of all demonstrations with their frontiers: outcomes in, distribution of starts out."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rlaif.game.captures.capture import PackedKeyframe
from rlaif.trainer.curriculum.demonstrations import (
    Demonstration,
    KeptState,
    Segment,
    segments,
)
from rlaif.trainer.play.frontier import Frontier, SubtaskFigures
from rlaif.trainer.search.marks import Marks
from rlaif.trainer.settings.learning import CurriculumSettings

SLACK_FRAMES = 240
"""Added to the multiple of the demonstration's frames: four seconds, for goals that are a step
away."""


class Attempt:
    """An attempt at a subtask from a start state, until its goal is reached or its time is up.

    A goal is reached when each of its flags has been set at some time since the attempt started, in
    any order and by any trajectory; flags that are reset afterwards, such as a key, count. Goals of
    later subtasks are watched, too: reaching one of them first is a failure of this subtask.

    Attributes:
        subtask: Index of the subtask in the route.
        place: Index of its start state.
        until: Frames of the episode at which the attempt ends.
        reached: Subtasks, this one or later ones, with a complete goal; the first ends the attempt.
    """

    def __init__(
        self, subtask: int, place: int, goal: Marks, *, until: int, later: Mapping[int, Marks]
    ) -> None:
        """Start an attempt; `later` contains the goals of later subtasks by index, in order."""
        self.subtask, self.place = subtask, place
        self.until = until
        self.reached: set[int] = set()
        self._missing = {subtask: set(goal)} | {
            number: set(marks) for number, marks in later.items()
        }

    @property
    def succeeded(self) -> bool:
        """Whether its own goal is complete."""
        return self.subtask in self.reached

    def see(self, marks: Marks) -> int | None:
        """Process the flags that are set now; return the last subtask that they complete."""
        newest = None
        for number, missing in self._missing.items():
            missing -= marks
            if not missing:
                self.reached.add(number)
                newest = number
        return newest

    def state_dict(self) -> dict[str, Any]:
        return {
            "leg": self.subtask,
            "place": self.place,
            "until": self.until,
            "missing": [(number, set(missing)) for number, missing in self._missing.items()],
        }

    @classmethod
    def of(cls, state: dict[str, Any]) -> "Attempt":
        missing = {number: frozenset(marks) for number, marks in state["missing"]}
        subtask = state["leg"]
        goal = missing.pop(subtask)
        return cls(subtask, state["place"], goal, until=state["until"], later=missing)


def limit(frames: int, patience: float) -> int:
    """Return the maximum frames of an attempt for which the demonstration took `frames`."""
    return round(frames * patience) + SLACK_FRAMES


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


class Subtask(NamedTuple):
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
        subtasks: All subtasks of all demonstrations.
    """

    def __init__(
        self, demonstrations: Sequence[Demonstration], settings: CurriculumSettings
    ) -> None:
        """Start with every frontier at its goal; without subtasks, nothing is drawn."""
        self._settings = settings
        self.subtasks = _subtasks([each for each in demonstrations if each.part_of is None])
        self._numbers = {
            (subtask.demonstration.name, subtask.segment.number): number
            for number, subtask in enumerate(self.subtasks)
        }
        self._frontiers = [self._new_frontier(subtask) for subtask in self.subtasks]
        self._tries = [0] * len(self.subtasks)
        self._outcomes: list[deque[bool]] = [deque(maxlen=_WINDOW) for _ in self.subtasks]
        self._arrivals: list[deque[PackedKeyframe]] = [
            deque(maxlen=_ARRIVALS) for _ in self.subtasks
        ]

    def _new_frontier(self, subtask: Subtask) -> Frontier:
        tries = self._settings.tries
        return Frontier(
            len(subtask.segment.starts),
            tries=tries,
            success=self._settings.success,
            undecided=_UNDECIDED * tries,
        )

    @property
    def mastered_share(self) -> float:
        """Share of mastered subtasks."""
        mastered = sum(frontier.is_mastered for frontier in self._frontiers)
        return mastered / max(1, len(self._frontiers))

    @property
    def power_on_share(self) -> float:
        """Share of frames in episodes without a start on a demonstration."""
        return power_on_share(self._settings, self.mastered_share)

    def subtask_shares(self) -> npt.NDArray[np.float64]:
        """Return the distribution of the other episodes over `subtasks`.

        A subtask that is not mastered has weight 1, a mastered one its failure rate, so that weak
        subtasks get the episodes that strong ones no longer need.
        """
        weights = np.ones(len(self.subtasks))
        for index, frontier in enumerate(self._frontiers):
            if frontier.is_mastered and frontier.success is not None:
                weights[index] = max(_MIN_WEIGHT, 1.0 - frontier.success)
        shares: npt.NDArray[np.float64] = weights / weights.sum()
        return shares

    def place_shares(self, subtask: int) -> npt.NDArray[np.float64]:
        """Return the distribution of a subtask's starts over its places.

        The share `behind` is spread between frontier and goal, the rest is at the frontier.
        """
        frontier = self._frontiers[subtask]
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
        if not self.subtasks or (rng.random() < share and played_otherwise <= share):
            return None
        subtask = _draw_index(self.subtask_shares(), rng)
        return subtask, _draw_index(self.place_shares(subtask), rng)

    def note(self, subtask: int, place: int, *, success: bool) -> None:
        """Record the outcome of an attempt."""
        self._tries[subtask] += 1
        self._outcomes[subtask].append(success)
        self._frontiers[subtask].note(place, success=success)

    def time_from(self, subtask: int, place: int) -> int:
        """Return the maximum game frames of an attempt from a place."""
        patience = self._settings.patience * self._frontiers[subtask].time
        return limit(self.subtasks[subtask].frames_from(place), patience)

    def arrive(self, subtask: int, at: PackedKeyframe) -> None:
        """Store a state in which an episode arrived at the beginning of a subtask."""
        self._arrivals[subtask].append(at)

    def arrival(self, subtask: int, rng: np.random.Generator) -> PackedKeyframe | None:
        """Draw a state of arrival at a subtask; None: use the demonstration's state."""
        known = self._arrivals[subtask]
        if not known or rng.random() >= self._settings.arrived:
            return None
        return known[int(rng.integers(len(known)))]

    @property
    def first(self) -> int:
        """The subtask at the game's own start, with which the first demonstration begins."""
        return 0

    def after(self, subtask: int) -> int | None:
        """Return the next subtask of the same demonstration, or None."""
        demonstration, segment = self.subtasks[subtask]
        return self._numbers.get((demonstration.name, segment.number + 1))

    def goals_after(self, subtask: int) -> Iterator[tuple[int, Marks]]:
        """Yield (index, goal) of the later subtasks of the same demonstration."""
        while (following := self.after(subtask)) is not None:
            yield following, self.subtasks[following].segment.goal
            subtask = following

    def figures(self) -> tuple[SubtaskFigures, ...]:
        """Return the statistics of all subtasks."""
        return tuple(map(self._figures_of, range(len(self.subtasks))))

    def _figures_of(self, subtask: int) -> SubtaskFigures:
        demonstration, segment = self.subtasks[subtask]
        frontier, outcomes = self._frontiers[subtask], self._outcomes[subtask]
        before = self._numbers.get((demonstration.name, segment.number - 1))
        began = frozenset[str]() if before is None else self.subtasks[before].segment.goal
        return SubtaskFigures(
            demonstration=demonstration.name,
            begins_with=tuple(sorted(began)),
            goal=tuple(sorted(segment.goal)),
            places=frontier.places,
            at=frontier.at,
            is_mastered=frontier.is_mastered,
            tries=self._tries[subtask],
            success=frontier.success,
            success_anywhere=sum(outcomes) / len(outcomes) if outcomes else None,
        )

    def state_dict(self) -> dict[str, Any]:
        """Frontiers and outcomes by subtask."""
        return {
            subtask.key: {
                "frontier": frontier.state_dict(),
                "tries": tries,
                "outcomes": list(outcomes),
                "arrivals": [(each.data, each.sha256) for each in arrivals],
            }
            for subtask, frontier, tries, outcomes, arrivals in zip(
                self.subtasks,
                self._frontiers,
                self._tries,
                self._outcomes,
                self._arrivals,
                strict=True,
            )
        }

    def continue_from(self, earlier: "Route") -> None:
        """Keep what was reached on other demonstrations of the same game.

        A subtask whose beginning and goal are the same resumes. One that leads to the goal of a
        mastered subtask by another trajectory is tried from its beginning first.
        """
        self.load_state_dict(
            {
                mine.key: state
                for mine in self.subtasks
                for theirs, state in zip(
                    earlier.subtasks, earlier.state_dict().values(), strict=True
                )
                if mine.ends == theirs.ends and mine.segment.goal == theirs.segment.goal
            }
        )
        mastered = {
            subtask.segment.goal
            for subtask, frontier in zip(earlier.subtasks, earlier._frontiers, strict=True)
            if frontier.is_mastered
        }
        for subtask, frontier, tries in zip(
            self.subtasks, self._frontiers, self._tries, strict=True
        ):
            if not tries and subtask.segment.goal in mastered:
                frontier.try_the_beginning()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore; subtasks that are not in `state` keep their initial frontiers."""
        for index, subtask in enumerate(self.subtasks):
            saved = state.get(subtask.key)
            if saved is None or saved["frontier"]["places"] != len(subtask.segment.starts):
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


def subtasks_of_decisions(
    demonstrations: Sequence[Demonstration],
) -> dict[str, npt.NDArray[np.int64]]:
    """Return, by demonstration or noisy replay, the subtask of each decision.

    `[D] int64`, an index into `Route.subtasks`; -1 after the last goal.
    """
    whole = [each for each in demonstrations if each.part_of is None]
    numbers: dict[tuple[str, str], int] = {}
    found: dict[str, npt.NDArray[np.int64]] = {}
    ends_at: dict[tuple[str, int], int] = {}
    for subtask in _every_segment(whole):
        name, segment = subtask.demonstration.name, subtask.segment
        number = numbers.setdefault(subtask.ends, len(numbers))
        own = found.setdefault(name, np.full(subtask.demonstration.length, -1, dtype=np.int64))
        own[segment.first : segment.last] = ends_at[name, segment.last] = number
    for each in demonstrations:
        number = -1 if each.part_of is None else ends_at.get(each.part_of, -1)
        found.setdefault(each.name, np.full(each.length, number, dtype=np.int64))
    return found


def _every_segment(demonstrations: Sequence[Demonstration]) -> Iterator[Subtask]:
    for demonstration in demonstrations:
        for segment in segments(demonstration, demonstration.needed(demonstrations)):
            yield Subtask(demonstration, segment)


def _subtasks(demonstrations: Sequence[Demonstration]) -> tuple[Subtask, ...]:
    """Return all subtasks; those with equal start states are merged."""
    subtasks: dict[tuple[str, str], Subtask] = {}
    for subtask in _every_segment(demonstrations):
        subtasks.setdefault(subtask.ends, subtask)
    return tuple(subtasks.values())


def _draw_index(shares: npt.NDArray[np.float64], rng: np.random.Generator) -> int:
    cumulated = np.cumsum(shares)
    at = int(np.searchsorted(cumulated, rng.random() * cumulated[-1], side="right"))
    return min(at, len(shares) - 1)
