"""The search of a run of mode `quest`."""

import logging

from rlaif.contracts.telemetry.search import SearchFigures
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.trainer.learner.exploration import explore, open_explorers
from rlaif.trainer.learner.run_context import RunContext
from rlaif.trainer.learner.start import files_of
from rlaif.trainer.planning.state_rater import open_rater
from rlaif.trainer.run_folder.quest_record import SEARCH_FOLDER
from rlaif.trainer.run_folder.search_report import discovery, tree_of_progress
from rlaif.trainer.run_folder.spool import Spool
from rlaif.trainer.search.draws import RATED, DrawSettings
from rlaif.trainer.search.marks import level_of
from rlaif.trainer.search.opening import TREE, open_search
from rlaif.trainer.search.search import FirstFound, SearchSettings
from rlaif.trainer.search.tree import Tree, read_tree

logger = logging.getLogger(__name__)

ESSENCE = "essence:"
"""Prefix of the flags of essences."""


class QuestSearch:
    """The search in a run's folder; `advance` processes one fragment.

    Attributes:
        capture_quota: Segments that may be captured.
        captured: Segments captured in this attempt.
    """

    capture_quota = captured = 0

    def __init__(self, run: RunContext) -> None:
        """Start or resume the search.

        Raises:
            TreeError: The folder contains a search of another game or emulator.
        """
        self._run, settings = run, run.settings
        folder = run.directory / SEARCH_FOLDER
        self._spool = Spool(run.directory / "spool", settings.capture.spool_captures)
        self._spool.prepare()
        cartridge = load_cartridge(settings.rom_path)
        self._files = files_of(run)
        files = "" if self._files is None else self._files.name
        self._runners = open_explorers(settings, run.environments(), files)
        self._runners.wait_until_ready()  # starting emulators does not count as search time
        self._rater = open_rater(settings.planner, cartridge)
        draws = RATED if self._rater else DrawSettings()
        self._search = open_search(
            folder, cartridge, SearchSettings(settings.seed, draws=draws), rater=self._rater
        )
        self._turns = explore(
            self._search,
            self._runners,
            environments=settings.envs_per_worker,
            capture_quota=lambda: self.capture_quota,
        )
        self._parents: dict[int, int | None] = {}
        self._levels: dict[int, float] = {}  # of discoveries, as leaves may be deleted
        self._arrived = 0

    @property
    def seconds(self) -> float:
        """Duration of the search over all attempts, in seconds."""
        return self._search.figures.seconds

    @property
    def seconds_since_new(self) -> float:
        """Seconds since the search last found a new permanent flag."""
        figures = self._search.figures
        return figures.seconds - max((each.seconds for each in figures.marks), default=0.0)

    @property
    def with_essence(self) -> int:
        return self._arrived

    def advance(self) -> None:
        captures = next(self._turns).captures
        self.captured += len(captures)
        self.capture_quota = max(0, self.capture_quota - len(captures))
        for each in captures:
            if (reason := self._spool.offer(each)) is not None:
                logger.warning("capture dropped: %s", reason)

    def figures(self) -> SearchFigures:
        """Return the progress; discoveries of the last seconds may be missing from the tree."""
        now, quest = self._search.figures, self._run.settings.quest
        with read_tree(self._run.directory / SEARCH_FOLDER / TREE) as tree:
            self._parents |= tree.parents(max(self._parents, default=-1))
            by_node: dict[int, list[FirstFound]] = {}
            for each in sorted(now.marks, key=lambda first: first.node):
                by_node.setdefault(each.node, []).append(each)
            new = [node for node in by_node if node not in self._levels and node in tree]
            self._levels |= {node: level_of(tree.node(node).marks) for node in new}
            if any(each.mark.startswith(ESSENCE) for each in now.marks):
                self._arrived = arrivals(tree)
        known = [
            discovery(
                node,
                frames=found[0].frames,
                seconds=found[0].seconds,
                level=self._levels[node],
                marks=[each.mark for each in found],
            )
            for node, found in by_node.items()
            if node in self._levels
        ]
        nodes, left_out = tree_of_progress(known, self._parents)
        return SearchFigures(
            running=True,
            frames=now.frames,
            seconds=now.seconds,
            seconds_left=max(0.0, min(quest.search_minutes, quest.minutes) * 60 - now.seconds),
            workers=len(self._runners.healthy),
            nodes=now.nodes,
            level=now.level,
            marks=len(now.marks),
            found_seconds=max((each.seconds for each in now.marks), default=None),
            tree=nodes,
            tree_left_out=left_out + len(by_node) - len(known),
        )

    def close(self) -> None:
        self._search.close()
        self._runners.stop()
        if self._rater is not None:
            self._rater.close()


def arrivals(tree: Tree) -> int:
    """Number of trajectories to an essence: nodes with an essence whose parents have none."""
    has: dict[int, bool] = {}
    found = 0
    for node in tree.nodes():
        has[node.id] = any(mark.startswith(ESSENCE) for mark in node.marks)
        parent_has = node.parent is not None and has.get(node.parent, False)
        found += has[node.id] and not parent_has
    return found
