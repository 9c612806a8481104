"""How much of an episode a planner may play: steps and outcomes in, a yes or no out."""

from typing import Any

from rlaif.contracts.plans import Mode
from rlaif.trainer.settings.takeover import TakeoverSettings

_MOST_DOUBLINGS = 4

NEVER = 2**62
"""More steps than are ever played."""


class TakeoverBudget:
    """Of one environment's running episode.

    At any step the planner has played at most `share` of the episode's steps and one takeover of
    `most_steps` beyond. Rests are those of a mode: a planner too slow for dialogs, which are soon
    over, may be quick enough for puzzles.

    Attributes:
        steps: Decision steps of the episode.
        planned: Those that the planner played.
        taken: Those of the takeover that runs.
    """

    def __init__(self, settings: TakeoverSettings) -> None:
        self._settings = settings
        self.begin_episode()

    def begin_episode(self) -> None:
        """Nothing of the episode before counts."""
        self.steps = self.planned = self.taken = 0
        self._rests_until: dict[Mode, int] = {}
        self._failed_in_a_row: dict[Mode, int] = {}

    def allows(self, mode: Mode) -> bool:
        """Whether a takeover of this mode may begin now."""
        share = self._settings.share
        return share > 0 and self.planned <= share * self.steps and not self.rests(mode)

    def rests(self, mode: Mode) -> bool:
        """Whether it is too early for another question of this mode."""
        return self.steps < self._rests_until.get(mode, 0)

    def steps_without(self, mode: Mode) -> int:
        """In so many of the steps that come now `allows` says no, if the planner plays none.

        Below 1: perhaps in none.
        """
        share = self._settings.share
        if share <= 0:
            return NEVER
        allowed_at = int(self.planned / share) - 1  # a step early, as floats are not exact
        return max(allowed_at, self._rests_until.get(mode, 0)) - self.steps - 1

    @property
    def is_spent(self) -> bool:
        """Whether the takeover that runs has had its steps."""
        return self.taken >= self._settings.most_steps

    def begin_takeover(self) -> None:
        """Count a takeover's own steps from here."""
        self.taken = 0

    def play(self) -> None:
        """The planner plays the step that comes now."""
        self.planned += 1
        self.taken += 1

    def note_success(self, mode: Mode) -> None:
        """A takeover changed the situation it was asked for."""
        self._failed_in_a_row.pop(mode, None)

    def note_failure(self, mode: Mode) -> None:
        """A takeover failed, or nothing came of a question: rest, longer each time in a row."""
        failed = self._failed_in_a_row.get(mode, 0)
        times = 2 ** min(failed, _MOST_DOUBLINGS)
        self._rests_until[mode] = self.steps + self._settings.rest_steps * times
        self._failed_in_a_row[mode] = failed + 1

    def state_dict(self) -> dict[str, Any]:
        """What of the episode counts, as plain values."""
        return {
            "steps": self.steps,
            "planned": self.planned,
            "rests_until": dict(self._rests_until),
            "failed_in_a_row": dict(self._failed_in_a_row),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Resume in the middle of the episode; no takeover runs."""
        self.steps, self.planned, self.taken = state["steps"], state["planned"], 0
        self._rests_until = dict(state["rests_until"])
        self._failed_in_a_row = dict(state["failed_in_a_row"])
