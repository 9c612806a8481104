"""Search and demonstrations of a run of mode `quest`, as its phases call them."""

from collections.abc import Callable, Iterable, Sequence

from rlaif.contracts.telemetry.search import SearchFigures
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.trainer.checks import WrongSettingsError
from rlaif.trainer.curriculum.building import BuildSettings, Built, build
from rlaif.trainer.curriculum.library import DemonstrationsError
from rlaif.trainer.curriculum.recording import RecordSettings
from rlaif.trainer.curriculum.replaying import TrajectoryMismatchError
from rlaif.trainer.learner.hidden_main import main_module_hidden
from rlaif.trainer.learner.run_context import RunContext
from rlaif.trainer.learner.search_on_ray import RayWorkers
from rlaif.trainer.rewards.game.presets import preset
from rlaif.trainer.run_folder.protocol import PhaseReport
from rlaif.trainer.run_folder.quest_record import DEMONSTRATIONS_FOLDER, SEARCH_FOLDER
from rlaif.trainer.run_folder.search_report import Find, tree_of_progress
from rlaif.trainer.search.marks import level_of
from rlaif.trainer.search.opening import TREE, open_search
from rlaif.trainer.search.pool import Processes
from rlaif.trainer.search.search import Figures, FirstFound, SearchSettings
from rlaif.trainer.search.tree import Tree, TreeError, read_tree

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
        with main_module_hidden():
            self._search = open_search(
                folder,
                load_cartridge(settings.rom_path),
                SearchSettings(seed=settings.seed),
                workers=self._workers,
                start=Processes if settings.ray_is_own else RayWorkers,
            )
        self._turns = self._search.run()
        self._parents: dict[int, int | None] = {}
        self._levels: dict[int, float] = {}  # of discoveries; leaves may be deleted
        self._arrived = 0

    @property
    def seconds(self) -> float:
        return self._search.figures.seconds

    @property
    def seconds_since_new(self) -> float:
        figures = self._search.figures
        return figures.seconds - (_newest(figures) or 0.0)

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
            by_node = _by_node(now.marks)
            new = [node for node in by_node if node not in self._levels and node in tree]
            self._levels |= {node: level_of(tree.node(node).marks) for node in new}
            if any(each.mark.startswith(ESSENCE) for each in now.marks):
                self._arrived = arrivals(tree)
        known = [
            _find(firsts, self._levels[n]) for n, firsts in by_node.items() if n in self._levels
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
            found_seconds=_newest(now),
            tree=nodes,
            tree_left_out=left_out + len(by_node) - len(known),
        )

    def close(self) -> None:
        self._search.close()


def arrivals(tree: Tree) -> int:
    """Number of trajectories to an essence: nodes with one whose parents have none."""
    has: dict[int, bool] = {}
    found = 0
    for node in tree.nodes():
        has[node.id] = any(mark.startswith(ESSENCE) for mark in node.marks)
        parent_has = node.parent is not None and has.get(node.parent, False)
        found += has[node.id] and not parent_has
    return found


def _by_node(marks: Iterable[FirstFound]) -> dict[int, list[FirstFound]]:
    """New flags of each node, in the order of discovery."""
    by_node: dict[int, list[FirstFound]] = {}
    for each in sorted(marks, key=lambda first: first.node):
        by_node.setdefault(each.node, []).append(each)
    return by_node


def _find(firsts: Sequence[FirstFound], level: float) -> Find:
    one = firsts[0]
    return Find(one.node, one.frames, one.seconds, level, tuple(each.mark for each in firsts))


def _newest(figures: Figures) -> float | None:
    return max((each.seconds for each in figures.marks), default=None)


class _StopRequestedError(Exception):
    """Aborts the work; demonstrations are written completely or not at all."""


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

    try:
        with main_module_hidden():
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
                on_built=lambda built: say(_words(built)),
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


def _words(built: Built) -> str:
    return (
        f"a trajectory of {built.seconds / 60:.1f} minutes to level {built.level:g}, "
        f"{built.decisions} decisions, {built.segments} segments"
    )
