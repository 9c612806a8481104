"""The curriculum of one environment runner: chooses start states and evaluates attempts."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from rlaif.game.captures.capture import pack_keyframe, unpack_keyframe
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.trainer.curriculum.demonstrations import Demonstration
from rlaif.trainer.curriculum.route import Attempt, Route
from rlaif.trainer.play.followers.episode_follower import EpisodeFollower, WatchedGame
from rlaif.trainer.play.frontier import CurriculumFigures
from rlaif.trainer.play.start import Start, StartSource
from rlaif.trainer.rewards.game.facts import GameFacts
from rlaif.trainer.search.marks import Marks
from rlaif.trainer.settings.learning import CurriculumSettings

_ARRIVALS_PER_SAVE = 4
"""One of this many arrivals is stored, because a save state takes 30 ms."""

WHOLE = 64
"""Window, in episodes per runner from the game's own start, of the end-to-end success rate."""

PROVENANCE = "demonstration:"
"""Prefix of the provenance of start states on a demonstration."""


class WatchedScenes(WatchedGame, Protocol):
    """What a course needs of an environment.

    Attributes:
        scene: The newest scene; a new object whenever owned items change.
    """

    @property
    def scene(self) -> object: ...


class Course:
    """The curriculum shared by all environments of one runner.

    Attributes:
        route: Subtasks and frontiers of this runner.
        frames: Game frames played so far.
        frames_otherwise: Those of episodes that did not start on a demonstration.
    """

    def __init__(
        self,
        demonstrations: Sequence[Demonstration],
        settings: CurriculumSettings,
        marks_of: Callable[[RamBlocks], Marks],
    ) -> None:
        """Start with every frontier at its goal; `marks_of` reads the permanent flags."""
        self.settings = settings
        self.marks_of = marks_of
        self.route = self._route(demonstrations)
        self.frames = self.frames_otherwise = 0
        self._arrived = 0
        self._whole: deque[bool] = deque(maxlen=WHOLE)

    def _route(self, demonstrations: Sequence[Demonstration]) -> Route:
        return Route([each.without_rows() for each in demonstrations], self.settings)

    def follow(self, demonstrations: Sequence[Demonstration]) -> None:
        """Replace the demonstrations; running episodes finish on the earlier ones."""
        route = self._route(demonstrations)
        route.continue_from(self.route)
        self.route = route

    @property
    def played_otherwise(self) -> float:
        """Share of frames in episodes that did not start on a demonstration; 0 before any."""
        return self.frames_otherwise / max(1, self.frames)

    def count(self, frames: int, *, otherwise: bool) -> None:
        self.frames += frames
        self.frames_otherwise += frames * otherwise

    def arrived(self, route: Route, subtask: int, emulator: Emulator) -> None:
        """Record an arrival at the beginning of a subtask; store some of these states as starts."""
        self._arrived += 1
        if self._arrived % _ARRIVALS_PER_SAVE == 0:
            route.arrive(subtask, pack_keyframe(emulator.save_state()))

    def note_whole(self, *, success: bool) -> None:
        """Record whether an episode from the game's own start reached the end."""
        self._whole.append(success)

    def environment(self, game: WatchedScenes, inner: EpisodeFollower | None) -> "CourseFollower":
        """Return the follower of one environment, wrapped around `inner`."""
        return CourseFollower(self, game, inner)

    def figures(self) -> CurriculumFigures:
        """Return the statistics of all subtasks, and of episodes from the game's own start."""
        return CurriculumFigures(self.route.figures(), tuple(self._whole))

    def state_dict(self) -> dict[str, Any]:
        """The state that is not part of the environments."""
        return {
            "route": self.route.state_dict(),
            "frames": self.frames,
            "frames_otherwise": self.frames_otherwise,
            "arrived": self._arrived,
            "whole": list(self._whole),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.route.load_state_dict(state["route"])
        self.frames, self.frames_otherwise = state["frames"], state["frames_otherwise"]
        self._arrived = state["arrived"]
        self._whole = deque(state.get("whole", ()), maxlen=WHOLE)


class CourseFollower:
    """The curriculum of one environment: an `EpisodeFollower` around another."""

    def __init__(self, course: Course, game: WatchedScenes, inner: EpisodeFollower | None) -> None:
        self._course, self._route = course, course.route
        self._game, self._inner = game, inner
        self._drawn: tuple[Route, int, int, int] | None = None
        self._attempt: Attempt | None = None
        self._marks: Marks = frozenset()
        self._remaining = 0
        self._frames = 0
        self._otherwise = True
        self._is_whole = False
        self._scene: object = None

    def starts(self, given: StartSource) -> StartSource:
        """Return a source of start states on demonstrations, which falls back to `given`."""
        if self._inner is not None:
            given = self._inner.starts(given)
        return _CourseStarts(self, given)

    def choose(self, rng: np.random.Generator) -> Start | None:
        """Return a start state for the next episode, or None for a start without demonstration.

        Some episodes begin with random moves, as episodes of the game do, because a policy that
        reaches a state by itself is never exactly where the demonstration was.
        """
        self._drawn, route = None, self._course.route
        drawn = route.draw(rng, played_otherwise=self._course.played_otherwise)
        if drawn is None:
            return None
        number, place = drawn
        continues = self._course.settings.goes_on
        more = len(route.subtasks) if continues == 1 else int(rng.geometric(1 - continues)) - 1
        self._drawn = route, number, place, more
        subtask = route.subtasks[number]
        arrived = route.arrival(number, rng) if place == 0 else None
        keyframe = arrived or subtask.state(place).keyframe
        state = unpack_keyframe(keyframe.data, keyframe.sha256)
        if arrived is not None:
            return Start(state, f"{PROVENANCE}{subtask.key}@arrived", keyframe, from_play=True)
        is_exact = rng.random() >= self._course.settings.noised
        name = f"{PROVENANCE}{subtask.key}@{subtask.state(place).at}"
        return Start(state, name, keyframe, from_play=is_exact)

    def episodes(self, square: int) -> int:
        return 0 if self._inner is None else self._inner.episodes(square)

    def begin_episode(
        self,
        emulator: Emulator,
        facts: GameFacts,
        start: Start,
        warm_up: Sequence[tuple[int, int]],
    ) -> None:
        """Start an episode; an unfinished attempt of the episode before has failed."""
        if self._attempt is not None:
            self._route.note(self._attempt.subtask, self._attempt.place, success=False)
            self._end_whole(success=False)
        self._attempt, self._is_whole = None, False
        self._route = self._course.route
        self._frames = self._game.frames
        if self._inner is not None:
            self._inner.begin_episode(emulator, facts, start, warm_up)
        drawn, self._drawn = self._drawn, None
        self._otherwise = drawn is None or not start.provenance.startswith(PROVENANCE)
        if drawn is None or self._otherwise:
            if start.from_play or not self._route.subtasks:
                return
            # All subtasks follow from the game's own start; the time limit ends stuck episodes.
            drawn = self._route, self._route.first, 0, len(self._route.subtasks)
            self._is_whole = True
        self._route, subtask, place, self._remaining = drawn
        self._marks = self._course.marks_of(read_blocks(emulator))
        self._begin(subtask, place)
        self._check_goals(emulator)

    def after_step(self, emulator: Emulator, facts: GameFacts, action: int, wait: int) -> None:
        """Process an emulator step; reads the flags if the scene is new."""
        if self._inner is not None:
            self._inner.after_step(emulator, facts, action, wait)
        frames = self._game.frames
        self._course.count(frames - self._frames, otherwise=self._otherwise)
        self._frames = frames
        if self._attempt is None or self._game.scene is self._scene:
            return
        self._scene = self._game.scene
        self._check_goals(emulator)

    def _begin(self, subtask: int, place: int) -> None:
        later = {
            number: goal
            for number, goal in self._route.goals_after(subtask)
            if not goal <= self._marks  # flags that are already set are no evidence
        }
        goal = self._route.subtasks[subtask].segment.goal
        until = self._game.frames + self._route.time_from(subtask, place)
        self._attempt = Attempt(subtask, place, goal, until=until, later=later)
        self._game.cut_after(until, lost=True)

    def _check_goals(self, emulator: Emulator) -> None:
        attempt = self._attempt
        if attempt is None:
            return
        marks = self._course.marks_of(read_blocks(emulator))
        self._marks |= marks
        newest = attempt.see(marks)
        if newest is None:
            return
        self._route.note(attempt.subtask, attempt.place, success=attempt.succeeded)
        self._attempt = None
        is_end = self._route.after(newest) is None
        if not (is_end or attempt.succeeded):  # a later goal came first: this one was missed
            self._end_whole(success=False)
            self._game.cut_after(self._game.frames, lost=True)
            return
        following = None if is_end else self._after(attempt)
        if following is None:
            self._end_whole(success=True)
            self._game.cut_after(self._game.frames)
            return
        self._course.arrived(self._route, following, emulator)
        if self._remaining < 0:
            self._game.cut_after(self._game.frames)
            return
        self._begin(following, 0)
        self._check_goals(emulator)

    def _after(self, attempt: Attempt) -> int | None:
        """Return the first unreached subtask after one that succeeded, or None."""
        following: int | None = attempt.subtask
        while following is not None and following in attempt.reached:
            following = self._route.after(following)
            self._remaining -= 1
        return following

    def _end_whole(self, *, success: bool) -> None:
        if self._is_whole:
            self._course.note_whole(success=success)
        self._is_whole = False

    def state_dict(self, facts: GameFacts) -> dict[str, Any]:
        """The state of the running episode."""
        return {
            "inner": None if self._inner is None else self._inner.state_dict(facts),
            "attempt": None if self._attempt is None else self._attempt.state_dict(),
            "subtask": self._subtask,
            "marks": set(self._marks),
            "more": self._remaining,
            "otherwise": self._otherwise,
            "is_whole": self._is_whole,
        }

    def load_state_dict(self, state: dict[str, Any], facts: GameFacts) -> None:
        if self._inner is not None and state["inner"] is not None:
            self._inner.load_state_dict(state["inner"], facts)
        saved, self._route = state["attempt"], self._course.route
        self._attempt = None if saved is None else Attempt.of(saved)
        self._marks = frozenset(state["marks"])
        self._remaining, self._otherwise = state["more"], state["otherwise"]
        self._is_whole = state.get("is_whole", False)
        self._frames = self._game.frames
        self._scene = None
        if state.get("subtask", self._subtask) != self._subtask:  # of earlier demonstrations
            self._attempt, self._is_whole = None, False

    @property
    def _subtask(self) -> str | None:
        """Key of the subtask that is attempted."""
        if self._attempt is None or self._attempt.subtask >= len(self._route.subtasks):
            return None
        return self._route.subtasks[self._attempt.subtask].key


class _CourseStarts:
    """A `StartSource` of start states on demonstrations, which falls back to another source."""

    def __init__(self, follower: CourseFollower, given: StartSource) -> None:
        self._follower, self._given = follower, given

    def choose(self, rng: np.random.Generator) -> Start:
        return self._follower.choose(rng) or self._given.choose(rng)
