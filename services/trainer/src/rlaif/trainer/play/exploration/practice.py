"""Practice of rare events: start states that move back from where a milestone was reached.

A milestone that was reached by chance is soon forgotten, because hundreds of episodes may pass
until the next success. Therefore states before it are stored, and attempts start there, near the
milestone first and farther back as they succeed (Salimans & Chen 2018, arXiv 1812.03381, with the
run's own play as the demonstration). An attempt ends as soon as it is decided, so that there are
many.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rlaif.game.captures.capture import unpack_keyframe
from rlaif.trainer.play.exploration.approach import ApproachState
from rlaif.trainer.play.frontier import Frontier
from rlaif.trainer.play.start import PRACTICE, Start

TRIES = 6
"""Window of attempts that decides whether a start moves."""

SUCCESS = 0.5
"""Success rate above which it moves back."""

PATIENCE = 3
"""An attempt ends after this multiple of the original steps, plus `MORE_STEPS`."""

MORE_STEPS = 128
"""8.5 s of the game, of which a cutscene takes a part."""

_MASTERED = 0.1
"""Weight of a milestone whose farthest start succeeds, compared with 1 for the others."""

_BEHIND = 0.25
"""Share of attempts between a frontier and the milestone, which were mastered before."""

_NEWEST = 0.1
"""Weight of the latest episode in the moving average of its kind's length."""


@dataclass(frozen=True)
class _Approach:
    """Start states of a milestone, the farthest at place 0."""

    moments: tuple[ApproachState, ...]
    frontier: Frontier


@dataclass(frozen=True)
class _Attempt:
    milestone: str
    place: int


class Practice:
    """The milestones that one runner reached first, with their start states."""

    def __init__(self, *, share: float) -> None:
        """Spend a `share`, 0 to 1, of the steps on practice, once there are milestones."""
        if not 0 <= share <= 1:
            raise ValueError(f"share of practice {share} must be 0 to 1")
        self._share = share
        self._approaches: dict[str, _Approach] = {}
        self._places: dict[str, _Attempt] = {}  # by provenance: two ways may share a state
        self._tries: dict[str, _Attempt] = {}
        self._practising: set[str] = set()
        self._steps: dict[bool, float] = {}

    @property
    def is_on(self) -> bool:
        """Whether practice is enabled."""
        return self._share > 0

    @property
    def parents(self) -> set[str]:
        """Digests of the archived states from which the trajectories start."""
        return {
            moment.parent for approach in self._approaches.values() for moment in approach.moments
        }

    def learn(self, milestone: str, moments: Sequence[ApproachState]) -> None:
        """Add a milestone with its start states, the farthest first; ignored without any."""
        if not moments:
            return
        frontier = Frontier(len(moments), tries=TRIES, success=SUCCESS)
        self._approaches[milestone] = _Approach(tuple(moments), frontier)
        for place, moment in enumerate(moments):
            self._places[_provenance(milestone, moment)] = _Attempt(milestone, place)

    def draw(self, rng: np.random.Generator) -> Start | None:
        """Draw a start state for an episode, or None for another start."""
        if not self._approaches or rng.random() >= self._chance():
            return None
        names = sorted(self._approaches)
        mastered = [self._approaches[name].frontier.is_mastered for name in names]
        weights = np.where(mastered, _MASTERED, 1.0)
        milestone = names[int(rng.choice(len(names), p=weights / weights.sum()))]
        approach = self._approaches[milestone]
        place = approach.frontier.at
        if rng.random() < _BEHIND:
            place = int(rng.integers(place, len(approach.moments)))
        moment = approach.moments[place]
        state = unpack_keyframe(moment.keyframe.data, moment.keyframe.sha256)
        return Start(state, _provenance(milestone, moment), moment.keyframe, from_play=True)

    def _chance(self) -> float:
        """Return the probability of an attempt such that attempts have their share of the steps."""
        if self._share == 1 or len(self._steps) < 2:
            return self._share
        odds = self._share / (1 - self._share) * self._steps[False] / self._steps[True]
        return odds / (1 + odds)

    def moment(self, provenance: str) -> ApproachState | None:
        """Return the start state with this provenance; None for any other start."""
        known = self._places.get(provenance)
        return None if known is None else self._approaches[known.milestone].moments[known.place]

    def begin(self, environment: str, provenance: str, *, played: int | None) -> None:
        """Start an episode; the one before it, if known, had `played` steps.

        An unfinished attempt of the previous episode counts as failed.
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

    def is_attempting(self, environment: str) -> bool:
        """Whether its episode is an undecided attempt."""
        return environment in self._tries

    def max_steps(self, environment: str) -> int | None:
        """Return the decision steps after which its attempt has failed; None if there is none."""
        attempt = self._tries.get(environment)
        if attempt is None:
            return None
        moment = self._approaches[attempt.milestone].moments[attempt.place]
        return PATIENCE * moment.distance + MORE_STEPS

    def see(self, environment: str, milestones: Sequence[str]) -> None:
        """Process the milestones of an environment's episode."""
        attempt = self._tries.get(environment)
        if attempt is not None and attempt.milestone in milestones:
            self._end(environment, success=True)

    def _end(self, environment: str, *, success: bool) -> None:
        attempt = self._tries.pop(environment, None)
        if attempt is not None:
            self._approaches[attempt.milestone].frontier.note(attempt.place, success=success)

    def state_dict(self) -> dict[str, Any]:
        """All start states, frontiers and running attempts."""
        return {
            "ways": {
                milestone: {
                    "moments": [moment.state_dict() for moment in approach.moments],
                    "frontier": approach.frontier.state_dict(),
                }
                for milestone, approach in self._approaches.items()
            },
            "tries": {name: vars(attempt) for name, attempt in self._tries.items()},
            "practising": sorted(self._practising),
            "steps": [(kind, mean) for kind, mean in self._steps.items()],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for milestone, saved in state["ways"].items():
            self.learn(milestone, [ApproachState.of(each) for each in saved["moments"]])
            self._approaches[milestone].frontier.load_state_dict(saved["frontier"])
        self._tries = {name: _Attempt(**attempt) for name, attempt in state["tries"].items()}
        self._practising = set(state["practising"])
        self._steps = dict(state["steps"])


def _provenance(milestone: str, moment: ApproachState) -> str:
    return f"{PRACTICE}{milestone}@{moment.distance}"
