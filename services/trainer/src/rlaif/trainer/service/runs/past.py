"""A run's past: converts messages of the training process to events `run.*`.

    runs/{run_id}/past.json

The newest `RunIterated` covers an iteration at first, later at least a thousandth of the run, and
grows while NATS is unavailable. So a run of any length has some thousand events, and their sums are
complete. Unpublished events are on disk, with the newest reports of search, curriculum and world,
for a restarted service. An unreadable or unwritable file loses these, and never stops the run.
"""

import hashlib
import json
import logging
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field, PlainSerializer, PlainValidator, ValidationError

from rlaif.contracts.catalog import UnknownEventError, envelop, parse_event
from rlaif.contracts.events import (
    EventData,
    RunDescribed,
    RunEvaluated,
    RunIterated,
    RunLoaded,
    RunStarted,
)
from rlaif.contracts.game.names import seed_and_size
from rlaif.contracts.run_origin import RunDescription
from rlaif.contracts.run_points import RunPoint
from rlaif.files.whole import write_whole
from rlaif.service.settings import ServiceSettings
from rlaif.trainer.run_folder import disk, protocol
from rlaif.trainer.run_folder.provenance import provenance_of
from rlaif.trainer.run_folder.record import game_of
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.run import RaySettings

logger = logging.getLogger(__name__)

PIECES = 1000
"""A `RunIterated` covers at least 1 / `PIECES` of the run up to its end."""

_MAX_WAITING = 200
"""Maximum number of events that wait for NATS: starts and loads, as iterations are merged."""

_WRITE_PAUSE = timedelta(seconds=15)

_GAME, _SHAPING = "game", "shaping"

LEARNER_FIGURES = (
    "policy_loss", "vf_loss", "vf_explained_var", "mean_kl_loss", "clip_fraction",
    "gradients_default_optimizer_global_norm", "default_optimizer_learning_rate",
)  # fmt: skip
"""Figures that show whether PPO is stable; `metrics.jsonl` has all."""

_NOT_IN_RECIPE = frozenset(
    {
        *ServiceSettings.model_fields, "metrics_port", "data_dir", "autostart", "rom_path",
        "run_id", "seed", "checkpoint", "reward_model_path", "run_hours", "stop_seconds",
        "captures_per_minute", "judge_backlog", "eval_interval", "eval", "shaping", "capture",
        "metrics_to",
        *RaySettings.model_fields,
    }
)  # fmt: skip


_StoredEvent = Annotated[
    Any,
    PlainValidator(lambda given: parse_event(given.encode()).data),
    PlainSerializer(
        lambda event: envelop(
            event, source="rlaif/trainer", time=datetime.now(UTC)
        ).model_dump_json()
    ),
]


class _Past(BaseModel):
    """`past.json`."""

    attempt: int = 0
    step: int = 0
    open: RunPoint | None = None
    waiting: list[_StoredEvent] = Field(default_factory=list)
    search: protocol.SearchReport | None = None
    curriculum: protocol.CurriculumReport | None = None
    world: protocol.WorldReport | None = None


class RunPast:
    """Unpublished events and newest reports of one run; `directory` holds the run's files."""

    def __init__(self, run_id: str, directory: Path, settings: TrainerSettings) -> None:
        self.run_id = run_id
        self._path = directory / "past.json"
        self._settings = settings
        self.kept = self._read()
        self._due: datetime | None = None
        self._failing = False
        self._stored_empty = self.is_empty

    @property
    def is_empty(self) -> bool:
        """Whether all events were published."""
        return not self.kept.waiting and self.kept.open is None

    def note(self, message: protocol.Message, now: datetime, attempt: int) -> None:
        """Fold in a message of an attempt, received at `now`."""
        kept = self.kept
        match message:
            case protocol.Started():
                self._begin(message.env_steps, now, attempt)
            case protocol.IterationDone():
                piece = piece_of(message, now, since=kept.step)
                kept.attempt, kept.step = attempt, message.env_steps
                kept.open = piece if kept.open is None else kept.open.and_then(piece)
                self._write_if_due(now)
            case protocol.RewardModelLoaded():
                self._load(message.version, message.env_step, now, attempt)
            case protocol.RewardModelRefused() if message.rolled_back:
                self._load(message.counts, kept.step, now, attempt)
            case protocol.EvaluationDone():
                low, high = message.interval
                step = message.env_steps
                known = message.model_dump(include={"player", "episodes", "milestones"})
                where = {"run_id": self.run_id, "attempt": attempt, "env_step": step, "at": now}
                self._add(RunEvaluated(**where, **known, low=low, high=high))
                self._write(now)
            case protocol.SearchReport():
                kept.search = message
                self._write_if_due(now, at_once=not message.running)
            case protocol.CurriculumReport():
                kept.curriculum = message
                self._write_if_due(now)
            case protocol.WorldReport():
                kept.world = message
                self._write_if_due(now)
            case _:
                pass

    def next(self, *, ended: bool) -> EventData | None:
        """The event to publish now, or None. Call `published` afterwards.

        `ended`: whether the run has ended, so that its last iterations are published as they are.
        """
        kept = self.kept
        if not kept.waiting and kept.open is not None:
            length = kept.open.env_step - kept.open.since_step
            if ended or length * PIECES >= kept.open.env_step:
                self._close()
        return kept.waiting[0] if kept.waiting else None

    def published(self, event: EventData, now: datetime) -> None:
        if self.kept.waiting and self.kept.waiting[0] is event:
            self.kept.waiting.pop(0)
            # Publishing an event twice is harmless, so a file without events need not be current.
            self._write_if_due(now, at_once=self.is_empty and not self._stored_empty)

    def _begin(self, step: int, now: datetime, attempt: int) -> None:
        self._close()
        self.kept.attempt, self.kept.step = attempt, step
        self._add(
            RunStarted(
                run_id=self.run_id,
                attempt=attempt,
                env_step=step,
                at=now,
                judged=self._settings.shaping.weight > 0,
                recipe=recipe(self._settings),
                provenance=provenance_of(self._settings, game_of(self._settings)),
            )
        )
        self._write(now)

    def describe(self, description: RunDescription, now: datetime) -> None:
        self._add(RunDescribed(run_id=self.run_id, at=now, **description.model_dump()))
        self._write(now)

    def _load(self, version: int | None, step: int, now: datetime, attempt: int) -> None:
        self._close()  # iterations of different models are not merged
        self._add(
            RunLoaded(run_id=self.run_id, attempt=attempt, env_step=step, version=version, at=now)
        )
        self._write(now)

    def _close(self) -> None:
        piece, self.kept.open = self.kept.open, None
        if piece is not None:
            self._add(RunIterated(run_id=self.run_id, attempt=self.kept.attempt, **dict(piece)))

    def _add(self, event: EventData) -> None:
        self.kept.waiting = [*self.kept.waiting, event][-_MAX_WAITING:]

    def _read(self) -> _Past:
        kept = _parsed(self._path)
        if "search" not in kept.model_fields_set:
            old = _parsed(self._path.with_name("history.json"))  # of 0.1.0
            kept.search, kept.curriculum, kept.world = old.search, old.curriculum, old.world
        return kept

    def _write_if_due(self, now: datetime, *, at_once: bool = False) -> None:
        if at_once or self._due is None or now >= self._due:
            self._write(now)

    def _write(self, now: datetime) -> None:
        self._due = now + _WRITE_PAUSE
        try:
            write_whole(self._path, self.kept.model_dump_json().encode())
        except OSError as error:
            if not self._failing:
                logger.warning(
                    "%s cannot be written", self._path, extra={"reason": disk.why(error)}
                )
            self._failing = True
            return
        self._failing = False
        self._stored_empty = self.is_empty


def _parsed(path: Path) -> _Past:
    try:
        return _Past.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return _Past()
    except (OSError, ValidationError, UnknownEventError) as error:
        logger.warning("%s cannot be read; its content is lost", path, extra={"reason": str(error)})
        return _Past()


def piece_of(done: protocol.IterationDone, now: datetime, *, since: int) -> RunPoint:
    """One iteration as a part of the past; figures that are not finite are None."""
    # A part that is not finite is missing in the statistics, so the sum is unknown.
    known = done.reward_statistics.keys() >= {_GAME, _SHAPING}
    sums = [part.sum for part in done.reward_statistics.values()]
    return RunPoint(
        since_step=since,
        env_step=done.env_steps,
        at=now,
        iterations=1,
        episodes=done.ended,
        oldest_open=done.oldest_open,
        paid={name: paid for name, paid in done.reward_parts.items() if math.isfinite(paid)},
        learned_from=math.fsum(sums) if known else None,
        reward_model_version=done.reward_model_version,
        entropy=_finite(done.learner.get("entropy")),
        policy_lag=_finite(done.learner.get("policy_lag")),
        steps_per_second=_finite(done.steps_per_second),
        learner={
            name: float(f"{value:.4g}")
            for name, value in done.learner.items()
            if name in LEARNER_FIGURES and math.isfinite(value)
        },
        potential_mean=_finite(done.potential_mean),
    )


def recipe(settings: TrainerSettings) -> str:
    """A digest shared by runs that differ only in the seed and in the weight of reward models."""
    kept = settings.model_dump(mode="json", exclude=set(_NOT_IN_RECIPE))
    del kept["planner"]["api_key"]
    kept["rom"] = settings.rom_path.name if settings.rom_path else None
    if settings.rom_path and seed_and_size(settings.rom_path.parent.name):
        kept["rom"] = settings.rom_path.parent.name
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:16]


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
