"""How a durable worker treats its events."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True)
class WorkerSettings:
    """How one worker treats its events.

    Attributes:
        concurrency: Handlers at a time.
        ack_wait: An event without heartbeat for this long goes to another worker. The worker sets
            it on its consumer; give all workers of one consumer the same.
        heartbeat: Pause between heartbeats; at most a third of `ack_wait` is used.
        deadline: A handler that runs longer is cancelled and its event tried again.
        max_attempts: Tries of an event whose handler raises `Suspect` or fails unexpectedly, over
            all workers and restarts; `Retry` does not count.
        retry_base: Wait after the first failure; it doubles with each further one.
        retry_cap: Longest such wait.
        stop_timeout: How long `stop` lets running handlers finish.
        fetch_timeout: One wait for an event; an idle worker notices `stop` after at most this.
    """

    concurrency: int = 1
    ack_wait: timedelta = timedelta(seconds=30)
    heartbeat: timedelta = timedelta(seconds=10)
    deadline: timedelta = timedelta(minutes=10)
    max_attempts: int = 5
    retry_base: timedelta = timedelta(seconds=1)
    retry_cap: timedelta = timedelta(seconds=60)
    stop_timeout: timedelta = timedelta(seconds=8)
    fetch_timeout: timedelta = timedelta(seconds=1)
