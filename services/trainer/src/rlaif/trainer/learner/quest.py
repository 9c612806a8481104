"""Search and demonstrations of a run of mode `quest`."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from rlaif.contracts.telemetry.search import SearchFigures
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.trainer.checks import WrongSettingsError
from rlaif.trainer.curriculum.building import BuildSettings, Built, build
from rlaif.trainer.curriculum.library import DemonstrationsError
from rlaif.trainer.curriculum.recording import RecordSettings
from rlaif.trainer.curriculum.replaying import TrajectoryMismatchError
from rlaif.trainer.learner.run_context import Requests, RunContext
from rlaif.trainer.rewards.game.presets import preset
from rlaif.trainer.run_folder.protocol import PhaseReport, SearchReport
from rlaif.trainer.run_folder.quest_curve import QuestCurve
from rlaif.trainer.run_folder.quest_record import (
    DEMONSTRATIONS_FOLDER,
    SEARCH_FOLDER,
    QuestRecord,
    SearchEnd,
    search_end,
)
from rlaif.trainer.run_folder.search_report import Find, tree_of_progress
from rlaif.trainer.search.marks import level_of
from rlaif.trainer.search.opening import TREE, open_search
from rlaif.trainer.search.pool import Processes, WorkerPool
from rlaif.trainer.search.search import FirstFound, SearchSettings
from rlaif.trainer.search.tree import Tree, TreeError, read_tree
from rlaif.trainer.settings import TrainerSettings

ESSENCE = "essence:"
"""Prefix of the flags of essences."""


class QuestSearch:
    """The search in a run's folder, in turns."""

    def __init__(self, run: RunContext) -> None:
        """Start or resume it.

        Raises:
            TreeError: The folder contains a search of another game or emulator.
        """
        settings = run.settings
        folder = run.directory / SEARCH_FOLDER
        self._workers = settings.ray_workers
        self._minutes = min(settings.quest.search_minutes, settings.quest.minutes)
        self._path = folder / TREE
        with _main_module_hidden():
            self._search = open_search(
                folder,
                load_cartridge(settings.rom_path),
                SearchSettings(seed=settings.seed),
                workers=self._workers,
                start=_workers_of(settings),
            )
        self._turns = self._search.run()
        self._parents: dict[int, int | None] = {}
        self._levels: dict[int, float] = {}  # of discoveries; leaves may be deleted
        self._arrived = 0

    @property
    def seconds(self) -> float:
        """Duration over all attempts."""
        return self._search.figures.seconds

    @property
    def seconds_since_new(self) -> float:
        """Duration since it last found a new permanent flag."""
        figures = self._search.figures
        return figures.seconds - max((each.seconds for each in figures.marks), default=0.0)

    @property
    def with_essence(self) -> int:
        return self._arrived

    def advance(self) -> None:
        next(self._turns)

    def figures(self) -> SearchFigures:
        """Its progress; discoveries of the last seconds may be missing in its tree."""
        now = self._search.figures
        with read_tree(self._path) as tree:
            self._parents |= tree.parents(max(self._parents, default=-1))
            by_node: dict[int, list[FirstFound]] = {}
            for each in sorted(now.marks, key=lambda first: first.node):
                by_node.setdefault(each.node, []).append(each)
            new = [node for node in by_node if node not in self._levels and node in tree]
            self._levels |= {node: level_of(tree.node(node).marks) for node in new}
            if any(each.mark.startswith(ESSENCE) for each in now.marks):
                self._arrived = arrivals(tree)
        known = [
            Find(
                node,
                found[0].frames,
                found[0].seconds,
                self._levels[node],
                tuple(each.mark for each in found),
            )
            for node, found in by_node.items()
            if node in self._levels
        ]
        nodes, left_out = tree_of_progress(known, self._parents)
        return SearchFigures(
            running=True,
            frames=now.frames,
            seconds=now.seconds,
            seconds_left=max(0.0, self._minutes * 60 - now.seconds),
            workers=self._workers,
            nodes=now.nodes,
            level=now.level,
            marks=len(now.marks),
            found_seconds=max((each.seconds for each in now.marks), default=None),
            tree=nodes,
            tree_left_out=left_out + len(by_node) - len(known),
        )

    def close(self) -> None:
        self._search.close()


def _workers_of(settings: TrainerSettings) -> Callable[..., WorkerPool]:
    if not settings.joins_cluster:
        return Processes
    from rlaif.trainer.learner.runners.cluster import RayWorkers  # Ray is for clusters alone

    return RayWorkers


def arrivals(tree: Tree) -> int:
    """Number of trajectories to an essence: nodes with one whose parents have none."""
    has: dict[int, bool] = {}
    found = 0
    for node in tree.nodes():
        has[node.id] = any(mark.startswith(ESSENCE) for mark in node.marks)
        parent_has = node.parent is not None and has.get(node.parent, False)
        found += has[node.id] and not parent_has
    return found


class _StopRequestedError(Exception):
    """Aborts the creation of demonstrations, which are written completely or not at all."""


def make_demonstrations(run: RunContext, stop_requested: Callable[[], bool]) -> int | None:
    """Create demonstrations and return their number; None when a stop was requested.

    Raises:
        WrongSettingsError: The search found no usable trajectory.
    """
    settings = run.settings

    def say(words: str) -> None:
        run.send(PhaseReport(phase="demonstrations", words=words))
        if stop_requested():
            raise _StopRequestedError

    def on_built(built: Built) -> None:
        say(
            f"a trajectory of {built.seconds / 60:.1f} minutes to level {built.level:g}, "
            f"{built.decisions} decisions, {built.segments} segments"
        )

    try:
        with _main_module_hidden():
            made = build(
                [run.directory / SEARCH_FOLDER / TREE],
                run.directory / DEMONSTRATIONS_FOLDER,
                load_cartridge(settings.rom_path),
                settings.actions,
                BuildSettings(
                    RecordSettings(preset(settings.game.reward_preset)),
                    count=settings.quest.lineages,
                    seed=settings.seed,
                    processes=settings.ray_workers,
                ),
                on_built=on_built,
                progress=say,
            )
    except _StopRequestedError:
        return None
    except (TreeError, TrajectoryMismatchError, DemonstrationsError) as error:
        raise WrongSettingsError(
            f"the search found no usable trajectory: {error}. Start a new run that searches longer "
            "(TRAINER_QUEST_SEARCH_MINUTES)"
        ) from error
    return len(made)


@contextlib.contextmanager
def _main_module_hidden() -> Iterator[None]:
    """Spawn processes that do not import our main module.

    `multiprocessing` has each import it again: 5 s and 300 MB per worker for torch and Ray, which a
    worker that only plays does not need.
    """
    main = sys.modules["__main__"]
    spec, file = main.__spec__, main.__dict__.pop("__file__", None)
    main.__spec__ = None
    try:
        yield
    finally:
        main.__spec__ = spec
        if file is not None:
            main.__file__ = file


REPORT_SECONDS = 5.0


def prepare(
    run: RunContext,
    requests: Requests,
    open_search: Callable[[RunContext], QuestSearch] = QuestSearch,
    make: Callable[[RunContext, Callable[[], bool]], int | None] = make_demonstrations,
) -> RunContext | None:
    """Complete the phases before the policy.

    Returns the run for the training loop, with the demonstrations and the remaining time; None when
    a stop was requested, with everything saved.

    Raises:
        QuestRecordError: `quest.json` is damaged.
    """
    run = replace(run, send=QuestCurve(run.directory, run.send).send)
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
    _report_phase(run, record, f"{seconds / 60:.1f} minutes of training in all")
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
                figures = search.figures().model_copy(update={"running": over is None})
                run.send(SearchReport.model_validate(figures.model_dump()))
                reported = now
        seconds = search.seconds
    finally:
        search.close()
    record = record.model_copy(update={"search_seconds": seconds, "search_over": over})
    record.write(run.directory)
    return record
