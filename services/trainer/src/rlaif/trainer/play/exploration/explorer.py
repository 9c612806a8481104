"""Exploration of one environment runner: counts places, keeps states, says where to start."""

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
from rlaif.trainer.play.exploration.choice import CellCounts, seen_in
from rlaif.trainer.play.exploration.coverage import RunCoverage
from rlaif.trainer.play.exploration.home import ExplorationHome
from rlaif.trainer.play.exploration.keeper import KeeperPort
from rlaif.trainer.play.exploration.keeper_link import KeeperLink
from rlaif.trainer.play.exploration.others import sum_of_others
from rlaif.trainer.play.exploration.practice import Practice
from rlaif.trainer.play.exploration.starts import ArchiveStarts
from rlaif.trainer.play.exploration.state_saver import StateSaver
from rlaif.trainer.play.exploration.states import ArchiveIdentity, ArchiveRecord
from rlaif.trainer.play.exploration.visited import VisitedPlaces
from rlaif.trainer.play.followers.episode_follower import WatchedGame
from rlaif.trainer.play.start import Start, StartSource
from rlaif.trainer.rewards.game.facts import GameFacts, Progress
from rlaif.trainer.run_folder import disk
from rlaif.trainer.settings.exploration import ExploreSettings


@dataclass(frozen=True)
class ExploreConfig:
    """The exploration of one run; travels to the runner processes.

    Attributes:
        directory: Of the run; `exploration/` is made in it.
        settings: With no restarts and no practice, no states are kept.
        save_every: Steps of a runner between two states, milestones excepted. A save costs about
            36 ms and 16,000 steps of four frames about 4 s, so that saving costs 1 % at most.
        sync_every: Fragments between two exchanges with the other runners.
        `keeper`: Name of the archive server on a Ray cluster; empty where `directory` is shared.
    """

    directory: Path
    settings: ExploreSettings = field(default_factory=ExploreSettings)
    save_every: int = 16_000
    sync_every: int = 10
    keeper: str = ""


class Explorer:
    """Follows the environments of one runner.

    There is no archive when no episode ever starts at a state, or when the disk had no room for one
    when this process began.
    """

    def __init__(
        self,
        config: ExploreConfig,
        *,
        runner: int,
        identity: ArchiveIdentity,
        story: Story,
        keeper: KeeperPort | None = None,
    ) -> None:
        """Resume with what is in the run's directory.

        What was found with another game, emulator or frame skip stays there and is not used. An
        unreadable archive is an `ArchiveError`.

        With a `keeper` the directory is this runner's alone, and empty: what is in the run's comes
        from there. One that does not answer now is an OSError.
        """
        self._config = config
        self._runner = runner
        self.frame_skip = identity.frame_skip
        self._fragments = 0
        home = ExplorationHome.of(config.directory, identity)
        self._link = None if keeper is None else KeeperLink(keeper, home, identity, runner)
        self.visited = VisitedPlaces(home.coverage(runner), runner)
        self.counts = CellCounts()
        self._counts_file = home.cells(runner)
        self.counts.load(self._counts_file)
        self.practice = Practice(share=config.settings.practice)
        self.archive: StateArchive | None = None
        self.saver: StateSaver | None = None
        self._unsynced: str | None = None
        if config.settings.keeps_states:
            try:
                self.archive = StateArchive(
                    home.archive, identity, self.counts, max_states=config.settings.states
                )
            except OSError as error:
                self._unsynced = disk.why(error)
        if self._link is not None:
            self._exchanged(whole=True)  # to begin with, and no news
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
        keeper: KeeperPort | None = None,
    ) -> "Explorer":
        """The explorer of a game that plays on `emulator`; see the constructor."""
        identity = ArchiveIdentity(
            game=cartridge.identity, emulator=emulator.identity, frame_skip=frame_skip
        )
        story = story_of(cartridge.game)
        return cls(config, runner=runner, identity=identity, story=story, keeper=keeper)

    @property
    def coverage(self) -> RunCoverage:
        """Of this runner's environments."""
        return self.visited.own

    def environment(self, n: int, game: WatchedGame) -> "ExplorationFollower":
        """What follows environment `n` of this runner, the one that plays `game`."""
        return ExplorationFollower(self, n, game)

    def starts(self, given: StartSource) -> StartSource:
        """The starts of the game, with archived states among them."""
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
        """State that is not in the files, after writing them."""
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
        """Resume with what `state_dict` gave; states that some runner plays from are kept."""
        self._fragments = state["fragments"]
        self.counts.load_state_dict(state["counts"])
        if "practice" in state:  # of a run that had none yet
            self.practice.load_state_dict(state["practice"])
        if self.saver is not None:
            # 0.1.0 kept them with its swarming.
            self.saver.known |= set(state["known"] if "known" in state else state["swarm"]["known"])
            if state["since_save"] is not None:
                self.saver.since_save = state["since_save"]
        if self.archive is not None and self._runner <= 1:
            self.archive.collect(played_from)
            if self._link is not None:
                with contextlib.suppress(OSError):  # what it leaves, the next resume finds
                    self._link.collect(played_from)

    def end_fragment(self) -> None:
        """Now and then exchange what is known with the other runners.

        A state for runners on other machines goes at once: their own turn to ask comes on top.
        """
        self._fragments += 1
        if self._fragments % self._config.sync_every == 0 or self._has_news:
            self.sync()

    @property
    def _has_news(self) -> bool:
        if self._link is None or self.archive is None:
            return False
        return self._link.has_news(self.archive)

    @property
    def trouble(self) -> str | None:
        """Why the disk does not take what is found; None while it does."""
        return self._unsynced or (self.saver.trouble if self.saver is not None else None)

    def sync(self, *, whole: bool = False) -> None:
        """Write this runner's counts, read the others' and their states; `whole`: all of them.

        If the disk is full or the archive server does not answer, play continues without the
        exchange, and `trouble` has the reason.
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
        """Gives the records of states that others have kept since."""
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
    """One environment as the explorer of its runner follows it: an `EpisodeFollower`."""

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
        most_steps = self._practice.most_steps(self._name)
        if most_steps is not None:
            self._game.cut_after(most_steps * self._explorer.frame_skip)
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
        if self._saver is None:
            return
        was_trying = self._practice.is_trying(self._name)
        self._saver.visit(self._name, emulator, facts)
        if was_trying and not self._practice.is_trying(self._name):
            self._game.cut_after(self._game.frames)
