"""The search of a run of mode `quest`: `rlaif.trainer.search` as its phases want it."""

from collections.abc import Iterable, Sequence

from rlaif.contracts.search_figures import SearchFigures
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.trainer.learner.hidden_main import main_module_hidden
from rlaif.trainer.learner.run_context import RunContext
from rlaif.trainer.learner.search_on_ray import RayWorkers
from rlaif.trainer.run_folder.quest_record import SEARCH_FOLDER
from rlaif.trainer.run_folder.telling import Find, tree_of_progress
from rlaif.trainer.search.figures import Figures, FirstFound
from rlaif.trainer.search.marks import level_of
from rlaif.trainer.search.opening import TREE, open_search
from rlaif.trainer.search.pool import Processes
from rlaif.trainer.search.search import SearchSettings
from rlaif.trainer.search.tree import Tree, read_tree

ESSENCE = "essence:"
"""How the marks of essences begin."""


class QuestSearch:
    """The search in a run's folder: goes on by turns, and tells how far it is."""

    def __init__(self, run: RunContext) -> None:
        """Begin it, or go on with what an earlier attempt found.

        Raises:
            TreeError: The folder holds a search of another game or emulator.
        """
        settings = run.settings
        folder = run.directory / SEARCH_FOLDER
        self._workers = settings.ray.workers
        self._minutes = min(settings.quest.search_minutes, settings.quest.minutes)
        self._path = folder / TREE
        with main_module_hidden():
            self._search = open_search(
                folder,
                load_cartridge(settings.game.rom_path),
                SearchSettings(seed=settings.run.seed),
                workers=self._workers,
                start=Processes if settings.ray.is_own else RayWorkers,
            )
        self._turns = self._search.run()
        self._parents: dict[int, int | None] = {}
        self._levels: dict[int, float] = {}  # of finds; a node of which nothing came may be dropped
        self._arrived = 0

    @property
    def seconds(self) -> float:
        """It searched, over all attempts."""
        return self._search.figures.seconds

    @property
    def seconds_since_new(self) -> float:
        """Of these, since it last found a lasting mark that it had never seen."""
        figures = self._search.figures
        return figures.seconds - (_newest(figures) or 0.0)

    @property
    def with_essence(self) -> int:
        """Ways to an essence, as `figures` counted them last."""
        return self._arrived

    def go_on(self) -> None:
        """Search until a worker reports."""
        next(self._turns)

    def figures(self) -> SearchFigures:
        """Where it stands. What was found in the last seconds may not be in its tree yet."""
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
        told, left_out = tree_of_progress(known, self._parents)
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
            tree=told,
            tree_left_out=left_out + len(by_node) - len(known),
        )

    def close(self) -> None:
        """Write what is known; end its workers."""
        self._search.close()


def arrivals(tree: Tree) -> int:
    """Nodes of a tree that have an essence and came out of one that has not: ways to an essence."""
    has: dict[int, bool] = {}
    found = 0
    for node in tree.nodes():
        has[node.id] = any(mark.startswith(ESSENCE) for mark in node.marks)
        came_out_of = node.parent is not None and has.get(node.parent, False)
        found += has[node.id] and not came_out_of
    return found


def _by_node(marks: Iterable[FirstFound]) -> dict[int, list[FirstFound]]:
    """What each node was the first to have, in the order in which they were found."""
    by_node: dict[int, list[FirstFound]] = {}
    for each in sorted(marks, key=lambda first: first.node):
        by_node.setdefault(each.node, []).append(each)
    return by_node


def _find(firsts: Sequence[FirstFound], level: float) -> Find:
    one = firsts[0]
    return Find(one.node, one.frames, one.seconds, level, tuple(each.mark for each in firsts))


def _newest(figures: Figures) -> float | None:
    return max((each.seconds for each in figures.marks), default=None)
