"""The pool of a run's runners: sends calls, collects results and replaces lost runners.

A runner executes calls one at a time, in order. Weights that are sent after a request to play are
therefore used from the next request on.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, wait
from typing import Any, Protocol

from rlaif.trainer.learner.runners.runner import EmulatorRunner, RunnerConfig

Call = Callable[[EmulatorRunner], Any]
"""Function that a runner executes; pickled unless the runner is in this process."""

ALONE = 0
"""Number of a runner in this process, which is the only one; others are numbered from 1."""

RESTART_SECONDS = 30.0
"""Time that an iteration waits for replacements if no runner is healthy."""

_PAUSE_SECONDS = 0.2


class LostRunnerError(Exception):
    """A runner ended before it returned a result."""


class Link(Protocol):
    """A connection to a runner."""

    def call(self, call: Call) -> "Future[Any]":
        """Queue a call; returns its result, its exception, or `LostRunnerError`."""
        ...

    def restart(self) -> None:
        """Restart a lost runner; raises `LostRunnerError` if its last start failed."""
        ...

    def kill(self) -> None: ...

    def stop(self) -> None:
        """End the runner after the calls so far."""
        ...


class InProcess:
    """A runner in this process, which executes calls immediately."""

    def __init__(self, config: RunnerConfig) -> None:
        self.runner = config.build(ALONE)

    def call(self, call: Call) -> "Future[Any]":
        answer: Future[Any] = Future()
        try:
            answer.set_result(call(self.runner))
        except Exception as error:
            answer.set_exception(error)
        return answer

    def restart(self) -> None:
        raise LostRunnerError("a runner in this process is never lost")

    def kill(self) -> None: ...

    def stop(self) -> None:
        self.runner.stop()


class RunnerPool:
    """Numbered runners, of which some may be lost."""

    def __init__(self, links: dict[int, Link]) -> None:
        """Create a pool of runners that may still be starting (`wait_until_ready`)."""
        self._links = links
        self._starting = {n: link.call(ready) for n, link in links.items()}
        self._healthy: set[int] = set()

    @property
    def size(self) -> int:
        return len(self._links)

    @property
    def local(self) -> EmulatorRunner | None:
        """The runner in this process, if it is the only one."""
        alone = self._links.get(ALONE)
        return alone.runner if isinstance(alone, InProcess) else None

    @property
    def numbers(self) -> list[int]:
        return sorted(self._links)

    @property
    def healthy(self) -> list[int]:
        return sorted(self._healthy)

    def wait_until_ready(self) -> None:
        """Wait for all runners; raises the error of a runner whose start failed."""
        for number, answer in self._starting.items():
            answer.result()
            self._healthy.add(number)
        self._starting.clear()

    def order(self, call: Call) -> dict[int, "Future[Any]"]:
        """Queue a call on all healthy runners."""
        return self.order_of(dict.fromkeys(self.healthy, call))

    def order_of(self, calls: Mapping[int, Call]) -> dict[int, "Future[Any]"]:
        """Queue one call on each of the given runners."""
        return {number: self._links[number].call(call) for number, call in calls.items()}

    def answers(self, ordered: dict[int, "Future[Any]"], seconds: float | None = None) -> list[Any]:
        """Wait for results and return them by runner number, without those of lost runners.

        A runner that does not return in time is lost, too. Raises the exception of a call.
        """
        wait(ordered.values(), seconds)
        found = []
        for number, answer in sorted(ordered.items()):
            if not answer.done():
                self._links[number].kill()
                self._healthy.discard(number)
                continue
            try:
                found.append(answer.result())
            except LostRunnerError:
                self._healthy.discard(number)
        return found

    def ask(self, call: Call, seconds: float | None = None) -> list[Any]:
        return self.answers(self.order(call), seconds)

    def restore(self, greeting: Callable[[], Call], seconds: float = RESTART_SECONDS) -> list[int]:
        """Restart lost runners, send `greeting()` to those that are ready, and return these.

        Waits only if no runner is healthy, because a lost machine may be absent for hours.
        """
        deadline = time.monotonic() + seconds
        while True:
            for number in self._links.keys() - self._healthy - self._starting.keys():
                self._links[number].restart()
                self._starting[number] = self._links[number].call(ready)
            waits = not self._healthy
            wait(self._starting.values(), seconds if waits else 0.0, "FIRST_COMPLETED")
            back = self._started()
            for number in back:
                self._links[number].call(greeting())
            if back or not waits or time.monotonic() > deadline:
                return back
            time.sleep(_PAUSE_SECONDS)

    def _started(self) -> list[int]:
        """Return the runners that have started successfully since the last call."""
        back = []
        for number, answer in list(self._starting.items()):
            if answer.done():
                del self._starting[number]
                if isinstance(answer.exception(), LostRunnerError):
                    continue
                answer.result()
                back.append(number)
        self._healthy.update(back)
        return back

    def stop(self) -> None:
        for link in self._links.values():
            link.stop()


def done(answers: Iterable["Future[Any]"], seconds: float) -> bool:
    """Wait for at most `seconds`; returns whether all results are available."""
    return not wait(answers, seconds).not_done


def ready(runner: EmulatorRunner) -> None:
    """Do nothing; as a call, it returns when the runner has been built."""
