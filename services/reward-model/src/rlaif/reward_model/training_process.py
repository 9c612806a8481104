"""`python -m rlaif.reward_model.training_process PARENT`: runs trainings in a separate process.

torch takes 150 MB, so the service does not import it. The process waits for the next training and
ends after a minute without one: importing torch costs as much CPU time as a small training.
Requests and candidates are pickled: both ends are the same program on the same machine, and
external data was validated before.
"""

import asyncio
import pickle
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.learning.candidate import Candidate
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_net.pay import Potential
from rlaif.service.child_process import (
    ChildProcess,
    answer,
    end_with,
    ending,
    next_request,
    own_output,
)

IDLE_SECONDS = 60.0
_START_SECONDS = 120.0
_SECONDS_PER_STEP = 0.01
"""Time limit per label and pass, a hundred times the duration on one core."""

_ALARM_GRACE_SECONDS = 5.0


class TrainingFailedError(Exception):
    """The process ended without a candidate, or was killed because it took too long."""


@dataclass(frozen=True)
class Request:
    """The arguments of `train_candidate`."""

    labels: Sequence[LabelledSegment]
    settings: CandidateSettings
    champion: Potential | None

    @property
    def seconds(self) -> float:
        """Time limit of the training, with the start of a process."""
        return _START_SECONDS + _SECONDS_PER_STEP * len(self.labels) * self.settings.fit.epochs


class TrainingProcess:
    """Trains one candidate at a time in a process that is started on demand."""

    def __init__(self, *, idle_seconds: float = IDLE_SECONDS) -> None:
        """End the process after `idle_seconds` without a training."""
        self._idle_seconds = idle_seconds
        self._process: ChildProcess | None = None
        self._ending: asyncio.Task[None] | None = None

    async def train(self, request: Request, *, seconds: float | None = None) -> Candidate:
        """Train a candidate, within the request's time limit or the given one.

        Raises:
            TrainingFailedError: The process ended without a candidate, or took too long.
        """
        process = await self._take()
        limit = request.seconds if seconds is None else seconds
        try:
            packed = await asyncio.to_thread(pickle.dumps, request)
            found = await process.ask(packed, seconds=limit)
        except TimeoutError as error:
            await process.kill()
            raise TrainingFailedError(
                f"the training of {len(request.labels)} labels did not end within {limit:.0f} s"
            ) from error
        except (EOFError, OSError) as error:
            code = await process.ended()
            memory = "; the memory may be full" if code == -signal.SIGKILL else ""
            raise TrainingFailedError(
                f"the process of the training ended ({ending(code)}){memory}; see the log"
            ) from error
        except BaseException:
            await process.kill()
            raise
        self._process = process
        self._ending = asyncio.create_task(self._end_when_idle(process))
        candidate: Candidate = await asyncio.to_thread(pickle.loads, found)
        return candidate

    async def close(self) -> None:
        """End the process, if it is idle."""
        self._keep()
        process, self._process = self._process, None
        if process is not None:
            await process.end()

    async def _take(self) -> ChildProcess:
        self._keep()
        process, self._process = self._process, None
        if process is not None:
            if process.alive:
                return process
            await process.kill()
        try:
            return await ChildProcess.start(__name__)
        except OSError as error:
            raise TrainingFailedError(f"no process could be started: {error}") from error

    def _keep(self) -> None:
        if self._ending is not None:
            self._ending.cancel()
            self._ending = None

    async def _end_when_idle(self, process: ChildProcess) -> None:
        await asyncio.sleep(self._idle_seconds)
        self._process = None
        await asyncio.shield(process.end())


def main() -> int:
    """Train on each request until the input ends; returns the exit code."""
    end_with(int(sys.argv[1]))
    output = own_output()
    # Imported here because it imports torch, and the service imports this module.
    from rlaif.reward_model.learning.training import train_candidate

    while (packed := next_request(sys.stdin.buffer)) is not None:
        request: Request = pickle.loads(packed)
        del packed  # tens of MB during the training
        # For the case that the service, which kills a late training, is gone.
        signal.setitimer(signal.ITIMER_REAL, request.seconds + _ALARM_GRACE_SECONDS)
        candidate = train_candidate(
            request.labels, settings=request.settings, champion=request.champion
        )
        signal.setitimer(signal.ITIMER_REAL, 0)
        answer(output, pickle.dumps(candidate))
    return 0


if __name__ == "__main__":
    sys.exit(main())
