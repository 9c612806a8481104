"""Fragments of all runners: asked for, and collected when they are there.

Between the two the learner may work on the fragments before them.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
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
    """A reward model on its way to the runners; `data` may be Ray's reference, fetched once."""

    version: int
    sha256: str
    data: Any

    @classmethod
    def of(cls, model: RewardModel, *, remote: bool) -> "RunnerRewardModel":
        """The model, put where runners in other processes find it when there are any."""
        return cls(model.version, model.sha256, ray.put(model.data) if remote else model.data)

    def answers(self) -> PotentialFunction:
        data = ray.get(self.data) if isinstance(self.data, ray.ObjectRef) else self.data
        return check_reward_model(data, version=self.version, sha256=self.sha256).answers


def disagreement_by(answers: PotentialFunction) -> Disagreement | None:
    """What measures it by this model; None when it is a single network."""

    def measure(observations: Float32) -> float:
        """Standard deviation over the networks, the mean over the observations."""
        return float(answers.normalised(observations).std(axis=0).mean())

    ensemble = len(answers.normalised(np.zeros((1, answers.inputs), dtype=np.float32))) > 1
    return measure if ensemble else None


_TAGS = ("sample-even", "sample-odd")
"""RLlib sends a runner no second request of a kind while it works on the first: two kinds."""

MAX_AHEAD = len(_TAGS)

_POLL_SECONDS = 0.2


class StopAskedError(Exception):
    """The run is to stop: the fragments being played are neither waited for nor learned from."""


def never() -> bool:
    """The run is not to stop."""
    return False


class FragmentSampler:
    """One fragment after the other from every healthy runner of an RLlib group.

    Two may be pending. A runner that has finished its own then continues at once, however long the
    others need: with as many runners as cores and a learner besides, one is always last.

    A runner that is lost on the way gives nothing; RLlib replaces it before the next iteration.
    Without remote runners the local one plays, when its fragment is collected.

    Attributes:
        held: Batches that a checkpoint waited for, or held; they are collected first.
        stop_asked: Whether the run is to stop; polled while fragments are played.
        interrupted: Whether games were left in the middle of a fragment, so that their state
            cannot be saved.
    """

    def __init__(self, group: Any, *, timeout: float) -> None:
        self._group = group
        self._timeout = timeout
        self._for_local: Callable[[Any], Fragment] | None = None
        self._ordered = 0
        self._turns: deque[str] = deque()
        self._answers: list[tuple[int, Fragment]] = []
        self.held: deque[list[Fragment]] = deque()
        self.stop_asked: Callable[[], bool] = never
        self.interrupted = False

    @property
    def remote(self) -> bool:
        return bool(self._group.num_remote_env_runners() > 0)

    @property
    def ahead(self) -> int:
        return len(self._turns) + len(self.held) + (self._for_local is not None)

    def order(
        self,
        batch_size: int,
        *,
        capture_quota: int,
        context: CaptureContext,
        model: RunnerRewardModel | None = None,
    ) -> None:
        """Ask every healthy runner for its share of a batch, after what it was asked for before.

        Both numbers are for all runners; `batch_size`, in environment steps, is rounded up to rows.
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
            model=model,
        )
        if not self.remote:
            self._for_local = call
            return
        assert len(self._turns) < MAX_AHEAD, "collect first"
        tag = _TAGS[self._ordered % MAX_AHEAD]
        self._ordered += 1
        self._group.foreach_env_runner_async(call, tag=tag)
        self._turns.append(tag)

    def collect(self) -> list[Fragment]:
        """What was ordered first, in the order of the runners; empty when all of them were lost.

        Raises:
            StopAskedError: The run is to stop, and it was not there yet.
        """
        if self.held:
            return self.held.popleft()
        if not self.remote:
            assert self._for_local is not None, "order first"
            call, self._for_local = self._for_local, None
            runner = self._group.local_env_runner
            runner.stop_asked, self.interrupted = self.stop_asked, True
            fragment = call(runner)
            self.interrupted = False
            return [fragment]
        return self._answered()

    def hold(self, patience: float | None = None) -> list[list[Fragment]]:
        """Wait for what is being played and keep it for `collect`; runners then stand still.

        With `patience` a run that is stopping waits so many seconds at most: then the games are
        `interrupted`, and nothing is held.

        Raises:
            StopAskedError: Without `patience`: the run is to stop, and not all were there yet.
        """
        deadline = None if patience is None else time.monotonic() + patience
        try:
            while self._turns:
                self.held.append(self._answered(deadline))
        except StopAskedError:
            if deadline is None:
                raise
            self.interrupted = True
        return [] if self.interrupted else list(self.held)

    def _answered(self, deadline: float | None = None) -> list[Fragment]:
        """What was ordered first; a deadline takes the place of asking whether the run stops."""
        tag, last = self._turns[0], time.monotonic() + self._timeout
        while True:
            self._answers += self._group.fetch_ready_async_reqs(
                tags=tag, timeout_seconds=_POLL_SECONDS
            )
            now = time.monotonic()
            if not self._group.num_in_flight_async_reqs(tag) or now > last:
                break
            if self.stop_asked() if deadline is None else now > deadline:
                raise StopAskedError
        self._turns.popleft()
        answers, self._answers = self._answers, []
        return sorted((fragment for _, fragment in answers), key=lambda each: each.runner)


def share(segments: int, *, parts: int, part: int, turn: int) -> int:
    """One part's share of a grant; the shares of all `parts` add up to it.

    `turn` rises from grant to grant, so that what cannot be divided goes to each part in turn.
    """
    return (segments + (part + turn) % parts) // parts
