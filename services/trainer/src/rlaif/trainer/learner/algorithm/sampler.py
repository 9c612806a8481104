"""Fragments of all runners: asked for, and collected when they are there.

Between the two the learner may work on the fragments before them.
"""

from collections import deque
from collections.abc import Callable
from operator import methodcaller
from typing import Any

from rlaif.trainer.learner.options.disagreement import RunnerRewardModel
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.fragment import Fragment

_TAGS = ("sample-even", "sample-odd")
"""RLlib sends a runner no second request of a kind while it works on the first: two kinds."""

MOST_AHEAD = len(_TAGS)


class FragmentSampler:
    """One fragment after the other from every healthy runner of an RLlib group.

    Two may be on order. A runner that has played its own then goes on at once, however long the
    others need: with as many runners as cores and a learner besides, one is always last.

    A runner that is lost on the way gives nothing; RLlib replaces it before the next iteration.
    Without remote runners the local one plays, when its fragment is collected.

    Attributes:
        held: Batches that a checkpoint waited for, or held; they are collected first.
    """

    def __init__(self, group: Any, *, timeout: float) -> None:
        """Use the runners of `group`; wait `timeout` seconds for a fragment at most."""
        self._group = group
        self._timeout = timeout
        self._for_local: Callable[[Any], Fragment] | None = None
        self._ordered = 0
        self._turns: deque[str] = deque()
        self.held: deque[list[Fragment]] = deque()

    @property
    def remote(self) -> bool:
        """Whether sampling happens in processes of its own."""
        return bool(self._group.num_remote_env_runners() > 0)

    @property
    def ahead(self) -> int:
        """Batches that are ordered or held and not collected yet."""
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
        assert len(self._turns) < MOST_AHEAD, "collect first"
        tag = _TAGS[self._ordered % MOST_AHEAD]
        self._ordered += 1
        self._group.foreach_env_runner_async(call, tag=tag)
        self._turns.append(tag)

    def collect(self) -> list[Fragment]:
        """What was ordered first, in the order of the runners; empty when all of them were lost."""
        if self.held:
            return self.held.popleft()
        if not self.remote:
            assert self._for_local is not None, "order first"
            call, self._for_local = self._for_local, None
            return [call(self._group.local_env_runner)]
        return self._answered()

    def hold(self) -> list[list[Fragment]]:
        """Wait for what is being played and keep it for `collect`; runners then stand still."""
        while self._turns:
            self.held.append(self._answered())
        return list(self.held)

    def _answered(self) -> list[Fragment]:
        answers = self._group.fetch_ready_async_reqs(
            tags=self._turns.popleft(), timeout_seconds=self._timeout
        )
        return sorted((fragment for _, fragment in answers), key=lambda each: each.runner)


def share(segments: int, *, parts: int, part: int, turn: int) -> int:
    """One part's share of a grant; the shares of all `parts` add up to it.

    `turn` rises from grant to grant, so that what cannot be divided goes to each part in turn.
    """
    return (segments + (part + turn) % parts) // parts
