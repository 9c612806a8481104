"""What a run went through, kept beside its record: messages go in, the page's reading comes out.

runs/{run_id}/history.json

It is for people only: a file that cannot be read or written costs what is shown, never the run.
"""

import logging
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from rlaif.contracts.telemetry import ModelLoad, RunHistory
from rlaif.files.whole import write_whole
from rlaif.trainer.run_folder import disk
from rlaif.trainer.run_folder.protocol import (
    CurriculumTold,
    IterationDone,
    Message,
    RewardModelLoaded,
    RewardModelRefused,
    SearchTold,
    Started,
    WorldTold,
)

log = logging.getLogger(__name__)

MOST_LOADS = 100

_WRITE_PAUSE = timedelta(seconds=15)
"""Between two writes of what is told again and again; a load is written at once."""


class _Written(BaseModel):
    """`history.json`."""

    loads: list[ModelLoad] = Field(default_factory=list)
    search: SearchTold | None = None
    curriculum: CurriculumTold | None = None
    world: WorldTold | None = None


class HistoryLog:
    """The history of one run; `directory` holds the run's files."""

    def __init__(self, run_id: str, directory: Path) -> None:
        self._run_id = run_id
        self._path = directory / "history.json"
        self._written = self._read()
        self._step = 0
        self._due: datetime | None = None
        self._failing = False

    def note(self, message: Message, now: datetime) -> None:
        """Fold one message of the training process, received at `now`."""
        match message:
            case Started():
                # A run that resumes from a checkpoint has not lived what came after it.
                kept = [load for load in self._written.loads if load.env_step <= message.env_steps]
                is_cut = kept != self._written.loads
                self._written.loads = kept
                self._step = message.env_steps
                if is_cut:
                    self._write(now)
            case IterationDone():
                self._step = message.env_steps
            case RewardModelLoaded():
                self._note_load(message.version, message.env_step, now)
            case RewardModelRefused() if message.rolled_back and message.counts is not None:
                self._note_load(message.counts, self._step, now)
            case SearchTold():
                self._written.search = message
                self._write_if_due(now, at_once=not message.running)
            case CurriculumTold():
                self._written.curriculum = message
                self._write_if_due(now)
            case WorldTold():
                self._written.world = message
                self._write_if_due(now)
            case _:
                pass

    @property
    def search(self) -> SearchTold | None:
        """What the search told last; it tells no more once it is over."""
        return self._written.search

    @property
    def curriculum(self) -> CurriculumTold | None:
        """What the curriculum told last."""
        return self._written.curriculum

    @property
    def world(self) -> WorldTold | None:
        """What was told of the game's world last."""
        return self._written.world

    def reading(self, now: datetime) -> RunHistory:
        """The history as telemetry."""
        return RunHistory(
            at=now,
            run_id=self._run_id,
            loads=tuple(self._written.loads),
        )

    def _write_if_due(self, now: datetime, *, at_once: bool = False) -> None:
        if at_once or self._due is None or now >= self._due:
            self._write(now)

    def _note_load(self, version: int, step: int, now: datetime) -> None:
        load = ModelLoad(version=version, env_step=step, at=now)
        self._written.loads = [*self._written.loads, load][-MOST_LOADS:]
        self._write(now)

    def _read(self) -> _Written:
        try:
            return _Written.model_validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return _Written()
        except (OSError, ValidationError) as error:
            log.warning("the run's history begins anew", extra={"reason": str(error)})
            return _Written()

    def _write(self, now: datetime) -> None:
        self._due = now + _WRITE_PAUSE
        try:
            write_whole(self._path, self._written.model_dump_json().encode())
        except OSError as error:
            if not self._failing:
                log.warning("the run's history is not written", extra={"reason": disk.why(error)})
            self._failing = True
            return
        self._failing = False
