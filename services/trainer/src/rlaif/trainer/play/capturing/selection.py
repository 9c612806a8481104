"""Selects segments for the judges: a uniform share, and the most informative ones.

    uniform        drawn at random before the segment is played
    disagreement   it starts where the reward model's networks disagree more than elsewhere
    new room       at its end: it entered a room whose entry is in few captures
    milestone      at its end: it reached a story step that is in few captures

The uniform ones are an unbiased sample of the play, for metrics; the others are not.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal

import numpy as np

Reason = Literal["uniform", "disagreement", "new room", "milestone"]
"""`Capture.selected_by`."""


SPREAD_WINDOW, SPREAD_MAX = 30, 3
"""Of 30 consecutive captures at most 3 come from one episode: they span ten."""

_UNIFORM_PER_EPISODE = 1.0
"""Maximum mean number of uniform captures per full-length episode. With more, the limit would be
reached before the end, and the uniform share would prefer the beginnings of episodes."""

_EXAMPLES: dict[str, int] = {"new room": 3, "milestone": 10}
"""Captures of a runner that show a room being entered, or a milestone being reached, until it is
not new any more."""

_UNRANKED_SHARE = 0.8
"""Uniform share of the budget while no ensemble ranks segments; the rest is for new content."""

_HEAD_START = 3
"""Non-uniform captures that are allowed before the share applies."""

_SCORES_KEPT, _SCORES_MIN = 200, 20
"""Segments whose disagreement is stored, and the minimum number for a quantile."""

_MAX_SHARE = 0.5
"""Maximum share of the segments that count as high disagreement."""


@dataclass(frozen=True)
class SelectionRules:
    """Rules of selection; `episode_segments` is for an episode of full length."""

    uniform_share: float = 0.3
    episode_segments: int = 400


@dataclass(frozen=True)
class FirstSightings:
    """Rooms and milestones that a segment is the first to show in its episode."""

    rooms: tuple[int, ...] = ()
    milestones: tuple[str, ...] = ()

    def items(self, reason: str) -> list[str]:
        found: Iterable[object] = self.rooms if reason == "new room" else self.milestones
        return [f"{reason} {each}" for each in found]


class SegmentSelector:
    """Selects for all environments of one runner.

    A capture costs a token of the fragment's quota when it is chosen; segments that were chosen in
    the previous fragment and have not ended yet are deducted.

    Attributes:
        skipped: Whole segments of this fragment that were not selected.
        taken: Reason → captures so far.
    """

    def __init__(self, rules: SelectionRules, rng: np.random.Generator) -> None:
        self._rules = rules
        self._rng = rng
        self._left = self._interest_left = self._rate = 0.0
        self._coin = 0.0
        self._recent: deque[str] = deque(maxlen=SPREAD_WINDOW - 1)
        self._scores: deque[float] = deque(maxlen=_SCORES_KEPT)
        self._shown: Counter[str] = Counter()
        self.taken: Counter[str] = Counter()
        self.skipped = 0

    def begin_fragment(
        self, quota: int, *, starting: float, pending: int, ranked: bool = True
    ) -> None:
        """Start another fragment, of which `quota` segments may be captured.

        Args:
            quota: Segments, `pending` included.
            starting: Expected number of segments that start in the fragment.
            pending: Chosen segments that have not ended yet.
            ranked: Whether an ensemble ranks segments. Until there is one, most are drawn
                uniformly, so that the first model has labels soon.
        """
        self.skipped = 0
        self._left = max(0, quota - pending)
        share = self._rules.uniform_share
        uniform = (share if ranked else max(share, _UNRANKED_SHARE)) * self._left
        most = _UNIFORM_PER_EPISODE / max(1, self._rules.episode_segments)
        self._coin = min(uniform / max(1.0, starting), most)
        others = self._left - uniform
        self._interest_left = int(others) + (self._rng.random() < others % 1.0)
        self._rate = min(_MAX_SHARE, self._interest_left / max(1.0, starting))

    def forget_scores(self) -> None:
        self._scores.clear()

    def at_start(self, episode: str, disagreement: Callable[[], float] | None) -> Reason | None:
        """Choose a segment before it is played.

        `disagreement` measures that of the reward model's networks on the last observations; None
        without an ensemble. It is called only if needed.
        """
        chance = self._rng.random()
        if self._left >= 1 and chance < self._coin and self._from(episode) < SPREAD_MAX:
            self._left -= 1
            return "uniform"
        if disagreement is None or not self._takes_interest(episode):
            return None
        score = disagreement()
        if not isfinite(score):
            return None  # the learner rejects such a model
        known = self._scores
        much = len(known) >= _SCORES_MIN and score > np.quantile(known, 1.0 - self._rate)
        known.append(score)
        if not much:
            return None
        self._spend_on_interest()
        return "disagreement"

    def looks_back(self, episode: str) -> bool:
        return self._takes_interest(episode)

    def at_end(
        self, episode: str, chosen: Reason | None, seen_first: FirstSightings, *, provable: bool
    ) -> Reason | None:
        """The reason to capture a segment that just ended; None if it is not captured.

        `chosen` is the result of `at_start`. A segment is `provable` if its start was recorded.
        """
        reason = chosen
        if reason is None and provable and self._takes_interest(episode):
            reason = self._why_new(seen_first)
            if reason is not None:
                self._spend_on_interest()
        if reason is None:
            self.skipped += 1
            return None
        self.taken[reason] += 1
        self._recent.append(episode)
        for kind in _EXAMPLES:
            self._shown.update(seen_first.items(kind))
        return reason

    def state_dict(self) -> dict[str, Any]:
        return {"taken": dict(self.taken), "shown": dict(self._shown)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.taken, self._shown = Counter(state["taken"]), Counter(state["shown"])

    def _why_new(self, seen_first: FirstSightings) -> Reason | None:
        for reason in ("milestone", "new room"):
            for item in seen_first.items(reason):
                if self._shown[item] < _EXAMPLES[reason]:
                    return "milestone" if reason == "milestone" else "new room"
        return None

    def _takes_interest(self, episode: str) -> bool:
        share = self._rules.uniform_share
        uniform = self.taken["uniform"]
        others = self.taken.total() - uniform
        held = others + 1 <= uniform * (1.0 - share) / share + _HEAD_START
        # The last one of an episode is left to uniform selection.
        spread = self._from(episode) < SPREAD_MAX - 1
        return self._interest_left >= 1 and self._left >= 1 and held and spread

    def _from(self, episode: str) -> int:
        return self._recent.count(episode)

    def _spend_on_interest(self) -> None:
        self._left -= 1
        self._interest_left -= 1
