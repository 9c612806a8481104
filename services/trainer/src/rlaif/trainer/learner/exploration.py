"""Exploration in the training process: visit counts, the search, and its runners.

In training, some environments explore; in the search phase of mode `quest`, all do.
"""

import contextlib
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import replace
from operator import methodcaller
from typing import Any

from rlaif.trainer.learner.runners.opening import open_runners, runner_config
from rlaif.trainer.learner.runners.pool import Call, RunnerPool, ready
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.search.search import Search
from rlaif.trainer.settings import TrainerSettings

_DECISIONS = 64
"""Decisions of a runner between two reports. Start states are selected by the reports: with 512
decisions, a search needs twice the frames for the same discoveries."""

_OPEN_AGAIN_SECONDS = 10.0
"""Minimum time between two attempts to open a search on a full disk."""

_MAX_SECONDS = 600.0
"""A runner that has not reported for this time is replaced."""


class Exploration:
    """The exploration of a run.

    Attributes:
        places: Number of finished episodes that visited each square.
        search: None if no environment explores, or while the disk is full.
        not_written: Reason why the search cannot be written to disk; None if it can.
    """

    def __init__(self) -> None:
        self.places: Counter[int] = Counter()
        self.not_written: str | None = None
        self.search: Search | None = None
        self._open: Callable[[], Search] | None = None
        self._opened_at = 0.0

    def open(self, open_search: Callable[[], Search]) -> None:
        """Start or resume the search.

        Raises:
            TreeError: The stored search is of another game or version.
        """
        self._open, self._opened_at = open_search, time.monotonic()
        self.search, self.not_written = open_search(), None

    def order(self, runner: int) -> dict[str, Any]:
        """Return arguments of `EmulatorRunner.sample`."""
        job = None if self.search is None else self.search.next_job(runner)
        return {"places": dict(self.places), "job": job}

    def forget(self, runners: Iterable[int]) -> None:
        """Drop the pending jobs of runners that were replaced."""
        for runner in runners:
            if self.search is not None:
                self.search.forget(runner)

    def take_in(self, fragments: Iterable[Fragment]) -> None:
        """Store the explored states; on a full disk they are lost, and opening is retried later."""
        found = list(fragments)
        for fragment in found:
            self.places.update(dict(fragment.places))
        try:
            if self.search is None and self._open is not None and self._may_open:
                self.open(self._open)
            for fragment in found:
                if self.search is not None and fragment.explored is not None:
                    self.search.take_in(fragment.runner, fragment.explored)
        except sqlite3.Error as error:
            if self.search is not None:
                self.search.discard()
            self.search, self.not_written = None, f"the search cannot be written: {error}"

    @property
    def _may_open(self) -> bool:
        return time.monotonic() - self._opened_at > _OPEN_AGAIN_SECONDS

    def close(self) -> None:
        with contextlib.suppress(sqlite3.Error):  # the last seconds are lost
            if self.search is not None:
                self.search.close()


def open_explorers(settings: TrainerSettings, env: EnvConfig, files: str = "") -> RunnerPool:
    """Start runners in which every environment explores."""
    config = runner_config(settings, env, files=files)
    config = replace(
        config,
        env=replace(env, life=1),  # distinct from the runners of the next phase
        exploring=config.count * config.runners,
        assist=None,
        curriculum=None,
    )
    return open_runners(config, settings.ray_workers, on_cluster=settings.joins_cluster)


def explore(
    search: Search,
    runners: RunnerPool,
    *,
    environments: int,
    capture_quota: Callable[[], int] = lambda: 0,
) -> Iterator[Fragment]:
    """Explore endlessly with `environments` per runner; yield the fragments that were stored.

    `capture_quota` returns the number of segments that may be captured.
    """
    steps = max(1, _DECISIONS // environments)

    def order(runner: int) -> Call:
        quota = -(-capture_quota() // len(runners.healthy))
        job, context = search.next_job(runner), CaptureContext()
        return methodcaller("sample", steps=steps, capture_quota=quota, context=context, job=job)

    runners.wait_until_ready()
    ordered: dict[int, Future[Any]] = {}
    while True:
        for number in runners.restore(lambda: ready):
            search.forget(number)
            ordered.pop(number, None)
        idle = [number for number in runners.healthy if number not in ordered]
        ordered |= runners.order_of({number: order(number) for number in idle})
        done, _ = wait(ordered.values(), _MAX_SECONDS, FIRST_COMPLETED)
        for number in [each for each, answer in ordered.items() if answer in done or not done]:
            fragments: list[Fragment] = runners.answers({number: ordered.pop(number)}, 0.0)
            for fragment in fragments:
                assert fragment.explored is not None
                search.take_in(number, fragment.explored)
                yield fragment
