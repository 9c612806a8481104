"""Schedule of a run: when it saves, evaluates and ends.

An epoch ends at each multiple of `epoch_steps`, also in a run that was killed. Epochs count from 0.
The time of a run is that of the training loop over all attempts, without pauses and work lost to
crashes.
"""

from dataclasses import dataclass
from typing import Literal

from rlaif.trainer.settings.run import Mode, RunSettings

End = Literal["time", "epoch", "evaluated", "asked", "learned"]
"""Why a run ends: RUN_HOURS, end of the epoch, end of the evaluation, on request, or the whole
demonstration is mastered."""

_MIN_SECONDS = 30.0
"""Minimum time between two checkpoints of a young run."""


@dataclass(frozen=True)
class Plan:
    """The plan of one attempt, which starts at `first_step` environment steps."""

    run: RunSettings
    eval_interval: int
    first_step: int = 0

    @property
    def mode(self) -> Mode:
        return self.run.mode

    @property
    def _run_seconds(self) -> float:
        return self.run.run_hours * 3600

    def epochs_ended(self, env_steps: int) -> int:
        return env_steps // self.run.epoch_steps

    def end(self, env_steps: int, trained_seconds: float) -> End | None:
        if self.mode == "epoch" and self.epochs_ended(env_steps) > self.epochs_ended(
            self.first_step
        ):
            return "epoch"
        return "time" if trained_seconds >= self._run_seconds else None

    def saves(self, before: int, after: int, trained_seconds: float, saved_at: float) -> bool:
        """Whether to save after an iteration from `before` to `after` steps.

        `saved_at` is the training time at the last checkpoint. A young run saves whenever its
        training time has doubled, so that a crash loses half of it at most.
        """
        if self.epochs_ended(after) > self.epochs_ended(before):
            return True
        young = max(_MIN_SECONDS, saved_at)
        return trained_seconds - saved_at >= min(young, self.run.checkpoint_minutes * 60)

    def evaluates(self, env_steps: int, evaluated: set[int]) -> int | None:
        """Return the number of the epoch to evaluate now, if any."""
        ended = self.epochs_ended(env_steps)
        if self.mode != "pipeline" or not self.eval_interval or not ended:
            return None
        due = ended % self.eval_interval == 0 and ended - 1 not in evaluated
        return ended - 1 if due else None

    def seconds_left(
        self, env_steps: int, trained_seconds: float, steps_per_second: float | None
    ) -> float | None:
        """Remaining training time of the run, in seconds; None while the rate is unknown."""
        by_time = max(0.0, self._run_seconds - trained_seconds)
        if self.mode != "epoch":
            return by_time
        if not steps_per_second:
            return None
        last = (self.epochs_ended(self.first_step) + 1) * self.run.epoch_steps
        return min(by_time, max(0, last - env_steps) / steps_per_second)
