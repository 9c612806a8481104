"""The phases of mode `quest` before policy training: search and demonstrations."""

import time
from collections.abc import Callable
from dataclasses import replace

from rlaif.trainer.checks import WrongSettingsError
from rlaif.trainer.curriculum import library
from rlaif.trainer.learner.building import DemonstrationBuild
from rlaif.trainer.learner.quest_search import QuestSearch
from rlaif.trainer.learner.run_context import Requests, RunContext
from rlaif.trainer.run_folder.protocol import PhaseReport, SearchReport
from rlaif.trainer.run_folder.quest_record import (
    DEMONSTRATIONS_FOLDER,
    QuestRecord,
    SearchEnd,
    search_end,
)

_POLL_SECONDS = 0.2

REPORT_SECONDS = 5.0


def make_demonstrations(run: RunContext, stop_requested: Callable[[], bool]) -> int | None:
    """Create demonstrations and return their number; None if a stop was requested.

    Raises:
        WrongSettingsError: The search found no usable trajectory.
    """
    settings, directory = run.settings, run.directory
    build = DemonstrationBuild(
        settings, directory, count=settings.quest.lineages, processes=settings.ray_workers
    )
    try:
        is_over = False
        while not is_over:
            if stop_requested():
                return None
            time.sleep(_POLL_SECONDS)
            is_over = build.is_over  # polled before its last lines are read
            for line in build.lines():
                run.send(PhaseReport(phase="demonstrations", words=line))
        build.check()
    except library.DemonstrationsError as error:
        raise WrongSettingsError(
            f"the search found no usable trajectory: {error}. Start a new run that searches longer "
            "(TRAINER_QUEST_SEARCH_MINUTES)"
        ) from error
    finally:
        build.stop()
    identity = library.identity_of(settings.game)
    return len(library.read(directory / DEMONSTRATIONS_FOLDER, identity))


def prepare(
    run: RunContext,
    requests: Requests,
    open_search: Callable[[RunContext], QuestSearch] = QuestSearch,
    make: Callable[[RunContext, Callable[[], bool]], int | None] = make_demonstrations,
) -> RunContext | None:
    """Complete the phases before policy training.

    Returns the run for the training loop, with the demonstrations and the remaining time; None if
    a stop was requested, after everything is saved.

    Raises:
        QuestRecordError: `quest.json` is damaged.
    """
    record, settings = QuestRecord.read(run.directory), run.settings.quest
    if record.phase == "search":
        limit = min(settings.search_minutes, settings.minutes)
        _report_phase(run, record, f"{limit - record.search_seconds / 60:.3g} minutes at most")
        record = _search(run, record, requests, open_search(run))
    if record.phase == "demonstrations" and not requests.stop_asked():
        _report_phase(run, record, f"of {settings.lineages} trajectories of the search")
        began = time.monotonic()
        made = make(run, requests.stop_asked)
        record = record.model_copy(
            update={
                "demonstrations": made,
                "demonstrations_seconds": record.demonstrations_seconds + time.monotonic() - began,
            }
        )
        record.write(run.directory)
    if record.phase != "policy" or requests.stop_asked():
        return None
    seconds = record.policy_seconds(settings)
    _report_phase(run, record, f"{seconds / 60:.1f} minutes of training in total")
    path = run.settings.curriculum.path or run.directory / DEMONSTRATIONS_FOLDER
    changed = {
        "run_hours": seconds / 3600,
        "curriculum": run.settings.curriculum.model_copy(update={"path": path}),
    }
    return replace(run, settings=run.settings.model_copy(update=changed))


def _report_phase(run: RunContext, record: QuestRecord, words: str) -> None:
    run.send(PhaseReport(phase=record.phase, words=words))


def _search(
    run: RunContext, record: QuestRecord, requests: Requests, search: QuestSearch
) -> QuestRecord:
    reported = time.monotonic()
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
            if now - reported >= REPORT_SECONDS or over is not None:
                figures = search.figures().model_dump() | {"running": over is None}
                run.send(SearchReport(**figures, segments_captured=search.captured))
                if (segments := requests.granted()) is not None:
                    search.capture_quota = segments
                reported = now
        seconds = search.seconds
    finally:
        search.close()
    record = record.model_copy(update={"search_seconds": seconds, "search_over": over})
    record.write(run.directory)
    return record
