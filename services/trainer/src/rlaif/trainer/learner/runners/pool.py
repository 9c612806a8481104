"""The runners of a run: calls out, answers in, and replacements of lost runners.

A runner executes one call after the other, in the order of the calls. So weights that are sent
after a request to play count from the next request on.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, wait
from typing import Any, Protocol

from rlaif.trainer.learner.runners.runner import EmulatorRunner, RunnerConfig

Call = Callable[[EmulatorRunner], Any]
"""What a runner executes; pickled unless the runner is in this process."""

ALONE = 0
"""Number of the only runner if it is in this process; others count from 1."""

RESTART_SECONDS = 30.0
"""How long an iteration waits for replacements while no runner plays."""

_PAUSE_SECONDS = 0.2


class LostRunnerError(Exception):
    """A runner ended before it answered."""


class Link(Protocol):
    """A connection to a runner."""

    def call(self, call: Call) -> "Future[Any]":
        """Queue a call; its answer, what it raised, or `LostRunnerError`."""
        ...

    def restart(self) -> None:
        """Start a lost runner again; LostRunnerError if that has failed before."""
        ...

    def kill(self) -> None: ...

    def stop(self) -> None:
        """End the runner after the calls so far."""
        ...


class InProcess:
    """A runner in this process, which executes a call at once."""

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
        """Take over runners that may still be starting; `wait_until_ready` waits for them."""
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
        """Wait for all runners; raises what one raised in its start."""
        for number, answer in self._starting.items():
            answer.result()
            self._healthy.add(number)
        self._starting.clear()

    def order(self, call: Call) -> dict[int, "Future[Any]"]:
        """Queue a call on all healthy runners."""
        return self.order_of(dict.fromkeys(self.healthy, call))

    def order_of(self, calls: Mapping[int, Call]) -> dict[int, "Future[Any]"]:
        """Queue one call on each of some runners."""
        return {number: self._links[number].call(call) for number, call in calls.items()}

    def answers(self, ordered: dict[int, "Future[Any]"], seconds: float | None = None) -> list[Any]:
        """Wait for answers, in the order of the runners; lost runners give none.

        A runner that does not answer in time is lost, too. Raises what a call raised.
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
        """Restart lost runners and return those that are back, which are sent `greeting()`.

        Waits only if no runner plays: the machine of a lost one may be away for hours.
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
        """The runners whose start has ended well since the last call."""
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
    """Wait at most `seconds`; whether all answers are there."""
    return not wait(answers, seconds).not_done


def ready(runner: EmulatorRunner) -> None:
    """The runner has been built."""
