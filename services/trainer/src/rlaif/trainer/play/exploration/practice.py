"""Practice of what play did once: starts that move back from where a milestone was reached.

A milestone that play came to by luck is soon forgotten: the next episode that comes so far may be
hundreds away. So the steps before it are kept as moments, and tries start there: near the
milestone first, and farther back as they reach it again (Salimans & Chen 2018, arXiv 1812.03381,
with the run's own play for a demonstration). An attempt ends where it is decided, so that there
are many.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlaif.game.captures.capture import unpack_keyframe
from rlaif.trainer.play.exploration.approach import Moment
from rlaif.trainer.play.frontier import Frontier
from rlaif.trainer.play.start import PRACTICE, Start

TRIES = 6
"""Last tries that decide whether a start moves."""

SUCCESS = 0.5
"""Share of those above which it moves back."""

PATIENCE = 3
"""An attempt is cut after so many times the steps that it took the first time, and `MORE_STEPS`."""

MORE_STEPS = 128
"""8.5 s of the game: a scene in which an item is held up takes a part of them."""

_MASTERED = 0.1
"""Weight of a way whose farthest moment succeeds; one that does not yet has 1."""

_BEHIND = 0.25
"""Share of the tries between a frontier and the milestone, which were mastered before."""

_NEWEST = 0.1
"""Weight of the episode that ended last in the mean length of its kind."""


@dataclass(frozen=True)
class _Way:
    """From the farthest moment, place 0, to a milestone."""

    moments: tuple[Moment, ...]
    frontier: Frontier


@dataclass(frozen=True)
class _Try:
    milestone: str
    place: int


class Practice:
    """The ways to milestones that the play of one runner came to first."""

    def __init__(self, *, share: float) -> None:
        """Spend a `share`, 0 to 1, of the play on them, once there are any."""
        if not 0 <= share <= 1:
            raise ValueError(f"share of practice {share} must be 0 to 1")
        self._share = share
        self._ways: dict[str, _Way] = {}
        self._places: dict[str, _Try] = {}  # by provenance: two ways may share a state
        self._tries: dict[str, _Try] = {}
        self._practising: set[str] = set()
        self._steps: dict[bool, float] = {}

    @property
    def is_on(self) -> bool:
        """Whether anything is ever practised."""
        return self._share > 0

    @property
    def parents(self) -> set[str]:
        """Digests of the archived states from which the trajectories start."""
        return {moment.parent for way in self._ways.values() for moment in way.moments}

    def learn(self, milestone: str, moments: Sequence[Moment]) -> None:
        """Practise a milestone from `moments`, the farthest first; without any it is left out."""
        if not moments:
            return
        frontier = Frontier(len(moments), tries=TRIES, success=SUCCESS)
        self._ways[milestone] = _Way(tuple(moments), frontier)
        for place, moment in enumerate(moments):
            self._places[_provenance(milestone, moment)] = _Try(milestone, place)

    def draw(self, rng: np.random.Generator) -> Start | None:
        """An episode starts: at a moment, or None for elsewhere."""
        if not self._ways or rng.random() >= self._chance():
            return None
        names = sorted(self._ways)
        homes = [self._ways[name].frontier.is_home for name in names]
        weights = np.where(homes, _MASTERED, 1.0)
        milestone = names[int(rng.choice(len(names), p=weights / weights.sum()))]
        way = self._ways[milestone]
        place = way.frontier.at
        if rng.random() < _BEHIND:
            place = int(rng.integers(place, len(way.moments)))
        moment = way.moments[place]
        state = unpack_keyframe(moment.keyframe.data, moment.keyframe.sha256)
        return Start(state, _provenance(milestone, moment), moment.keyframe, from_play=True)

    def _chance(self) -> float:
        """Chance of an attempt, such that attempts have their share of the steps."""
        if self._share == 1 or len(self._steps) < 2:
            return self._share
        odds = self._share / (1 - self._share) * self._steps[False] / self._steps[True]
        return odds / (1 + odds)

    def moment(self, provenance: str) -> Moment | None:
        """The moment at which a start that was drawn is; None for any other start."""
        known = self._places.get(provenance)
        return None if known is None else self._ways[known.milestone].moments[known.place]

    def begin(self, environment: str, provenance: str, *, played: int | None) -> None:
        """An episode starts; the one before it, if known, had `played` steps.

        An attempt that it left open has failed.
        """
        if played:
            kind = environment in self._practising
            known = self._steps.get(kind, float(played))
            self._steps[kind] = known + _NEWEST * (played - known)
        self._end(environment, success=False)
        self._practising.discard(environment)
        if provenance in self._places:
            self._tries[environment] = self._places[provenance]
            self._practising.add(environment)

    def is_trying(self, environment: str) -> bool:
        """Whether its episode is an undecided attempt."""
        return environment in self._tries

    def most_steps(self, environment: str) -> int | None:
        """Decision steps after which its attempt has failed; None for any other episode."""
        attempt = self._tries.get(environment)
        if attempt is None:
            return None
        moment = self._ways[attempt.milestone].moments[attempt.place]
        return PATIENCE * moment.distance + MORE_STEPS

    def see(self, environment: str, milestones: Sequence[str]) -> None:
        """Its episode shows these milestones."""
        attempt = self._tries.get(environment)
        if attempt is not None and attempt.milestone in milestones:
            self._end(environment, success=True)

    def _end(self, environment: str, *, success: bool) -> None:
        attempt = self._tries.pop(environment, None)
        if attempt is not None:
            self._ways[attempt.milestone].frontier.note(attempt.place, success=success)

    def state_dict(self) -> dict[str, Any]:
        """All ways with their moments, and the running tries, as plain values."""
        return {
            "ways": {
                milestone: {
                    "moments": [moment.state_dict() for moment in way.moments],
                    "frontier": way.frontier.state_dict(),
                }
                for milestone, way in self._ways.items()
            },
            "tries": {name: vars(attempt) for name, attempt in self._tries.items()},
            "practising": sorted(self._practising),
            "steps": [(kind, mean) for kind, mean in self._steps.items()],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resume with what `state_dict` gave."""
        for milestone, saved in state["ways"].items():
            self.learn(milestone, [Moment.of(each) for each in saved["moments"]])
            self._ways[milestone].frontier.load_state_dict(saved["frontier"])
        self._tries = {name: _Try(**attempt) for name, attempt in state["tries"].items()}
        self._practising = set(state["practising"])
        self._steps = dict(state["steps"])


def _provenance(milestone: str, moment: Moment) -> str:
    return f"{PRACTICE}{milestone}@{moment.distance}"
