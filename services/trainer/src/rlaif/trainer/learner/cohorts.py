"""When each episode began, so that those of one time can be told from those of another.

An episode is put down to the iteration in which it began: reward models change between iterations
only. Until all that began before a step have ended, those that have are the short ones, and would
make a run look worse than it is; so the step is told before which none still runs.
"""

import math
from typing import Any

from rlaif.contracts.run_points import EndedEpisodes
from rlaif.trainer.play.fragment import EpisodeSummary, Fragment

_Key = tuple[int, int]
"""Runner and environment."""


class Cohorts:
    """Fragments in; episodes with the step at which they began out.

    Attributes:
        ended: Those that ended in the last iteration.
    """

    def __init__(self) -> None:
        self.ended = EndedEpisodes()
        self._began: dict[_Key, int | None] = {}

    @property
    def oldest_open(self) -> int | None:
        """The step at which the running episode began that runs longest; None: not known."""
        known = [began for began in self._began.values() if began is not None]
        return min(known) if known and len(known) == len(self._began) else None

    def add(self, fragments: list[Fragment], shaped: list[list[float]], env_steps: int) -> None:
        """Fold one iteration in, at whose end the run has had `env_steps`.

        `shaped` is what the reward model paid each episode that ended, fragment by fragment.
        """
        begins_at = env_steps - sum(fragment.steps for fragment in fragments)
        here = {
            (fragment.runner, n) for fragment in fragments for n in range(fragment.actions.shape[1])
        }
        # The games of a runner that is gone never end.
        self._began = {key: began for key, began in self._began.items() if key in here}
        self.ended = EndedEpisodes()
        for fragment, paid in zip(fragments, shaped, strict=True):
            self._fold(fragment, paid, begins_at)

    def _fold(self, fragment: Fragment, paid: list[float], begins_at: int) -> None:
        for n in range(fragment.actions.shape[1]):
            key = (fragment.runner, n)
            if not fragment.continues:
                self._began[key] = begins_at
            else:
                # Of a game from a checkpoint that did not say it is not known.
                self._began.setdefault(key, None)
        ends = zip(fragment.episodes, fragment.env_index_of_end, paid, strict=True)
        for episode, (_, n), shaped in ends:
            key = (fragment.runner, n)
            if math.isfinite(episode.reward) and not episode.is_practice:
                self.ended = self.ended.and_then(_row(episode, self._began[key], shaped))
            self._began[key] = begins_at

    def state_dict(self) -> list[tuple[int, int, int | None]]:
        return [(*key, began) for key, began in self._began.items()]

    def load_state_dict(self, state: list[Any]) -> None:
        self._began = {(runner, n): began for runner, n, began in state}


def _row(episode: EpisodeSummary, began: int | None, shaped: float) -> EndedEpisodes:
    return EndedEpisodes(
        count=1,
        began=(began,),
        gained=(episode.gained,),
        rooms=(episode.rooms,),
        returns=(round(float(episode.reward), 4),),
        shaped=(round(shaped, 4) if math.isfinite(shaped) else None,),
        lengths=(episode.length,),
        died=(episode.died,),
    )
