"""Interface of an observer of one environment, such as the counts of places."""

from typing import Any, Protocol

from rlaif.trainer.play.start import Start
from rlaif.trainer.rewards.game.facts import GameFacts


class EpisodeFollower(Protocol):
    """Observer of one environment, without influence on play."""

    def begin_episode(self, facts: GameFacts, start: Start) -> None:
        """Start an episode after the warm-up of `start`; the previous one, if any, has ended."""
        ...

    def after_step(self, facts: GameFacts, action: int, wait: int) -> None:
        """Process a base step that was followed by `wait` frames without control."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """State of the running episode, as plain values."""
        ...

    def load_state_dict(self, state: dict[str, Any]) -> None: ...
