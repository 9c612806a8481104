"""Exploration of one environment runner: counts places, archives states, selects starts."""

import contextlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.stories.milestones import Story
from rlaif.game.stories.story_lookup import story_of
from rlaif.trainer.play.exploration.archive import StateArchive
from rlaif.trainer.play.exploration.archive_client import ArchiveClient
from rlaif.trainer.play.exploration.archive_server import ArchiveServerPort
from rlaif.trainer.play.exploration.choice import CellCounts, seen_in
from rlaif.trainer.play.exploration.coverage import RunCoverage
from rlaif.trainer.play.exploration.exploration_folder import ExplorationFolder
from rlaif.trainer.play.exploration.other_runners import sum_of_others
from rlaif.trainer.play.exploration.practice import Practice
from rlaif.trainer.play.exploration.starts import ArchiveStarts
from rlaif.trainer.play.exploration.state_saver import StateSaver
from rlaif.trainer.play.exploration.states import ArchiveIdentity, ArchiveRecord
from rlaif.trainer.play.exploration.visited import VisitedPlaces
from rlaif.trainer.play.followers.episode_follower import WatchedGame
from rlaif.trainer.play.start import Start, StartSource
from rlaif.trainer.rewards.game.facts import GameFacts, Progress
from rlaif.trainer.run_folder import disk
from rlaif.trainer.settings.game import ExploreSettings


@dataclass(frozen=True)
class ExploreConfig:
    """Exploration parameters of one run, which are sent to the runners.

    Attributes:
        directory: Directory of the run, which contains `exploration/`.
        settings: Without restarts and practice, no states are kept.
        save_every: Minimum steps of a runner between two saves, except for milestones; it bounds
            how fast the archive grows.
        sync_every: Fragments between two exchanges with the other runners.
        archive_server: Name of its Ray actor; empty where `directory` is shared.
    """

    directory: Path
    settings: ExploreSettings = field(default_factory=ExploreSettings)
    save_every: int = 16_000
    sync_every: int = 10
    archive_server: str = ""


class Explorer:
    """Follows the environments of one runner.

    There is no archive if no episode starts at a state, or if the disk had no space for one when
    this process started.
    """

    def __init__(
        self,
        config: ExploreConfig,
        *,
        runner: int,
        identity: ArchiveIdentity,
        story: Story,
        archive_server: ArchiveServerPort | None = None,
    ) -> None:
        """Resume with the contents of the run's directory.

        Data of another game, emulator or frame skip stays there unused. An unreadable archive
        raises an `ArchiveError`.

        With an `archive_server`, the directory belongs to this runner alone and is initially empty;
        the data of the run comes from the server. If it does not answer, this is an OSError.
        """
        self._config = config
        self._runner = runner
        self.frame_skip = identity.frame_skip
        self._fragments = 0
        folder = ExplorationFolder.of(config.directory, identity)
        self._link = (
            None
            if archive_server is None
            else ArchiveClient(archive_server, folder, identity, runner)
        )
        self.visited = VisitedPlaces(folder.coverage(runner), runner)
        self.counts = CellCounts()
        self._counts_file = folder.cells(runner)
        self.counts.load(self._counts_file)
        self.practice = Practice(share=config.settings.practice)
        self.archive: StateArchive | None = None
        self.saver: StateSaver | None = None
        self._unsynced: str | None = None
        if config.settings.keeps_states:
            try:
                self.archive = StateArchive(
                    folder.archive, identity, self.counts, max_states=config.settings.states
                )
            except OSError as error:
                self._unsynced = disk.why(error)
        if self._link is not None:
            self._exchanged(whole=True)  # the initial state, which counts as known
        if self.archive is not None:
            self.saver = StateSaver(
                self.archive,
                self.counts,
                story,
                practice=self.practice,
                save_every=config.save_every,
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
        archive_server: ArchiveServerPort | None = None,
    ) -> "Explorer":
        """Create the explorer of a game that runs on `emulator`; see the constructor."""
        identity = ArchiveIdentity(
            game=cartridge.identity, emulator=emulator.identity, frame_skip=frame_skip
        )
        story = story_of(cartridge.game, cartridge.data)
        return cls(
            config, runner=runner, identity=identity, story=story, archive_server=archive_server
        )

    @property
    def coverage(self) -> RunCoverage:
        """Coverage of this runner's environments."""
        return self.visited.own

    def environment(self, n: int, game: WatchedGame) -> "ExplorationFollower":
        """Return the follower of environment `n` of this runner, which plays `game`."""
        return ExplorationFollower(self, n, game)

    def starts(self, given: StartSource) -> StartSource:
        """Return a source that mixes archived states into the starts of the game."""
        if self.archive is None:
            return given
        return ArchiveStarts(
            given,
            archive=self.archive,
            counts=self.counts,
            practice=self.practice,
            restarts=self._config.settings.restarts,
        )

    def state_dict(self) -> dict[str, Any]:
        """Write the files, and return the state that they do not contain."""
        self.sync(whole=True)
        return {
            "fragments": self._fragments,
            "counts": self.counts.state_dict(),
            "known": [] if self.saver is None else sorted(self.saver.known),
            "practice": self.practice.state_dict(),
            "since_save": None if self.saver is None else self.saver.since_save,
            "played_from": [] if self.saver is None else self.saver.played_from,
        }

    def load_state_dict(self, state: dict[str, Any], *, played_from: Collection[str] = ()) -> None:
        """Restore; states in `played_from`, from which episodes run, are kept."""
        self._fragments = state["fragments"]
        self.counts.load_state_dict(state["counts"])
        if "practice" in state:  # missing in older checkpoints
            self.practice.load_state_dict(state["practice"])
        if self.saver is not None:
            # 0.1.0 stored them under "swarm".
            self.saver.known |= set(state["known"] if "known" in state else state["swarm"]["known"])
            if state["since_save"] is not None:
                self.saver.since_save = state["since_save"]
        if self.archive is not None and self._runner <= 1:
            self.archive.collect(played_from)
            if self._link is not None:
                with contextlib.suppress(OSError):  # the next resume deletes the rest
                    self._link.collect(played_from)

    def end_fragment(self) -> None:
        """Exchange data with the other runners every `sync_every` fragments.

        A new state for runners on other machines is sent immediately, because they receive it only
        with their own next exchange.
        """
        self._fragments += 1
        if self._fragments % self._config.sync_every == 0 or self._has_unsent:
            self.sync()

    @property
    def _has_unsent(self) -> bool:
        if self._link is None or self.archive is None:
            return False
        return self._link.has_unsent(self.archive)

    @property
    def trouble(self) -> str | None:
        """Why the disk rejects data; None if it does not."""
        return self._unsynced or (self.saver.trouble if self.saver is not None else None)

    def sync(self, *, whole: bool = False) -> None:
        """Write this runner's counts, and read counts and states of the others.

        With `whole`, all states are exchanged. If the disk is full or the archive server does not
        answer, play continues without the exchange, and `trouble` contains the reason.
        """
        for record in self._exchanged(whole=whole):
            if self.saver is not None:
                self.saver.known.update(record.milestones)

    def _exchanged(self, *, whole: bool) -> Sequence[ArchiveRecord]:
        try:
            new = self._exchange(whole=whole)
        except OSError as error:
            self._unsynced = disk.why(error)
            return ()
        self._unsynced = None
        return new

    def _exchange(self, *, whole: bool) -> Sequence[ArchiveRecord]:
        """Return the records of states that others have archived since."""
        self.visited.save()
        if self.archive is not None:
            self.counts.save(self._counts_file)
        if self._link is not None:
            return self._link.exchange(self.visited, self.counts, self.archive, whole=whole)
        self.visited.read_others()
        if self.archive is None:
            return ()
        self.counts.elsewhere = sum_of_others(self._counts_file, seen_in)
        return self.archive.refresh()


class ExplorationFollower:
    """Exploration of one environment: an `EpisodeFollower`."""

    def __init__(self, explorer: Explorer, n: int, game: WatchedGame) -> None:
        self._explorer = explorer
        self._game = game
        self._practice = explorer.practice
        self._n = n
        self._visited = explorer.visited
        self._saver = explorer.saver
        self._name = explorer.visited.name(n)
        self._square = -1
        self._progress: Progress | None = None
        self._facts: GameFacts | None = None

    def starts(self, given: StartSource) -> StartSource:
        return self._explorer.starts(given)

    def episodes(self, square: int) -> int:
        return self._visited.episodes(square)

    def begin_episode(
        self,
        emulator: Emulator,
        facts: GameFacts,
        start: Start,
        warm_up: Sequence[tuple[int, int]],
    ) -> None:
        """Start an episode, and end the one before it, if any."""
        self._visited.end_episode(self._n)
        self._square, self._progress = -1, None
        if self._saver is not None:
            self._saver.begin_episode(self._name, emulator, facts, start, warm_up)
        max_steps = self._practice.max_steps(self._name)
        if max_steps is not None:
            self._game.cut_after(max_steps * self._explorer.frame_skip)
        self._visit(emulator, facts, force=False)

    def after_step(self, emulator: Emulator, facts: GameFacts, action: int, wait: int) -> None:
        """Process a decision step; takes about 1 µs, or about 1 ms if a state is archived."""
        force = self._saver is not None and self._saver.note(self._name, action, wait)
        if force or facts is not self._facts:
            self._facts = facts
            self._visit(emulator, facts, force=force)

    def state_dict(self, facts: GameFacts) -> dict[str, Any]:
        """The state of the running episode."""
        return {
            "square": self._square,
            "progress_is_known": self._progress is facts.progress,
            "open": self._visited.open(self._n),
            "keeper": None if self._saver is None else self._saver.state_dict(self._name, facts),
        }

    def load_state_dict(self, state: dict[str, Any], facts: GameFacts) -> None:
        self._square = state["square"]
        self._progress = facts.progress if state["progress_is_known"] else None
        self._visited.reopen(self._n, state["open"])
        if self._saver is not None and state["keeper"] is not None:
            self._saver.load_state_dict(self._name, state["keeper"], facts)

    def _visit(self, emulator: Emulator, facts: GameFacts, *, force: bool) -> None:
        if not facts.settled:
            return
        square = facts.square_index
        if square != self._square:
            self._square = square
            self._visited.enter(self._n, square)
        elif facts.progress is self._progress and not force:
            return
        self._progress = facts.progress
        if self._saver is None:
            return
        was_attempting = self._practice.is_attempting(self._name)
        self._saver.visit(self._name, emulator, facts)
        if was_attempting and not self._practice.is_attempting(self._name):
            self._game.cut_after(self._game.frames)
