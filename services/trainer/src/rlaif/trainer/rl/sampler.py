"""Fragments of all runners: asked for, and collected when they are there.

Between the two the learner may work on the fragments before them.
"""

from collections.abc import Callable
from operator import methodcaller
from typing import Any

from rlaif.trainer.env.fragment import Fragment
from rlaif.trainer.env.recorder import CaptureContext
from rlaif.trainer.rl.disagreement import SentModel

_TAG = "sample"
"""RLlib sends a runner no second request of a kind while it works on the first."""


class FragmentSampler:
    """One fragment at a time from every healthy runner of an RLlib group.

    A runner that is lost on the way gives nothing; RLlib replaces it before the next iteration.
    Without remote runners the local one plays, when its fragment is collected.

    Attributes:
        held: Fragments that a checkpoint waited for, or held; they are collected first.
    """

    def __init__(self, group: Any, *, timeout: float) -> None:
        """Use the runners of `group`; wait `timeout` seconds for a fragment at most."""
        self._group = group
        self._timeout = timeout
        self._for_local: Callable[[Any], Fragment] | None = None
        self.held: list[Fragment] = []

    @property
    def remote(self) -> bool:
        """Whether sampling happens in processes of its own."""
        return bool(self._group.num_remote_env_runners() > 0)

    def order(
        self,
        batch_size: int,
        *,
        capture_quota: int,
        context: CaptureContext,
        model: SentModel | None = None,
    ) -> None:
        """Ask every healthy runner that is not at it for its share of a batch.

        Args:
            batch_size: Environment steps of all runners together; rounded up to whole rows.
            capture_quota: Segments that all together may select for capture.
            context: Goes into the captures.
            model: The reward model whose disagreement decides on captures, if any.
        """
        if self.held:
            return
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
        if self.remote:
            self._group.foreach_env_runner_async(call, tag=_TAG)
        else:
            self._for_local = call

    def collect(self) -> list[Fragment]:
        """What was ordered, in the order of the runners; empty when all of them were lost."""
        if self.held:
            held, self.held = self.held, []
            return held
        if not self.remote:
            assert self._for_local is not None, "order first"
            return [self._for_local(self._group.local_env_runner)]
        return self._answered()

    def hold(self) -> list[Fragment]:
        """Wait for what is being played and keep it for `collect`; runners then stand still."""
        if self.remote and not self.held:
            self.held = self._answered()
        return self.held

    def _answered(self) -> list[Fragment]:
        answers = self._group.fetch_ready_async_reqs(tags=_TAG, timeout_seconds=self._timeout)
        return sorted((fragment for _, fragment in answers), key=lambda each: each.runner)
