"""A run's past, on its way to those who look back: messages go in, events come out.

runs/{run_id}/past.json

The newest piece grows until it is told: each iteration at first, later a thousandth of the run, or
as long as NATS takes nothing. So a run of any length is some thousand events, and none of its sums
is lost. What waits is on disk, for a service that is stopped. It is for people only: a file that
cannot be read or written costs what waited, never the run.
"""

import hashlib
import json
import logging
import math
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from rlaif.contracts.catalog import UnknownEventError, envelop, parse_event
from rlaif.contracts.events import EventData, RunIterated, RunLoaded, RunStarted
from rlaif.contracts.run_points import RunPoint
from rlaif.files.whole import write_whole
from rlaif.trainer.run_folder import disk
from rlaif.trainer.run_folder.protocol import (
    IterationDone,
    Message,
    RewardModelLoaded,
    RewardModelRefused,
    Started,
)
from rlaif.trainer.settings import TrainerSettings

log = logging.getLogger(__name__)

PIECES = 1000
"""A piece is a whole iteration, and at least one part in so many of the run until then."""

_MOST_WAITING = 200
"""Events that wait for NATS; starts and loads only, as a piece grows meanwhile."""

_WRITE_PAUSE = timedelta(seconds=15)

_GAME, _SHAPING = "game", "shaping"

_NO_PART_OF_A_RECIPE = {
    "run": {"id", "seed", "checkpoint", "reward_model_path", "run_hours", "stop_seconds"},
    "planner": {"api_key"},
    "game": {"rom_path"},
}


class RunPast:
    """What of one run is still to be told; `directory` holds the run's files."""

    def __init__(self, run_id: str, directory: Path, settings: TrainerSettings) -> None:
        self._run_id = run_id
        self._path = directory / "past.json"
        self._judged = may_be_judged(settings)
        self._recipe = recipe(settings)
        self._written = self._read()
        self._due: datetime | None = None
        self._failing = False
        self._stored_empty = self.is_empty

    @property
    def is_empty(self) -> bool:
        """Whether all was told."""
        return not self._written.waiting and self._written.open is None

    def note(self, message: Message, now: datetime, attempt: int) -> None:
        """Fold one message of the training process of an attempt, received at `now`."""
        written = self._written
        match message:
            case Started():
                self._begin(message.env_steps, now, attempt)
            case IterationDone():
                piece = piece_of(message, now, since=written.step)
                written.attempt, written.step = attempt, message.env_steps
                written.open = piece if written.open is None else written.open.and_then(piece)
                self._write_if_due(now)
            case RewardModelLoaded():
                self._load(message.version, message.env_step, now, attempt)
            case RewardModelRefused() if message.rolled_back:
                self._load(message.counts, written.step, now, attempt)
            case _:
                pass

    def next(self, *, ended: bool) -> EventData | None:
        """The event to publish now; None while there is none. `told` it afterwards.

        `ended`: the run does not go on, so that its last piece is as long as it gets.
        """
        written = self._written
        if not written.waiting and written.open is not None:
            long = written.open.env_step - written.open.since_step
            if ended or long * PIECES >= written.open.env_step:
                self._close()
        return written.waiting[0] if written.waiting else None

    def told(self, event: EventData, now: datetime) -> None:
        """It was published, or nobody can: the next one."""
        if self._written.waiting and self._written.waiting[0] is event:
            self._written.waiting.pop(0)
            # What is told again does no harm, so a file without anything in it need not be new.
            self._write_if_due(now, at_once=self.is_empty and not self._stored_empty)

    def _begin(self, step: int, now: datetime, attempt: int) -> None:
        written = self._written
        self._close()
        written.attempt, written.step = attempt, step
        self._add(
            RunStarted(
                run_id=self._run_id,
                attempt=attempt,
                env_step=step,
                at=now,
                judged=self._judged,
                recipe=self._recipe,
            )
        )
        self._write(now)

    def _load(self, version: int | None, step: int, now: datetime, attempt: int) -> None:
        self._close()  # a piece is paid by one model
        self._add(
            RunLoaded(run_id=self._run_id, attempt=attempt, env_step=step, version=version, at=now)
        )
        self._write(now)

    def _close(self) -> None:
        piece, self._written.open = self._written.open, None
        if piece is not None:
            self._add(
                RunIterated(run_id=self._run_id, attempt=self._written.attempt, **dict(piece))
            )

    def _add(self, event: EventData) -> None:
        self._written.waiting = [*self._written.waiting, event][-_MOST_WAITING:]

    def _read(self) -> "_Written":
        try:
            return _Written.of(_Stored.model_validate_json(self._path.read_bytes()))
        except FileNotFoundError:
            return _Written()
        except (OSError, ValidationError, UnknownEventError) as error:
            log.warning("what was to be told of the run is lost", extra={"reason": str(error)})
            return _Written()

    def _write_if_due(self, now: datetime, *, at_once: bool = False) -> None:
        if at_once or self._due is None or now >= self._due:
            self._write(now)

    def _write(self, now: datetime) -> None:
        self._due = now + _WRITE_PAUSE
        try:
            write_whole(self._path, self._written.stored(now).model_dump_json().encode())
        except OSError as error:
            if not self._failing:
                log.warning("the run's past is not written", extra={"reason": disk.why(error)})
            self._failing = True
            return
        self._failing = False
        self._stored_empty = self.is_empty


class _Stored(BaseModel):
    """`past.json`."""

    attempt: int = 0
    step: int = 0
    open: RunPoint | None = None
    waiting: list[str] = Field(default_factory=list, description="Events, as they would be sent.")


class _Written:
    """The same in memory."""

    def __init__(self) -> None:
        self.attempt = 0
        self.step = 0
        self.open: RunPoint | None = None
        self.waiting: list[EventData] = []

    @classmethod
    def of(cls, stored: _Stored) -> "_Written":
        made = cls()
        made.attempt, made.step, made.open = stored.attempt, stored.step, stored.open
        made.waiting = [parse_event(text.encode()).data for text in stored.waiting]
        return made

    def stored(self, now: datetime) -> _Stored:
        waiting = [
            envelop(event, source="rlaif/trainer", time=now).model_dump_json()
            for event in self.waiting
        ]
        return _Stored(attempt=self.attempt, step=self.step, open=self.open, waiting=waiting)


def piece_of(done: IterationDone, now: datetime, *, since: int) -> RunPoint:
    """One iteration as a piece of the past; figures that are no numbers are not known."""
    # A part that is no number is left out of the statistics, and then nobody knows the sum.
    told = done.reward_statistics.keys() >= {_GAME, _SHAPING}
    sums = [part.sum for part in done.reward_statistics.values()]
    return RunPoint(
        since_step=since,
        env_step=done.env_steps,
        at=now,
        iterations=1,
        episodes=done.ended,
        oldest_open=done.oldest_open,
        paid={name: paid for name, paid in done.reward_parts.items() if math.isfinite(paid)},
        learned_from=math.fsum(sums) if told else None,
        reward_model_version=done.reward_model_version,
        entropy=_finite(done.learner.get("entropy")),
        policy_lag=_finite(done.learner.get("policy_lag")),
        steps_per_second=_finite(done.steps_per_second),
    )


def may_be_judged(settings: TrainerSettings) -> bool:
    """Whether a reward model pays anything in a run of these settings."""
    return settings.shaping.weight > 0


def recipe(settings: TrainerSettings) -> str:
    """A digest that runs share which differ in nothing but the seed and what reward models pay."""
    blocks = (
        "game", "run", "sampling", "ppo", "network", "curiosity", "imitation", "explore",
        "curriculum", "guidance", "takeover", "planner", "quest",
    )  # fmt: skip
    kept: dict[str, Any] = {
        name: getattr(settings, name).model_dump(
            mode="json", exclude=_NO_PART_OF_A_RECIPE.get(name, set())
        )
        for name in blocks
    }
    kept["rom"] = settings.game.rom_path.name if settings.game.rom_path else None
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:16]


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
