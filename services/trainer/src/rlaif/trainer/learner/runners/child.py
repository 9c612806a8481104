"""A runner in a child process, which exchanges pickled calls and results over a socket.

Started as `python -m rlaif.trainer.learner.runners.child FD PARENT`. It ends with its parent, even
during a call. Unpickling is safe: both ends are this program, and no other process has access to
the socket.
"""

import contextlib
import os
import pickle
import subprocess
import sys
import threading
import traceback
from collections import deque
from concurrent.futures import Future
from multiprocessing.connection import Connection
from queue import SimpleQueue
from socket import socketpair
from typing import Any

from rlaif.service.child_process import ONE_THREAD, end_with, ending
from rlaif.trainer.learner.runners.pool import Call, LostRunnerError, done
from rlaif.trainer.learner.runners.runner import EmulatorRunner, RunnerConfig
from rlaif.trainer.run_folder import disk

_STOP_SECONDS = 5.0


class ChildProcess:
    """A link to a runner in a child process."""

    def __init__(self, config: RunnerConfig, number: int) -> None:
        self._config, self._number = config, number
        self._start(life=0)

    def call(self, call: Call) -> "Future[Any]":
        answer: Future[Any] = Future()
        message = pickle.dumps(call, pickle.HIGHEST_PROTOCOL)
        with self._lock:
            if self._is_lost:
                answer.set_exception(self._loss())
                return answer
            self._waiting.append(answer)
        # If this fails, the reader will detect the end of the stream.
        with contextlib.suppress(OSError):
            self._pipe.send_bytes(message)
        return answer

    def restart(self) -> None:
        if not self._has_answered:
            raise self._loss()
        self.kill()
        # The last bit is set, as 0 is the first life.
        self._start(life=int.from_bytes(os.urandom(3)) | 1)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        self._pipe.close()  # not by the reader, as a call may be sending

    def stop(self) -> None:
        done([self.call(EmulatorRunner.stop)], _STOP_SECONDS)
        self.kill()

    def _loss(self) -> LostRunnerError:
        try:
            code = self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        how = ending(code)
        return LostRunnerError(f"runner {self._number} has ended, see training.log: {how}")

    def _start(self, life: int) -> None:
        own, other = socketpair()
        with other:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(other.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                env=os.environ | ONE_THREAD,
                pass_fds=(other.fileno(),),
            )
        self._pipe = Connection(own.detach())
        self._lock = threading.Lock()
        self._waiting: deque[Future[Any]] = deque()
        self._has_answered = self._is_lost = False
        self._reader = threading.Thread(
            target=self._read, name=f"runner-{self._number}", daemon=True
        )
        self._reader.start()
        with contextlib.suppress(OSError):
            self._pipe.send((self._config, self._number, life))

    def _read(self) -> None:
        with contextlib.suppress(EOFError, OSError):
            while True:
                result, error = self._pipe.recv()
                self._has_answered = True
                answer = self._waiting.popleft()
                if error is None:
                    answer.set_result(result)
                else:
                    answer.set_exception(error)
        with self._lock:
            self._is_lost = True
        for answer in self._waiting:
            answer.set_exception(self._loss())


def main(arguments: list[str]) -> None:
    """Build a runner and execute calls until the parent ends."""
    end_with(int(arguments[1]))
    sys.stdout, sys.stderr = disk.lossy_text(1), disk.lossy_text(2)
    pipe = Connection(int(arguments[0]))
    calls: SimpleQueue[bytes] = SimpleQueue()
    config, number, life = pipe.recv()
    threading.Thread(target=_receive, args=(pipe, calls), name="calls", daemon=True).start()
    runner: EmulatorRunner | None = None
    while True:
        call: Call = pickle.loads(calls.get())
        result, failure = None, None
        try:
            runner = runner or config.build(number, life)
            result = call(runner)
        except Exception as error:
            traceback.print_exc()
            failure = _as_sent(error)
        pipe.send((result, failure))


def _receive(pipe: Connection, calls: "SimpleQueue[bytes]") -> None:
    with contextlib.suppress(EOFError, OSError):
        while True:
            calls.put(pipe.recv_bytes())
    os._exit(1)


def _as_sent(error: Exception) -> Exception:
    """Return the error, or a RuntimeError with its text if it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


if __name__ == "__main__":
    main(sys.argv[1:])
