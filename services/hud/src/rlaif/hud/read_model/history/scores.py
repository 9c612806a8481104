"""What the judges gave in each run, for the comparison of then and now."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Score:
    """A scored segment."""

    env_step: int
    weighted: float
    episode_id: str
    segment_id: str


class Scores:
    """Scores of all runs, in any order; of more than `keep` a run an even sample stays."""

    def __init__(self, *, keep: int = 3000, runs: int = 20) -> None:
        self._keep = keep
        self._runs = runs
        self._scores: dict[str, dict[str, Score]] = {}
        self._levels: dict[str, int] = {}
        self._steps: dict[str, int] = {}
        self._waiting: dict[str, float] = {}

    def captured(self, run_id: str, episode_id: str, segment_id: str, env_step: int) -> None:
        """Where in its run a segment lies."""
        waited = self._waiting.pop(segment_id, None)
        if waited is not None:
            self._add(run_id, Score(env_step, waited, episode_id, segment_id))
            return
        _put(self._steps, segment_id, env_step, most=2 * self._keep)

    def scored(
        self,
        run_id: str,
        episode_id: str,
        segment_id: str,
        weighted: float | None,
    ) -> None:
        """What the judges gave, perhaps again; None takes away what they gave before."""
        known = self._scores.get(run_id, {}).get(segment_id)
        if weighted is None:
            self._scores.get(run_id, {}).pop(segment_id, None)
            return
        step = known.env_step if known is not None else self._steps.pop(segment_id, None)
        if step is not None:
            self._add(run_id, Score(step, weighted, episode_id, segment_id))
        else:
            _put(self._waiting, segment_id, weighted, most=2 * self._keep)

    def of(self, run_id: str | None) -> list[Score]:
        """The scores of one run, in the order of their steps."""
        scores = self._scores.get(run_id or "", {}).values()
        return sorted(scores, key=lambda score: (score.env_step, score.segment_id))

    def count(self, run_id: str) -> int:
        """How many those are."""
        return len(self._scores.get(run_id, {}))

    def _add(self, run_id: str, score: Score) -> None:
        if run_id not in self._scores:
            _put(self._scores, run_id, {}, most=self._runs)
        scores, level = self._scores[run_id], self._levels.get(run_id, 0)
        if _sieve(score.segment_id) % (1 << level):
            return
        scores[score.segment_id] = score
        while len(scores) > self._keep:
            level += 1
            self._levels[run_id] = level
            scores = {key: kept for key, kept in scores.items() if _sieve(key) % (1 << level) == 0}
            self._scores[run_id] = scores


def by_episode(scores: Sequence[Score]) -> list[float]:
    """The mean of each episode, the newest last: segments of one are no independent witnesses."""
    groups: dict[str, list[float]] = {}
    for score in scores:
        # An episode stands where its newest segment does.
        groups[score.episode_id] = [*groups.pop(score.episode_id, []), score.weighted]
    return [fmean(group) for group in groups.values()]


def _sieve(segment_id: str) -> int:
    """A number that has nothing to do with what the segment shows."""
    return int.from_bytes(hashlib.blake2b(segment_id.encode(), digest_size=4).digest())


def _put(of: dict[str, V], key: str, value: V, *, most: int) -> None:
    """Add to a dict that forgets its oldest entries."""
    of[key] = value
    while len(of) > most:
        del of[next(iter(of))]
