"""Fragments of all runners: ordered, and collected when they are complete."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from operator import methodcaller
from typing import Any

from rlaif.trainer.learner.runners.pool import RunnerPool, done
from rlaif.trainer.learner.runners.runner import RunnerRewardModel, StopAskedError, never
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.rewards.learned.reward_models import RewardModel

MAX_AHEAD = 2
"""So that a runner continues at once when it has finished its part, however long others need."""

_POLL_SECONDS = 0.2


class FragmentSampler:
    """Orders batches of fragments from all healthy runners and collects them.

    The learner may work on a batch while the next ones are played. A lost runner contributes
    nothing; it is replaced before the next iteration. A runner in this process plays when a batch
    is ordered.

    Attributes:
        held: Collected batches that wait for `collect`, such as those of a checkpoint.
        gap: The next fragments do not continue the ones before them.
        stop_asked: Whether a stop was requested; polled while fragments are played.
        interrupted: Whether games stopped in the middle of a fragment and cannot be saved.
    """

    def __init__(self, runners: RunnerPool, *, count: int, timeout: float) -> None:
        """`count` is the number of environments of a runner."""
        self._runners, self._count, self._timeout = runners, count, timeout
        self._pending: deque[dict[int, Future[Fragment]]] = deque()
        self.held: deque[list[Fragment]] = deque()
        self.gap = False
        self.stop_asked: Callable[[], bool] = never
        self.interrupted = False

    @property
    def ahead(self) -> int:
        """Number of batches that were ordered and not collected."""
        return len(self._pending) + len(self.held)

    def order(
        self,
        batch_size: int,
        *,
        capture_quota: int,
        context: CaptureContext,
        model: RewardModel | None = None,
        more: Callable[[int], Mapping[str, Any]] = lambda runner: {},
    ) -> None:
        """Request a batch from all healthy runners, to be played after the ones before it.

        `batch_size`, in environment steps, is rounded up to whole rows of all environments;
        `capture_quota` is the one of all runners; `more` gives further arguments for each.

        Raises:
            StopAskedError: A stop was requested while the runner in this process played.
        """
        assert len(self._pending) < MAX_AHEAD, "collect first"
        runners = max(1, len(self._runners.healthy))
        call = partial(
            methodcaller,
            "sample",
            steps=-(-batch_size // (runners * self._count)),
            capture_quota=capture_quota,
            context=context,
            runners=runners,
            model=model and RunnerRewardModel(model.version, model.sha256, model.data),
        )
        local = self._runners.local
        if local is not None:
            local.stop_asked, self.interrupted = self.stop_asked, True
        calls = {number: call(**more(number)) for number in self._runners.healthy}
        ordered = self._runners.order_of(calls)
        if local is not None:
            for answer in ordered.values():
                answer.result()
            self.interrupted = False
        self._pending.append(ordered)

    def collect(self) -> list[Fragment]:
        """The oldest batch, in the order of the runners; empty if all of them were lost.

        Raises:
            StopAskedError: A stop was requested before the batch was complete.
        """
        fragments = self.held.popleft() if self.held else self._answered()
        if self.gap:
            fragments = [replace(fragment, continues=False) for fragment in fragments]
        self.gap = self.gap and not fragments
        return fragments

    def forget(self, runners: Iterable[int]) -> None:
        """Drop the requests of replaced runners; their loss is no fault of the replacements."""
        for ordered in self._pending:
            for number in runners:
                ordered.pop(number, None)

    def hold(self, patience: float | None = None) -> list[list[Fragment]]:
        """Wait until the runners are idle and keep what they played for `collect`.

        A run that is stopping gives a `patience`, in seconds; if the runners take longer, the games
        are `interrupted` and nothing is held.

        Raises:
            StopAskedError: Without `patience`: a stop was requested before all had finished.
        """
        deadline = None if patience is None else time.monotonic() + patience
        try:
            while self._pending:
                self.held.append(self._answered(deadline))
        except StopAskedError:
            if deadline is None:
                raise
            self.interrupted = True
        return [] if self.interrupted else list(self.held)

    def _answered(self, deadline: float | None = None) -> list[Fragment]:
        """The oldest pending batch; with a deadline, stop requests are ignored."""
        ordered, last = self._pending[0], time.monotonic() + self._timeout
        while not done(ordered.values(), _POLL_SECONDS) and (now := time.monotonic()) < last:
            if self.stop_asked() if deadline is None else now > deadline:
                raise StopAskedError
        self._pending.popleft()
        fragments: list[Fragment] = self._runners.answers(ordered, 0.0)
        return fragments
