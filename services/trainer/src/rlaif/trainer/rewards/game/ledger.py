"""The game's own reward of one episode: the ledger over the terms.

rewards = EpisodeRewards(preset("default"))
rewards.begin(facts)                       # at the start state
parts = rewards.step(facts, action)        # after each decision step
reward = total(parts)
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from rlaif.trainer.rewards.game import terms
from rlaif.trainer.rewards.game.facts import GameFacts, Progress
from rlaif.trainer.rewards.game.presets import PARTS, RewardWeights
from rlaif.trainer.settings.game import STEP_FRAMES

Float32 = npt.NDArray[np.float32]


NOTHING: Float32 = np.zeros(len(PARTS), dtype=np.float32)
"""The parts of every step without a reward: one object, read-only."""
NOTHING.flags.writeable = False


def total(parts: Float32) -> float:
    """The reward of a step: the float32 sum of its parts. There is no other definition."""
    return float(parts.sum())


def build_terms(
    weights: RewardWeights, visits: terms.VisitCounts, frame_skip: int = STEP_FRAMES
) -> tuple[terms.Term, ...]:
    """One term a part, in the order of `PARTS`, for steps of `frame_skip` frames."""
    return (
        terms.NewRooms(weights.room),
        terms.NewSquares(weights.square),
        terms.Novelty(weights.novelty, visits),
        terms.Moves(weights.move),
        terms.Rupees(weights.rupee),
        terms.Keys(weights.key),
        terms.Items(weights.item),
        terms.Events(weights.event),
        terms.Essences(weights.essence),
        terms.Damage(weights.damage),
        terms.Deaths(weights.death),
        terms.MenuPresses(weights.menu),
        terms.Standstill(weights.stuck, frame_skip),
    )


class EpisodeRewards:
    """Plays the facts of an episode through the terms.

    Moments at which no file is being played (the title screen, after saving and quitting) pay
    nothing and are ignored by all terms; the next step is compared with the last one played.

    Attributes:
        asks_each_step: Whether even a step in which nothing changed may have a reward.
    """

    def __init__(
        self,
        weights: RewardWeights,
        visits: terms.VisitCounts | None = None,
        *,
        frame_skip: int = STEP_FRAMES,
    ) -> None:
        """Use these weights in every episode, in steps of `frame_skip` frames.

        `visits` serve the `novelty` part.
        """
        self._visits = terms.SwitchedVisits()
        if visits is not None:
            self.count_visits(visits)
        every = build_terms(weights, self._visits, frame_skip)
        self._rooms = every[0]
        # A part that pays nothing need not be computed; the rooms are counted in any case.
        self._paying = [
            (part, term) for part, term in enumerate(every) if term.weight or term is self._rooms
        ]
        self._on_squares = [it for it in self._paying if it[1].looks_at != "progress"]
        self._on_moves = [it for it in self._paying if it[1].looks_at in ("steps", "moves")]
        self._on_steps = [it for it in self._paying if it[1].looks_at == "steps"]
        self._before: GameFacts | None = None
        self.asks_each_step = bool(self._on_steps)

    @property
    def rooms_visited(self) -> int:
        assert isinstance(self._rooms, terms.NewRooms)
        return self._rooms.count if self._before else 0

    def count_visits(self, visits: terms.VisitCounts) -> None:
        self._visits.source = visits

    def begin(self, facts: GameFacts) -> None:
        self._before = None
        if facts.running:
            self._baseline(facts)

    def step(self, facts: GameFacts, action: int) -> Float32:
        """The parts of one step's reward, `[P] float32` in the order of `PARTS`; do not write."""
        if not facts.running:
            return NOTHING
        before = self._before
        if before is None:
            self._baseline(facts)
            return NOTHING
        self._before = facts
        parts = NOTHING
        for part, term in self._asked(before, facts):
            amount = term.step(before, facts, action)
            if amount:
                if parts is NOTHING:
                    parts = np.zeros(len(PARTS), dtype=np.float32)
                parts[part] = amount
        return parts

    def _asked(self, before: GameFacts, facts: GameFacts) -> list[tuple[int, terms.Term]]:
        """The terms that can pay for this step; those left out have seen all that is new."""
        if facts is before:
            return self._on_steps
        if facts.progress is not before.progress:
            return self._paying
        return self._on_moves if facts.is_near(before) else self._on_squares

    def state_dict(self) -> dict[str, Any]:
        before = self._before
        return {
            "before": None if before is None else before.plain(),
            "terms": {term.name: term.state_dict() for _, term in self._paying} if before else {},
        }

    def load_state_dict(self, state: dict[str, Any], progress: Progress) -> None:
        kept = state["before"]
        self._before = None if kept is None else GameFacts.of(kept, progress)
        for _, term in self._paying:
            if self._before is not None:
                term.load_state_dict(state["terms"][term.name])

    def _baseline(self, facts: GameFacts) -> None:
        self._before = facts
        for _, term in self._paying:
            term.begin(facts)
