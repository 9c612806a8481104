"""Orders fragments from all runners and collects complete batches."""

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
"""Maximum number of ordered batches; with two, no runner waits for slower runners."""

_POLL_SECONDS = 0.2


class FragmentSampler:
    """Orders batches of fragments from all healthy runners and collects them.

    The learner may process a batch while the next ones are played. Fragments of a lost runner are
    missing; it is replaced before the next iteration. A runner in this process plays during
    `order`.

    Attributes:
        held: Complete batches that `collect` has not returned, such as those of a checkpoint.
        gap: Whether the next fragments do not continue the previous ones.
        stop_asked: Whether a stop was requested; polled while fragments are played.
        interrupted: Whether games stopped in the middle of a fragment and cannot be saved.
    """

    def __init__(self, runners: RunnerPool, *, count: int, timeout: float) -> None:
        """`count` is the number of environments per runner, `timeout` the limit in seconds."""
        self._runners, self._count, self._timeout = runners, count, timeout
        self._pending: deque[dict[int, Future[Fragment]]] = deque()
        self.held: deque[list[Fragment]] = deque()
        self.gap = False
        self.stop_asked: Callable[[], bool] = never
        self.interrupted = False

    @property
    def ahead(self) -> int:
        """Number of batches that are ordered and not yet collected."""
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
        """Order a batch from all healthy runners, which play it after earlier batches.

        `batch_size`, in environment steps, is rounded up to whole rows of all environments;
        `capture_quota` is shared by all runners; `more` returns further arguments for a runner.

        Raises:
            StopAskedError: A stop was requested while a runner in this process played.
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
        """Return the oldest batch, sorted by runner; empty if all runners were lost.

        Raises:
            StopAskedError: A stop was requested before the batch was complete.
        """
        fragments = self.held.popleft() if self.held else self._answered()
        if self.gap:
            fragments = [replace(fragment, continues=False) for fragment in fragments]
        self.gap = self.gap and not fragments
        return fragments

    def forget(self, runners: Iterable[int]) -> None:
        """Drop the requests to replaced runners, so that these do not affect the replacements."""
        for ordered in self._pending:
            for number in runners:
                ordered.pop(number, None)

    def hold(self, patience: float | None = None) -> list[list[Fragment]]:
        """Wait until the runners are idle; returns their batches, which are kept for `collect`.

        A stopping run sets `patience`, in seconds; if the runners take longer, the games are
        `interrupted` and no batch is returned.

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
        """Return the oldest pending batch; with a deadline, stop requests are ignored."""
        ordered, last = self._pending[0], time.monotonic() + self._timeout
        while not done(ordered.values(), _POLL_SECONDS) and (now := time.monotonic()) < last:
            if self.stop_asked() if deadline is None else now > deadline:
                raise StopAskedError
        self._pending.popleft()
        fragments: list[Fragment] = self._runners.answers(ordered, 0.0)
        return fragments
