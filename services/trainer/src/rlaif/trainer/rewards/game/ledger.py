"""The game's own reward of one episode: evaluates the terms at each step.

rewards = EpisodeRewards(preset("default"))
rewards.begin(facts)                       # at the start state
parts = rewards.step(facts, action)        # after each base step
reward = total(parts)
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from rlaif.trainer.rewards.game.facts import GameFacts, Progress
from rlaif.trainer.rewards.game.presets import PARTS, RewardWeights
from rlaif.trainer.rewards.game.terms import NewPlaces, Term, VisitCounts, build_terms
from rlaif.trainer.settings.game import STEP_FRAMES

Float32 = npt.NDArray[np.float32]

NOTHING: Float32 = np.zeros(len(PARTS), dtype=np.float32)
"""The parts of every step without a reward: one object, read-only."""
NOTHING.flags.writeable = False


def total(parts: Float32) -> float:
    """The reward of a step, by definition: the float32 sum of its parts."""
    return float(parts.sum())


class EpisodeRewards:
    """Evaluates the terms over the facts of an episode.

    States in which no file is being played (the title screen, after saving and quitting) give no
    reward and are ignored by all terms; the next step is compared with the last one played.

    Attributes:
        asks_each_step: Whether steps without any change may have a reward.
        asks_each_move: Whether steps that change only the position inside a square may have one.
    """

    def __init__(
        self,
        weights: RewardWeights,
        visits: VisitCounts | None = None,
        *,
        frame_skip: int = STEP_FRAMES,
    ) -> None:
        """Use these weights in every episode, in steps of `frame_skip` frames.

        `visits` are for the `novelty` part; without them all places count as unvisited.
        """
        every = build_terms(weights, frame_skip)
        self._rooms, self._novelty = every["room"], every["novelty"]
        if visits is not None:
            self.count_visits(visits)
        # Parts without weight are not computed, except the rooms, which are counted.
        self._used = [
            (part, every[name])
            for part, name in enumerate(PARTS)
            if every[name].weight or name == "room"
        ]
        self._on_squares = [it for it in self._used if it[1].looks_at != "progress"]
        self._on_moves = [it for it in self._used if it[1].looks_at in ("steps", "moves")]
        self._on_steps = [it for it in self._used if it[1].looks_at == "steps"]
        self._before: GameFacts | None = None
        self.asks_each_step, self.asks_each_move = bool(self._on_steps), bool(self._on_moves)

    @property
    def rooms_visited(self) -> int:
        assert isinstance(self._rooms, NewPlaces)
        return self._rooms.count if self._before else 0

    def count_visits(self, visits: VisitCounts) -> None:
        assert isinstance(self._novelty, NewPlaces)
        self._novelty.visits = visits

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

    def _asked(self, before: GameFacts, facts: GameFacts) -> list[tuple[int, Term]]:
        """The terms that can have a reward in this step."""
        if facts is before:
            return self._on_steps
        if facts.progress is not before.progress:
            return self._used
        return self._on_moves if facts.is_near(before) else self._on_squares

    def state_dict(self) -> dict[str, Any]:
        before = self._before
        terms = {PARTS[part]: term.state_dict() for part, term in self._used}
        return {
            "before": None if before is None else before.plain(),
            "terms": terms if before else {},
        }

    def load_state_dict(self, state: dict[str, Any], progress: Progress) -> None:
        kept = state["before"]
        self._before = None if kept is None else GameFacts.of(kept, progress)
        for part, term in self._used:
            if self._before is not None:
                term.load_state_dict(state["terms"][PARTS[part]])

    def _baseline(self, facts: GameFacts) -> None:
        self._before = facts
        for _, term in self._used:
            term.begin(facts)
