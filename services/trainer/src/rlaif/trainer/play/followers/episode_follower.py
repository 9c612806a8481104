"""Interface of an observer of one environment, such as the counts of places."""

from typing import Any, Protocol

from rlaif.trainer.play.start import Start
from rlaif.trainer.rewards.game.facts import GameFacts


class EpisodeFollower(Protocol):
    """Follows one environment; it does not play."""

    def begin_episode(self, facts: GameFacts, start: Start) -> None:
        """An episode starts, after the warm-up of `start`; the previous one, if any, is over."""
        ...

    def after_step(self, facts: GameFacts, action: int, wait: int) -> None:
        """A base step was played, and so many frames were waited after it."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """State of the running episode, as plain values."""
        ...

    def load_state_dict(self, state: dict[str, Any]) -> None: ...
