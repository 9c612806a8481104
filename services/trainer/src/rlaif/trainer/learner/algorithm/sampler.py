"""Fragments of all runners: ordered, and collected when they are complete."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import methodcaller
from typing import Any

import numpy as np
import ray

from rlaif.reward_net.potential import PotentialFunction
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.play.recording import Disagreement
from rlaif.trainer.rewards.learned.reward_models import RewardModel, check_reward_model
from rlaif.trainer.rewards.learned.shaping import Float32


@dataclass(frozen=True)
class RunnerRewardModel:
    """A reward model for the runners; `data` may be a reference to Ray's object store."""

    version: int
    sha256: str
    data: Any

    def answers(self) -> PotentialFunction:
        data = ray.get(self.data) if isinstance(self.data, ray.ObjectRef) else self.data
        return check_reward_model(data, version=self.version, sha256=self.sha256).answers


def disagreement_by(answers: PotentialFunction) -> Disagreement | None:
    """Standard deviation over the networks of an ensemble; None for a single network."""

    def measure(observations: Float32) -> float:
        return float(answers.normalised(observations).std(axis=0).mean())

    ensemble = len(answers.normalised(np.zeros((1, answers.inputs), dtype=np.float32))) > 1
    return measure if ensemble else None


_TAGS = ("sample-even", "sample-odd")
"""RLlib sends a runner no second request with the tag of one in progress: two tags."""

MAX_AHEAD = len(_TAGS)

_POLL_SECONDS = 0.2


class StopAskedError(Exception):
    """A stop was requested: pending fragments are neither awaited nor learned from."""


def never() -> bool:
    """No stop is requested."""
    return False


class FragmentSampler:
    """Orders batches of fragments from all healthy runners of an RLlib group and collects them.

    The learner may work on a batch while the next ones are played. Up to two may be pending, so
    that a runner continues at once when it has finished its part, however long the others need. A
    lost runner contributes nothing; RLlib replaces it before the next iteration. Without remote
    runners the local one plays when its fragment is collected.

    Attributes:
        held: Collected batches that wait for `collect`, such as those of a checkpoint.
        gap: The next fragments do not continue the ones before them.
        stop_asked: Whether a stop was requested; polled while fragments are played.
        interrupted: Whether games stopped in the middle of a fragment and cannot be saved.
    """

    def __init__(self, group: Any, *, timeout: float) -> None:
        self._group = group
        self._timeout = timeout
        self._for_local: Callable[[Any], Fragment] | None = None
        self._ordered = 0
        self._pending: deque[str] = deque()
        self._answers: list[tuple[int, Fragment]] = []
        self._sent: RunnerRewardModel | None = None
        self.held: deque[list[Fragment]] = deque()
        self.gap = False
        self.stop_asked: Callable[[], bool] = never
        self.interrupted = False

    @property
    def remote(self) -> bool:
        return bool(self._group.num_remote_env_runners() > 0)

    @property
    def ahead(self) -> int:
        """Number of batches that were ordered and not collected."""
        return len(self._pending) + len(self.held) + (self._for_local is not None)

    def order(
        self,
        batch_size: int,
        *,
        capture_quota: int,
        context: CaptureContext,
        model: RewardModel | None = None,
    ) -> None:
        """Request a batch from all healthy runners, to be played after the ones before it.

        `batch_size`, in environment steps, is rounded up to whole rows of all environments;
        `capture_quota` is the one of all runners.
        """
        runners = max(1, self._group.num_healthy_remote_env_runners())
        rows = runners * self._group.local_env_runner.config.num_envs_per_env_runner
        # A function and not a method's name: RLlib passes no arguments on to the local runner.
        call = methodcaller(
            "sample",
            steps=-(-batch_size // rows),
            capture_quota=capture_quota,
            context=context,
            runners=runners,
            model=self._for_runners(model),
        )
        if not self.remote:
            self._for_local = call
            return
        assert len(self._pending) < MAX_AHEAD, "collect first"
        tag = _TAGS[self._ordered % MAX_AHEAD]
        self._ordered += 1
        self._group.foreach_env_runner_async(call, tag=tag)
        self._pending.append(tag)

    def _for_runners(self, model: RewardModel | None) -> RunnerRewardModel | None:
        """The model with its file in Ray's object store, where it is put once."""
        if model is None:
            return None
        if self._sent is None or self._sent.sha256 != model.sha256:
            data = ray.put(model.data) if self.remote else model.data
            self._sent = RunnerRewardModel(model.version, model.sha256, data)
        return self._sent

    def collect(self) -> list[Fragment]:
        """The oldest batch, in the order of the runners; empty if all of them were lost.

        Raises:
            StopAskedError: A stop was requested before the batch was complete.
        """
        if self.held:
            fragments = self.held.popleft()
        elif self.remote:
            fragments = self._answered()
        else:
            assert self._for_local is not None, "order first"
            call, self._for_local = self._for_local, None
            runner = self._group.local_env_runner
            runner.stop_asked, self.interrupted = self.stop_asked, True
            fragments = [call(runner)]
            self.interrupted = False
        if self.gap:
            fragments = [replace(fragment, continues=False) for fragment in fragments]
        self.gap = self.gap and not fragments
        return fragments

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
        tag, last = self._pending[0], time.monotonic() + self._timeout
        while True:
            self._answers += self._group.fetch_ready_async_reqs(
                tags=tag, timeout_seconds=_POLL_SECONDS
            )
            now = time.monotonic()
            if not self._group.num_in_flight_async_reqs(tag) or now > last:
                break
            if self.stop_asked() if deadline is None else now > deadline:
                raise StopAskedError
        self._pending.popleft()
        answers, self._answers = self._answers, []
        return sorted((fragment for _, fragment in answers), key=lambda each: each.runner)


def share(segments: int, *, parts: int, part: int, turn: int) -> int:
    """One part's share of a grant; the shares of all `parts` add up to it.

    `turn` rises from grant to grant, so that the remainder goes to each part in turn.
    """
    return (segments + (part + turn) % parts) // parts
