"""The curriculum of one environment runner: chooses start states and evaluates attempts."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rlaif.game.captures.capture import pack_keyframe, unpack_keyframe
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks
from rlaif.trainer.curriculum.demonstrations import Demonstration
from rlaif.trainer.curriculum.subtasks import Subtask, subtasks_of
from rlaif.trainer.play.followers.episode_follower import EpisodeFollower
from rlaif.trainer.play.frontier import CurriculumFigures
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.play.start import DEMONSTRATION, Start, StartSource
from rlaif.trainer.rewards.game.facts import GameFacts
from rlaif.trainer.search.marks import Marks
from rlaif.trainer.settings.learning import CurriculumSettings

_ARRIVALS_PER_SAVE = 4
"""One of this many arrivals is stored: they are similar."""

WHOLE = 64
"""Window, in episodes per runner from the game's own start, of the end-to-end success rate."""


class Course:
    """The curriculum shared by all environments of one runner.

    Attributes:
        subtasks: All subtasks of all demonstrations, from the game's own start.
        frames: Game frames played so far.
        frames_otherwise: Those of episodes that did not start on a demonstration.
        whole: Whether the last episodes from the game's own start reached the end.
    """

    def __init__(
        self,
        demonstrations: Sequence[Demonstration],
        settings: CurriculumSettings,
        marks_of: Callable[[RamBlocks], Marks],
    ) -> None:
        """Start with every frontier at its goal; `marks_of` reads the permanent flags."""
        self.settings, self.marks_of = settings, marks_of
        self.subtasks: tuple[Subtask, ...] = ()
        self.frames = self.frames_otherwise = 0
        self._arrived = 0
        self.whole: deque[bool] = deque(maxlen=WHOLE)
        self.follow(demonstrations)

    def follow(self, demonstrations: Sequence[Demonstration]) -> None:
        """Replace the demonstrations; running attempts finish on the earlier ones."""
        earlier = self.subtasks
        self.subtasks = subtasks_of([each.without_rows() for each in demonstrations], self.settings)
        for subtask in self.subtasks:
            subtask.continue_from(earlier)

    @property
    def power_on_share(self) -> float:
        """Share of frames in episodes without a start on a demonstration."""
        mastered = sum(subtask.frontier.is_mastered for subtask in self.subtasks)
        return power_on_share(self.settings, mastered / max(1, len(self.subtasks)))

    @property
    def played_otherwise(self) -> float:
        """The present share of frames in such episodes; 0 before any."""
        return self.frames_otherwise / max(1, self.frames)

    def draw(self, rng: np.random.Generator) -> tuple[Subtask, int] | None:
        """Draw a subtask and the place to start at, or None for a start without demonstration.

        An episode of the whole game lasts as long as hundreds of attempts, so that a random draw
        alone would give such episodes most of the frames.
        """
        share = self.power_on_share
        if not self.subtasks or (rng.random() < share and self.played_otherwise <= share):
            return None
        weights = np.array([each.weight for each in self.subtasks])
        subtask = self.subtasks[rng.choice(len(weights), p=weights / weights.sum())]
        return subtask, subtask.draw_place(rng)

    def arrived(self, subtask: Subtask, emulator: Emulator) -> None:
        """Record an arrival at the beginning of a subtask; store some of these states as starts."""
        self._arrived += 1
        if self._arrived % _ARRIVALS_PER_SAVE == 0:
            subtask.arrivals.append(pack_keyframe(emulator.save_state()))

    def figures(self) -> CurriculumFigures:
        """Return the statistics of all subtasks, and of episodes from the game's own start."""
        return CurriculumFigures(
            tuple(subtask.figures() for subtask in self.subtasks), tuple(self.whole)
        )

    def state_dict(self) -> dict[str, Any]:
        """The state that is not part of the environments."""
        return {
            "route": {subtask.key: subtask.state_dict() for subtask in self.subtasks},
            "frames": self.frames,
            "frames_otherwise": self.frames_otherwise,
            "arrived": self._arrived,
            "whole": list(self.whole),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore; subtasks that are not in `state` keep their frontiers."""
        for subtask in self.subtasks:
            if (saved := state["route"].get(subtask.key)) is not None:
                subtask.load_state_dict(saved)
        self.frames, self.frames_otherwise = state["frames"], state["frames_otherwise"]
        self._arrived = state["arrived"]
        self.whole = deque(state.get("whole", ()), maxlen=WHOLE)


def power_on_share(settings: CurriculumSettings, mastered_share: float) -> float:
    """Return the share of frames from the game's own start at this share of mastered subtasks."""
    first, last = settings.power_on, max(settings.power_on, settings.chained)
    return first + (last - first) * mastered_share**2


class _Attempt(NamedTuple):
    """An attempt at a subtask from a start state, until its goal is reached or its time is up.

    A goal is reached when each of its flags has been set at some time since the attempt started, in
    any order and by any trajectory; flags that are reset afterwards, such as a key, count. Goals of
    later subtasks are watched, too: reaching one of them first is a failure of this subtask.

    Attributes:
        subtask: The subtask.
        place: Index of its start state.
        missing: Flags that have not been seen of the goal of this subtask, and of later ones.
    """

    subtask: Subtask
    place: int
    missing: dict[Subtask, set[str]]


class CourseFollower:
    """The curriculum of one environment: an `EpisodeFollower` around another, and a `StartSource`.

    Starts that are not on a demonstration are those of the source that the game had before.
    """

    def __init__(self, course: Course, game: GameEnv, inner: EpisodeFollower) -> None:
        self._course, self._game, self._inner = course, game, inner
        self._given: StartSource = game.source.starts
        game.source.starts = self
        self._drawn: tuple[Subtask, int, int] | None = None  # the last: further subtasks
        self._attempt: _Attempt | None = None
        self._marks: Marks = frozenset()
        self._remaining = 0
        self._frames = 0
        self._otherwise = True
        self._is_whole = False
        self._scene: object = None

    def choose(self, rng: np.random.Generator) -> Start:
        """Return the start of the next episode.

        Some episodes begin with random moves, as episodes of the game do, because a policy that
        reaches a state by itself is never exactly where the demonstration was.
        """
        self._drawn, drawn = None, self._course.draw(rng)
        if drawn is None:
            return self._given.choose(rng)
        subtask, place = drawn
        settings = self._course.settings
        if settings.goes_on == 1:
            more = len(self._course.subtasks)
        else:
            more = int(rng.geometric(1 - settings.goes_on)) - 1
        self._drawn = subtask, place, more
        arrived = subtask.arrival(rng) if place == 0 else None
        keyframe = arrived or subtask.state(place).keyframe
        state = unpack_keyframe(*keyframe)
        if arrived is not None:
            return Start(state, f"{DEMONSTRATION}{subtask.key}@arrived", keyframe, from_play=True)
        is_exact = rng.random() >= settings.noised
        name = f"{DEMONSTRATION}{subtask.key}@{subtask.state(place).at}"
        return Start(state, name, keyframe, from_play=is_exact)

    def begin_episode(self, facts: GameFacts, start: Start) -> None:
        """Start an episode; an unfinished attempt of the episode before has failed."""
        if self._attempt is not None:
            self._attempt.subtask.note(self._attempt.place, success=False)
            self._end_whole(success=False)
        self._attempt, self._is_whole = None, False
        self._frames = self._game.frames
        self._inner.begin_episode(facts, start)
        drawn, self._drawn = self._drawn, None
        self._otherwise = drawn is None or not start.provenance.startswith(DEMONSTRATION)
        if drawn is None or self._otherwise:
            subtasks = self._course.subtasks
            if start.from_play or not subtasks:
                return
            # All subtasks follow from the game's own start; the time limit ends stuck episodes.
            drawn = subtasks[0], 0, len(subtasks)
            self._is_whole = True
        subtask, place, self._remaining = drawn
        self._marks = self._course.marks_of(self._game.ram)
        self._begin(subtask, place)
        self._check_goals()

    def after_step(self, facts: GameFacts, action: int, wait: int) -> None:
        """Process an emulator step; reads the flags if the scene is new."""
        self._inner.after_step(facts, action, wait)
        frames = self._game.frames
        self._course.frames += frames - self._frames
        self._course.frames_otherwise += (frames - self._frames) * self._otherwise
        self._frames = frames
        if self._attempt is None or self._game.scene is self._scene:
            return
        self._scene = self._game.scene
        self._check_goals()

    def _begin(self, subtask: Subtask, place: int) -> None:
        # Flags that are already set are no evidence for a later goal.
        later = [each for each in subtask.later if not each.goal <= self._marks]
        missing = {each: set(each.goal) for each in (subtask, *later)}
        self._attempt = _Attempt(subtask, place, missing)
        self._game.cut_after(self._game.frames + subtask.max_frames(place), lost=True)

    def _check_goals(self) -> None:
        attempt = self._attempt
        if attempt is None:
            return
        marks = self._course.marks_of(self._game.ram)
        self._marks |= marks
        for missing in attempt.missing.values():
            missing -= marks
        reached = [subtask for subtask, missing in attempt.missing.items() if not missing]
        if not reached:
            return
        succeeded, is_end = reached[0] is attempt.subtask, reached[-1].after is None
        self._attempt = None
        attempt.subtask.note(attempt.place, success=succeeded)
        if not (is_end or succeeded):  # a later goal came first: this one was missed
            self._end_whole(success=False)
            self._game.cut_after(self._game.frames, lost=True)
            return
        following: Subtask | None = attempt.subtask
        while following in reached:
            following = following.after
            self._remaining -= 1
        if is_end or following is None:
            self._end_whole(success=True)
            self._game.cut_after(self._game.frames)
            return
        self._course.arrived(following, self._game.emulator)
        if self._remaining < 0:
            self._game.cut_after(self._game.frames)
            return
        self._begin(following, 0)
        self._check_goals()

    def _end_whole(self, *, success: bool) -> None:
        if self._is_whole:
            self._course.whole.append(success)
        self._is_whole = False

    def state_dict(self) -> dict[str, Any]:
        """The state of the running episode."""
        attempt = self._attempt
        return {
            "inner": self._inner.state_dict(),
            "attempt": attempt
            and {
                "key": attempt.subtask.key,
                "place": attempt.place,
                "missing": {each.key: set(flags) for each, flags in attempt.missing.items()},
            },
            "marks": set(self._marks),
            "more": self._remaining,
            "otherwise": self._otherwise,
            "is_whole": self._is_whole,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore; an attempt at a subtask that no longer exists is dropped."""
        if "attempt" not in state:  # saved without a curriculum
            state = {"inner": state, "attempt": None, "marks": (), "more": 0, "otherwise": True}
        if state["inner"] is not None:
            self._inner.load_state_dict(state["inner"])
        self._attempt, saved = None, state["attempt"]
        subtasks = {subtask.key: subtask for subtask in self._course.subtasks}
        if saved is not None and saved.get("key") in subtasks:  # 0.1.0 saved no keys
            missing = {
                subtasks[key]: set(flags)
                for key, flags in saved["missing"].items()
                if key in subtasks
            }
            self._attempt = _Attempt(subtasks[saved["key"]], saved["place"], missing)
        self._marks = frozenset(state["marks"])
        self._remaining, self._otherwise = state["more"], state["otherwise"]
        self._is_whole = self._attempt is not None and state.get("is_whole", False)
        self._frames = self._game.frames
        self._scene = None
