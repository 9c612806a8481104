"""Places of the game with the number of finished episodes that visited each, for a reward.

The training process sums the reports of the runners and sends the sums with its orders.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.play.start import Start
from rlaif.trainer.rewards.game.facts import GameFacts


class PlaceCounts:
    """Counts of one runner.

    Attributes:
        episodes: Square → known finished episodes of the run that visited it.
    """

    def __init__(self) -> None:
        self.episodes: Counter[int] = Counter()
        self._new: Counter[int] = Counter()

    def take_in(self, episodes: Mapping[int, int]) -> None:
        """Replace the counts by those of the whole run."""
        self.episodes = Counter(episodes)

    def end_episode(self, squares: set[int]) -> None:
        self.episodes.update(squares)
        self._new.update(squares)

    def report(self) -> tuple[tuple[int, int], ...]:
        """Return (square, finished episodes) since the last report."""
        new, self._new = self._new, Counter()
        return tuple(sorted(new.items()))


class PlaceFollower:
    """Counts the places of one environment, which its rewards depend on: an `EpisodeFollower`."""

    def __init__(self, counts: PlaceCounts, game: GameEnv) -> None:
        self._counts = counts
        game.count_visits(self)
        self._open: set[int] = set()
        self._facts: GameFacts | None = None

    def episodes(self, square: int) -> int:
        return self._counts.episodes[square]

    def begin_episode(self, facts: GameFacts, start: Start) -> None:
        """Start an episode, and count the previous one."""
        self._counts.end_episode(self._open)
        self._open = set()
        self._visit(facts)

    def after_step(self, facts: GameFacts, action: int, wait: int) -> None:
        if facts is not self._facts:
            self._visit(facts)

    def state_dict(self) -> dict[str, Any]:
        """The places of the running episode."""
        return {"open": sorted(self._open)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._open = set(state["open"])

    def _visit(self, facts: GameFacts) -> None:
        self._facts = facts
        if facts.settled:
            self._open.add(facts.square_index)
