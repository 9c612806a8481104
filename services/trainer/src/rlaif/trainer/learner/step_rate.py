"""Environment steps a second, as a person with a watch would say."""

from collections import deque

WINDOW_SECONDS = 10.0
"""One iteration tells nothing: its batch may have been played while the last was learned."""


class StepRate:
    """Steps over the last ten seconds, or over the last iteration when that took longer."""

    def __init__(self, now: float, steps: int) -> None:
        """Begin to count at `now`, in seconds of any clock, with `steps` behind."""
        self._marks = deque([(now, steps)])

    def after(self, now: float, steps: int) -> float:
        """Steps a second, with `steps` behind at `now`; 0 when no time has passed."""
        while len(self._marks) > 1 and now - self._marks[1][0] >= WINDOW_SECONDS:
            self._marks.popleft()
        began, before = self._marks[0]
        self._marks.append((now, steps))
        return (steps - before) / (now - began) if now > began else 0.0
