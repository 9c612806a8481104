"""How much of an episode a planner may play: steps and outcomes in, a yes or no out."""

from rlaif.trainer.settings.takeover import TakeoverSettings

_MOST_DOUBLINGS = 4


class TakeoverBudget:
    """Of one environment's running episode.

    At any step the planner has played at most `share` of the episode's steps and one takeover of
    `most_steps` beyond.

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
        self._rests_until = self._failed_in_a_row = 0

    @property
    def allows_one(self) -> bool:
        """Whether a takeover may begin now."""
        share = self._settings.share
        return share > 0 and self.planned <= share * self.steps and not self.rests

    @property
    def rests(self) -> bool:
        """Whether it is too early for another question."""
        return self.steps < self._rests_until

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

    def note_success(self) -> None:
        """A takeover changed the situation it was asked for."""
        self._failed_in_a_row = 0

    def note_failure(self) -> None:
        """A takeover failed, or nothing came of a question: rest, longer each time in a row."""
        times = 2 ** min(self._failed_in_a_row, _MOST_DOUBLINGS)
        self._rests_until = self.steps + self._settings.rest_steps * times
        self._failed_in_a_row += 1

    def state_dict(self) -> dict[str, int]:
        """What of the episode counts, as plain values."""
        return {
            "steps": self.steps,
            "planned": self.planned,
            "rests_until": self._rests_until,
            "failed_in_a_row": self._failed_in_a_row,
        }

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Resume in the middle of the episode; no takeover runs."""
        self.steps, self.planned, self.taken = state["steps"], state["planned"], 0
        self._rests_until = state["rests_until"]
        self._failed_in_a_row = state["failed_in_a_row"]
