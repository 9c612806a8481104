"""The teachers: what each makes of the truth. The kinds are those of B-Pref, and two more.

perfect            says the truth
noisy              now and then says the opposite of all it sees
random             says anything
myopic             sees the end of a segment only
skipping           gives no answer on segments that are all bad
position-biased    likes what is mentioned first
adversarial        says the opposite about the best segments, which hurts most

All are deterministic: equal seeds, keys and truths give equal answers, whoever asked before.
"""

import hashlib
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from rlaif.mock_llm.teachers.truth import Truth

Answer = dict[str, float]
"""Criterion → value in [0, 1]; criteria without a value are missing."""


class TeacherKind(StrEnum):
    """The names of the teachers."""

    PERFECT = "perfect"
    NOISY = "noisy"
    RANDOM = "random"
    MYOPIC = "myopic"
    SKIPPING = "skipping"
    POSITION_BIASED = "position-biased"
    ADVERSARIAL = "adversarial"


@dataclass(frozen=True)
class Teacher:
    """One simulated teacher.

    Attributes:
        error: How much it errs. noisy: share of segments answered by the opposite. skipping: mean
            true value below which it does not answer. position-biased: added to the first
            criterion, taken from the last, and how much the first of a pair gains. adversarial:
            segments of a mean true value above 1 minus this get the opposite. Others ignore it.
    """

    kind: TeacherKind = TeacherKind.PERFECT
    error: float = 0.1
    seed: int = 0

    def score(self, truth: Truth) -> Answer:
        """Rate one segment; empty when it does not answer."""
        return _SCORES[self.kind](self, truth)

    def prefer(
        self, first: Truth, second: Truth, weights: Mapping[str, float], *, tie_band: float = 0.0
    ) -> float | None:
        """Compare two segments that are shown in this order: 1 when the first is better, else 0.

        0.5 for a tie, which is a difference below `tie_band`; None when it does not answer.
        """
        one, other = _mean(self.score(first), weights), _mean(self.score(second), weights)
        if one is None or other is None:
            return None
        lead = self.error if self.kind is TeacherKind.POSITION_BIASED else 0.0
        margin = one - other + lead
        if abs(margin) < tie_band or margin == 0:
            return 0.5
        return 1.0 if margin > 0 else 0.0


def _perfect(_teacher: Teacher, truth: Truth) -> Answer:
    return dict(truth.values)


def _noisy(teacher: Teacher, truth: Truth) -> Answer:
    wrong = _draw(teacher, truth).random() < teacher.error
    return _opposite(truth) if wrong else dict(truth.values)


def _random(teacher: Teacher, truth: Truth) -> Answer:
    draw = _draw(teacher, truth)
    return {name: draw.random() for name in sorted(truth.values)}


def _myopic(_teacher: Teacher, truth: Truth) -> Answer:
    if truth.late is not None:
        return dict(truth.late)
    # Where the end is not known by itself, what happens takes the place of what came of it.
    busy = truth.values.get("efficiency")
    return dict(truth.values) if busy is None else dict.fromkeys(truth.values, busy)


def _skipping(teacher: Teacher, truth: Truth) -> Answer:
    usual = _usual(truth)
    return {} if usual is None or usual < teacher.error else dict(truth.values)


def _position_biased(teacher: Teacher, truth: Truth) -> Answer:
    last = max(1, len(truth.values) - 1)
    return {
        name: min(1.0, max(0.0, value + teacher.error * (1.0 - 2.0 * place / last)))
        for place, (name, value) in enumerate(truth.values.items())
    }


def _adversarial(teacher: Teacher, truth: Truth) -> Answer:
    usual = _usual(truth)
    hurts = usual is not None and usual > 1.0 - teacher.error
    return _opposite(truth) if hurts else dict(truth.values)


_SCORES: dict[TeacherKind, Callable[[Teacher, Truth], Answer]] = {
    TeacherKind.PERFECT: _perfect,
    TeacherKind.NOISY: _noisy,
    TeacherKind.RANDOM: _random,
    TeacherKind.MYOPIC: _myopic,
    TeacherKind.SKIPPING: _skipping,
    TeacherKind.POSITION_BIASED: _position_biased,
    TeacherKind.ADVERSARIAL: _adversarial,
}


def _opposite(truth: Truth) -> Answer:
    return {name: 1.0 - value for name, value in truth.values.items()}


def _usual(truth: Truth) -> float | None:
    return sum(truth.values.values()) / len(truth.values) if truth.values else None


def _mean(answer: Answer, weights: Mapping[str, float]) -> float | None:
    total = sum(weights.get(name, 0.0) for name in answer)
    if total <= 0:
        return None
    return sum(weights.get(name, 0.0) * value for name, value in answer.items()) / total


def _draw(teacher: Teacher, truth: Truth) -> random.Random:
    text = f"{teacher.kind} {teacher.seed} {truth.key}"
    return random.Random(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big"))
