"""`python -m rlaif.reward_model.training_process PARENT`: one training, in a process of its own.

torch takes 150 MB, so the service does not import it. The process imports it while it waits for its
input, one pickled `Request` on standard input; it writes the pickled `Candidate` to standard output
and ends. Both ends are the same program on the same machine.
"""

import asyncio
import contextlib
import os
import pickle
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.learning.candidate import Candidate
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_net.pay import Potential
from rlaif.service.child_process import end_with, ending, own_output

_ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
"""More threads hardly help a small network and slow the emulators."""

_START_SECONDS = 120.0
_SECONDS_PER_STEP = 0.01
"""Time limit per label and pass; a training takes a hundredth of that."""


class TrainingFailedError(Exception):
    """The process ended without a candidate, or was killed because it took too long."""


@dataclass(frozen=True)
class Request:
    """The arguments of `train_candidate`."""

    labels: Sequence[LabelledSegment]
    settings: CandidateSettings
    champion: Potential | None


async def train_apart(request: Request, *, seconds: float | None = None) -> Candidate:
    """Train a candidate in a process that ends with this call.

    Args:
        request: What is trained.
        seconds: Time limit; by default a hundred times what it takes on one core.

    Raises:
        TrainingFailedError: It ended without a candidate, or took too long.
    """
    if seconds is None:
        steps = len(request.labels) * request.settings.fit.epochs
        seconds = _START_SECONDS + _SECONDS_PER_STEP * steps
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", __name__, str(os.getpid()),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        env=os.environ | _ONE_THREAD,
    )  # fmt: skip
    try:
        async with asyncio.timeout(seconds):
            packed = await asyncio.to_thread(pickle.dumps, request)
            answer, _ = await process.communicate(packed)
    except TimeoutError as error:
        raise TrainingFailedError(
            f"the training of {len(request.labels)} labels did not end within {seconds:.0f} s"
        ) from error
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    code = process.returncode or 0
    if code or not answer:
        memory = "; the memory may be full" if code == -signal.SIGKILL else ""
        raise TrainingFailedError(
            f"the process of the training ended ({ending(code)}){memory}; see the log"
        )
    candidate: Candidate = await asyncio.to_thread(pickle.loads, answer)
    return candidate


def main() -> int:
    """Train once; returns the exit code."""
    end_with(int(sys.argv[1]))
    output = own_output()
    # Only here, because it imports torch: this module is the service's, too.
    from rlaif.reward_model.learning.training import train_candidate

    request: Request = pickle.load(sys.stdin.buffer)
    candidate = train_candidate(
        request.labels, settings=request.settings, champion=request.champion
    )
    with output:
        pickle.dump(candidate, output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
