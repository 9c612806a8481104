"""Runners as actors of a Ray cluster."""

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import ray
from ray.exceptions import RayTaskError

from rlaif.trainer.learner.runners.pool import Call, LostRunnerError, done
from rlaif.trainer.learner.runners.runner import EmulatorRunner, RunnerConfig

_STOP_SECONDS = 60.0


@contextmanager
def joined(address: str | None) -> Iterator[None]:
    """Join a running cluster for the duration of the context."""
    ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    try:
        yield
    finally:
        ray.shutdown()


class RunnerActor:
    """The actor of a runner; Ray restarts lost actors."""

    def __init__(self, config: RunnerConfig, number: int) -> None:
        self._config, self._number = config, number
        self._runner: EmulatorRunner | None = None

    def execute(self, call: Call) -> Any:
        self._runner = self._runner or self._config.build(self._number, _life())
        return call(self._runner)


def _life() -> int:
    """Return 0 in an actor's first process, a unique number in a replacement."""
    context = ray.get_runtime_context()
    if not context.was_current_actor_reconstructed:
        return 0
    # Six digits keep ids short; the last bit is set, as 0 is used.
    return int(context.get_worker_id()[:6], 16) | 1


class ActorLink:
    """A link to a runner on a cluster that this process has joined."""

    def __init__(self, config: RunnerConfig, number: int) -> None:
        actor = ray.remote(num_cpus=1, max_restarts=-1)(RunnerActor)
        self.actor = actor.remote(config, number)

    def call(self, call: Call) -> "Future[Any]":
        answer: Future[Any] = Future()

        def pass_on(found: "Future[Any]") -> None:
            error = found.exception()
            if error is None:
                answer.set_result(found.result())
            elif isinstance(error, RayTaskError):
                answer.set_exception(error.cause)
            else:
                answer.set_exception(LostRunnerError(str(error)))

        self.actor.execute.remote(call).future().add_done_callback(pass_on)
        return answer

    def restart(self) -> None:
        """Do nothing: Ray restarts the actor as soon as a node has capacity."""

    def kill(self) -> None:
        ray.kill(self.actor, no_restart=False)

    def stop(self) -> None:
        done([self.call(EmulatorRunner.stop)], _STOP_SECONDS)
        ray.kill(self.actor)
