"""Interface of an observer of one environment, such as exploration."""

from collections.abc import Sequence
from typing import Any, Protocol

from rlaif.game.machine.emulator import Emulator
from rlaif.trainer.play.start import Start, StartSource
from rlaif.trainer.rewards.game.facts import GameFacts


class WatchedGame(Protocol):
    """What a follower may ask of the environment that it follows.

    Attributes:
        frames: Game frames of the episode.
    """

    frames: int

    def cut_after(self, frames: int, *, lost: bool = False) -> None: ...


class EpisodeFollower(Protocol):
    """Follows one environment. It may save the emulator's state and does not play."""

    def starts(self, given: StartSource) -> StartSource: ...

    def episodes(self, square: int) -> int: ...

    def begin_episode(
        self,
        emulator: Emulator,
        facts: GameFacts,
        start: Start,
        warm_up: Sequence[tuple[int, int]],
    ) -> None:
        """An episode starts in the emulator's state; the one before it, if any, is over.

        `warm_up` are (action, frames waited) of the steps played since `start`.
        """
        ...

    def state_dict(self, facts: GameFacts) -> dict[str, Any]:
        """What it remembers of the running episode, as plain values; `facts` are those of now."""
        ...

    def load_state_dict(self, state: dict[str, Any], facts: GameFacts) -> None: ...

    def after_step(self, emulator: Emulator, facts: GameFacts, action: int, wait: int) -> None: ...
