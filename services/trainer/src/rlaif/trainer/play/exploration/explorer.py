"""Exploration of one environment runner: counts places, keeps states, says where to start."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.stories.milestones import Story
from rlaif.game.stories.story_lookup import story_of
from rlaif.trainer.play.exploration.archive import StateArchive
from rlaif.trainer.play.exploration.choice import CellCounts
from rlaif.trainer.play.exploration.coverage import RunCoverage
from rlaif.trainer.play.exploration.starts import ArchiveStarts
from rlaif.trainer.play.exploration.state_saver import StateSaver
from rlaif.trainer.play.exploration.states import ArchiveIdentity
from rlaif.trainer.play.exploration.swarm import Swarm
from rlaif.trainer.play.exploration.visited import VisitedPlaces
from rlaif.trainer.play.start import Start, StartSource
from rlaif.trainer.rewards.game.facts import GameFacts, Progress
from rlaif.trainer.run_folder import disk
from rlaif.trainer.run_folder.exploration_file import EXPLORATION_DIR
from rlaif.trainer.settings.exploration import ExploreSettings

COVERAGE_DIR, ARCHIVE_DIR, CELLS_DIR = "coverage", "archive", "cells"
"""In that one."""


@dataclass(frozen=True)
class ExploreConfig:
    """The exploration of one run; travels to the runner processes.

    Attributes:
        directory: Of the run; `exploration/` is made in it.
        settings: With no restarts and no swarm, no states are kept.
        save_every: Decision steps of a runner between two states, milestones excepted. A save
            costs about 36 ms and 16,000 steps about 4 s, so that saving costs 1 %.
        sync_every: Fragments between two exchanges with the other runners, through files.
    """

    directory: Path
    settings: ExploreSettings = field(default_factory=ExploreSettings)
    save_every: int = 16_000
    sync_every: int = 10


class Explorer:
    """Follows the environments of one runner.

    There is no archive when no episode ever starts at a state, or when the disk had no room for one
    when this process began.
    """

    def __init__(
        self, config: ExploreConfig, *, runner: int, identity: ArchiveIdentity, story: Story
    ) -> None:
        """Resume with what is in the run's directory.

        What was found with another game, emulator or frame skip stays there and is not used. An
        unreadable archive is an `ArchiveError`.
        """
        self._config = config
        self._runner = runner
        self._fragments = 0
        home = config.directory / EXPLORATION_DIR / identity.folder
        self.visited = VisitedPlaces(home / COVERAGE_DIR, runner)
        self.counts = CellCounts()
        self._counts_file = home / CELLS_DIR / f"runner-{runner}.json"
        self.counts.load(self._counts_file)
        self.swarm = Swarm(share=config.settings.swarm)
        self.archive: StateArchive | None = None
        self.saver: StateSaver | None = None
        self._unsynced: str | None = None
        if config.settings.restarts > 0 or config.settings.swarm > 0:
            try:
                self.archive = StateArchive(
                    home / ARCHIVE_DIR, identity, self.counts, max_states=config.settings.states
                )
            except OSError as error:
                self._unsynced = disk.why(error)
        if self.archive is not None:
            self.saver = StateSaver(
                self.archive, self.counts, self.swarm, story, save_every=config.save_every
            )

    @classmethod
    def of_game(
        cls,
        config: ExploreConfig,
        *,
        runner: int,
        cartridge: Cartridge,
        emulator: Emulator,
        frame_skip: int,
    ) -> "Explorer":
        """The explorer of a game that plays on `emulator`; see the constructor."""
        identity = ArchiveIdentity(
            game=cartridge.identity, emulator=emulator.identity, frame_skip=frame_skip
        )
        return cls(config, runner=runner, identity=identity, story=story_of(cartridge.game))

    @property
    def coverage(self) -> RunCoverage:
        """Of this runner's environments."""
        return self.visited.own

    def environment(self, n: int) -> "ExplorationFollower":
        """What follows environment `n` of this runner."""
        return ExplorationFollower(self, n)

    def starts(self, given: StartSource) -> StartSource:
        """The starts of the game, with archived states among them."""
        if self.archive is None:
            return given
        return ArchiveStarts(
            given,
            archive=self.archive,
            counts=self.counts,
            swarm=self.swarm,
            restarts=self._config.settings.restarts,
        )

    def state_dict(self) -> dict[str, Any]:
        """What is not in its files, as plain values; writes the files."""
        self.sync()
        return {
            "fragments": self._fragments,
            "counts": self.counts.state_dict(),
            "swarm": self.swarm.state_dict(),
            "since_save": None if self.saver is None else self.saver.since_save,
            "played_from": [] if self.saver is None else self.saver.played_from,
        }

    def load_state_dict(self, state: dict[str, Any], *, played_from: Collection[str] = ()) -> None:
        """Resume with what `state_dict` gave; states that some runner plays from are kept."""
        self._fragments = state["fragments"]
        self.counts.load_state_dict(state["counts"])
        self.swarm.load_state_dict(state["swarm"])
        if self.saver is not None and state["since_save"] is not None:
            self.saver.since_save = state["since_save"]
        if self.archive is not None and self._runner <= 1:
            self.archive.collect(played_from)

    def end_fragment(self) -> None:
        """Now and then exchange what is known with the other runners."""
        self._fragments += 1
        if self._fragments % self._config.sync_every == 0:
            self.sync()

    @property
    def trouble(self) -> str | None:
        """Why the disk does not take what is found; None while it does."""
        return self._unsynced or (self.saver.trouble if self.saver is not None else None)

    def sync(self) -> None:
        """Write this runner's counts, read the others' and their states.

        A disk that takes nothing costs what the files would have told the others and the next
        process; the play goes on, and `trouble` says why.
        """
        try:
            self._exchange()
        except OSError as error:
            self._unsynced = disk.why(error)
        else:
            self._unsynced = None

    def _exchange(self) -> None:
        self.visited.sync()
        if self.archive is not None:
            self.counts.sync(self._counts_file)
            for record in self.archive.refresh():
                self.swarm.reached(record.milestones)


class ExplorationFollower:
    """One environment as the explorer of its runner follows it: an `EpisodeFollower`."""

    def __init__(self, explorer: Explorer, n: int) -> None:
        self._explorer = explorer
        self._n = n
        self._visited = explorer.visited
        self._saver = explorer.saver
        self._name = explorer.visited.name(n)
        self._square = -1
        self._progress: Progress | None = None
        self._facts: GameFacts | None = None

    def starts(self, given: StartSource) -> StartSource:
        """See `Explorer.starts`."""
        return self._explorer.starts(given)

    def episodes(self, square: int) -> int:
        """See `VisitedPlaces.episodes`."""
        return self._visited.episodes(square)

    def begin_episode(
        self,
        emulator: Emulator,
        facts: GameFacts,
        start: Start,
        warm_up: Sequence[tuple[int, int]],
    ) -> None:
        """An episode starts; the one before it, if any, is over."""
        self._visited.end_episode(self._n)
        self._square, self._progress = -1, None
        if self._saver is not None:
            self._saver.begin_episode(self._name, emulator, facts, start, warm_up)
        self._visit(emulator, facts, in_any_case=False)

    def after_step(self, emulator: Emulator, facts: GameFacts, action: int, wait: int) -> None:
        """A decision step was played; about 1 µs, 36 ms when a state is kept."""
        in_any_case = self._saver is not None and self._saver.note(self._name, action, wait)
        if in_any_case or facts is not self._facts:
            self._facts = facts
            self._visit(emulator, facts, in_any_case=in_any_case)

    def state_dict(self, facts: GameFacts) -> dict[str, Any]:
        """What is remembered of the running episode, as plain values."""
        return {
            "square": self._square,
            "progress_is_known": self._progress is facts.progress,
            "open": self._visited.open(self._n),
            "keeper": None if self._saver is None else self._saver.state_dict(self._name, facts),
        }

    def load_state_dict(self, state: dict[str, Any], facts: GameFacts) -> None:
        """Resume in the middle of the episode that `state_dict` gave."""
        self._square = state["square"]
        self._progress = facts.progress if state["progress_is_known"] else None
        self._visited.reopen(self._n, state["open"])
        if self._saver is not None and state["keeper"] is not None:
            self._saver.load_state_dict(self._name, state["keeper"], facts)

    def _visit(self, emulator: Emulator, facts: GameFacts, *, in_any_case: bool) -> None:
        if not facts.settled:
            return
        square = facts.square_index
        if square != self._square:
            self._square = square
            self._visited.enter(self._n, square)
        elif facts.progress is self._progress and not in_any_case:
            return
        self._progress = facts.progress
        if self._saver is not None:
            self._saver.visit(self._name, emulator, facts)
