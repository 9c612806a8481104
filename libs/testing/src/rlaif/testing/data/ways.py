"""The ways of the walkthrough: its segments that lead to the next objective, and their pay.

Who walks a way should be paid more than who walks it back. What leads to an objective is what the
simulated expert says, who reads the guide and the map and knows no reward model: of the
walkthrough's segments about four in five. The others fetch a heart, fight, or go round by a lever.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rlaif.contracts.quest import SAME_PLACE
from rlaif.judge.evidence.summary import summarise
from rlaif.mock_llm.expert.standing import standings
from rlaif.reward_net.pay import DISCOUNT, Potential
from rlaif.testing.data.walkthrough import records, segments, walkthrough
from rlaif.trainer.rewards.learned.shaping import PotentialShaper, Transitions

Float32 = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Way:
    """A segment that leads to the next objective.

    Attributes:
        objective: Number of the objective that is next at its start.
        rise: How far it leads, in objectives, by the expert.
        observations: `[75, 128]` float32.
    """

    objective: int
    rise: float
    observations: Float32

    @property
    def back(self) -> Float32:
        """The same observations the other way round."""
        return self.observations[::-1]


def ways(inputs: Path) -> list[Way]:
    """All of the walkthrough, in its order; `inputs` is its walkthrough.json. Ten seconds."""
    found = []
    for looks in segments(list(walkthrough(inputs))):
        start, end = standings(summarise(records(looks)))
        if start is None or end is None:
            continue
        rise = end.position - start.position
        if rise > SAME_PLACE:
            rows = np.stack([look.observation for look in looks])
            found.append(Way(start.objective, rise, rows))
    return found


def pay_of(potential: Potential, observations: Float32) -> float:
    """What the trainer's own shaper pays for `[T, D]` observations that begin an episode."""
    steps = len(observations) - 1
    never = np.zeros((steps, 1), dtype=np.bool_)
    transitions = Transitions(
        observations=np.ascontiguousarray(observations[:, None]),
        terminated=never,
        truncated=never,
        final_index=np.zeros((0, 2), dtype=np.int64),
        final_observations=np.zeros((0, observations.shape[1]), dtype=np.float32),
    )
    shaped = PotentialShaper(gamma=DISCOUNT, weight=1.0).shape(0, transitions, potential)
    return float((DISCOUNT ** np.arange(steps) * shaped[:, 0].astype(np.float64)).sum())


def paid_right(potential: Potential, of: Sequence[Way]) -> float:
    """Share of the ways that are paid more than the same way back; an equal pay is not more."""
    more = [pay_of(potential, way.observations) > pay_of(potential, way.back) for way in of]
    return float(np.mean(more))
