"""Interface of an observer of one environment, such as the counts of places."""

from collections.abc import Sequence
from typing import Any, Protocol

from rlaif.game.machine.emulator import Emulator
from rlaif.trainer.play.start import Start, StartSource
from rlaif.trainer.rewards.game.facts import GameFacts


class EpisodeFollower(Protocol):
    """Follows one environment; it does not play."""

    def starts(self, given: StartSource) -> StartSource: ...

    def episodes(self, square: int) -> int: ...

    def begin_episode(
        self,
        emulator: Emulator,
        facts: GameFacts,
        start: Start,
        warm_up: Sequence[tuple[int, int]],
    ) -> None:
        """An episode starts in the emulator's state; the previous one, if any, is over.

        `warm_up` are (action, frames waited) of the steps played since `start`.
        """
        ...

    def state_dict(self, facts: GameFacts) -> dict[str, Any]:
        """State of the running episode, as plain values; `facts` are the present ones."""
        ...

    def load_state_dict(self, state: dict[str, Any], facts: GameFacts) -> None: ...

    def after_step(self, emulator: Emulator, facts: GameFacts, action: int, wait: int) -> None: ...
