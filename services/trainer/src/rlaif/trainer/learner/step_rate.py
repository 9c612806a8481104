"""Environment steps a second, as a person with a watch would say."""

from collections import deque

WINDOW_SECONDS = 10.0
"""One iteration tells nothing: its batch may have been played while the last was learned."""


class StepRate:
    """Steps over the last ten seconds, or over the last iteration when that took longer.

    What is collected may have been played before that time: runners go on while the learner
    evaluates or saves. So the steps count over the time in which they were played where that is
    longer, and no rate is above that at which the runners play.
    """

    def __init__(self, now: float, steps: int) -> None:
        self._marks = deque([(now, steps, 0.0)])

    def after(self, now: float, steps: int, played_seconds: float = 0.0) -> float:
        """Steps a second, with `steps` behind at `now`; 0 when no time has passed.

        `played_seconds` is the time in which those since the last call were played, by the slowest
        of the runners that played side by side.
        """
        while len(self._marks) > 1 and now - self._marks[1][0] >= WINDOW_SECONDS:
            self._marks.popleft()
        played = self._marks[-1][2] + played_seconds
        began, before, played_before = self._marks[0]
        self._marks.append((now, steps, played))
        seconds = max(now - began, played - played_before)
        return (steps - before) / seconds if seconds > 0 else 0.0
