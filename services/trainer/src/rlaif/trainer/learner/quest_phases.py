"""Phases of a run of mode `quest` before it trains: search and demonstrations.

    search ──▶ demonstrations ──▶ policy (the loop of `process.py`, with the demonstrations)

Each phase saves its progress and is resumed from there.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from rlaif.contracts.telemetry.search import SearchFigures
from rlaif.trainer.learner.commands import Requests
from rlaif.trainer.learner.run_context import RunContext
from rlaif.trainer.run_folder.protocol import PhaseReport, SearchReport
from rlaif.trainer.run_folder.quest_curve import QuestCurve
from rlaif.trainer.run_folder.quest_record import (
    DEMONSTRATIONS_FOLDER,
    QuestRecord,
    SearchEnd,
    search_end,
)

REPORT_SECONDS = 5.0


class Search(Protocol):
    """A search, over all attempts."""

    @property
    def seconds(self) -> float:
        """Duration so far."""

    @property
    def seconds_since_new(self) -> float:
        """Duration since it last found a new permanent flag."""

    @property
    def with_essence(self) -> int:
        """Number of trajectories that end with an essence."""

    def advance(self) -> None:
        """Search for some seconds."""

    def figures(self) -> SearchFigures:
        """Its progress."""

    def close(self) -> None:
        """Write to disk and end its processes."""


OpenSearch = Callable[[RunContext], Search]
MakeDemonstrations = Callable[[RunContext, Callable[[], bool]], int | None]
"""Creates the missing demonstrations of a run and returns their number; None when a stop was
requested, as its second argument reports."""


def prepare(
    run: RunContext,
    requests: Requests,
    open_search: OpenSearch,
    make_demonstrations: MakeDemonstrations,
) -> RunContext | None:
    """Complete the phases before the policy.

    Returns the run for the training loop, with the demonstrations and the remaining time; None when
    a stop was requested, with everything saved.

    Raises:
        QuestRecordError: `quest.json` is damaged.
    """
    run = replace(run, send=QuestCurve(run.directory, run.send).send)
    record = QuestRecord.read(run.directory)
    if record.phase == "search":
        most = min(run.settings.quest.search_minutes, run.settings.quest.minutes)
        _report_phase(run, record, f"{most - record.search_seconds / 60:.3g} minutes at most")
        record = _search(run, record, requests, open_search(run))
    if record.phase == "demonstrations" and not requests.stop_asked():
        _report_phase(run, record, f"of {run.settings.quest.lineages} trajectories of the search")
        record = _demonstrate(run, record, requests, make_demonstrations)
    if record.phase != "policy" or requests.stop_asked():
        return None
    seconds = record.policy_seconds(run.settings.quest)
    _report_phase(run, record, f"{seconds / 60:.1f} minutes of training in all")
    return for_the_policy(run, record)


def _report_phase(run: RunContext, record: QuestRecord, words: str) -> None:
    run.send(PhaseReport(phase=record.phase, words=words))


def for_the_policy(run: RunContext, record: QuestRecord) -> RunContext:
    """The run with the settings that follow from the earlier phases."""
    settings = run.settings
    hours = record.policy_seconds(settings.quest) / 3600
    path = settings.curriculum.path or run.directory / DEMONSTRATIONS_FOLDER
    changed = {
        "run_hours": hours,
        "curriculum": settings.curriculum.model_copy(update={"path": path}),
    }
    return replace(run, settings=settings.model_copy(update=changed))


def _search(
    run: RunContext, record: QuestRecord, requests: Requests, search: Search
) -> QuestRecord:
    """Search to the end or until a stop is requested; returns the record on disk."""
    told = time.monotonic()
    try:
        over: SearchEnd | None = None
        while over is None and not requests.stop_asked():
            search.advance()
            over = search_end(
                run.settings.quest,
                seconds=search.seconds,
                seconds_since_new=search.seconds_since_new,
                with_essence=search.with_essence,
            )
            now = time.monotonic()
            if now - told >= REPORT_SECONDS or over is not None:
                run.send(_report(search, over is None))
                told = now
        seconds = search.seconds
    finally:
        search.close()
    record = record.model_copy(update={"search_seconds": seconds, "search_over": over})
    record.write(run.directory)
    return record


def _report(search: Search, running: bool) -> SearchReport:
    figures = search.figures().model_copy(update={"running": running})
    return SearchReport.model_validate(figures.model_dump())


def _demonstrate(
    run: RunContext, record: QuestRecord, requests: Requests, make: MakeDemonstrations
) -> QuestRecord:
    began = time.monotonic()
    made = make(run, requests.stop_asked)
    seconds = record.demonstrations_seconds + time.monotonic() - began
    record = record.model_copy(update={"demonstrations": made, "demonstrations_seconds": seconds})
    record.write(run.directory)
    return record
