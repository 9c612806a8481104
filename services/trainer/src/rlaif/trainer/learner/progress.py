"""Statistics of a run, computed from its fragments for the reports."""

import math
from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from rlaif.contracts.run_points import EndedEpisodes
from rlaif.contracts.telemetry.curriculum import CurriculumSegment
from rlaif.contracts.telemetry.run import RunFigures
from rlaif.contracts.telemetry.world import (
    MAX_ROOMS,
    SEGMENTS_OF_A_ROOM,
    RoomSeen,
    SegmentName,
    WorldFigures,
)
from rlaif.trainer.curriculum.course import power_on_share
from rlaif.trainer.learner.algorithm.learner_rewards import GAME, SHAPING, LearnedRewards
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO
from rlaif.trainer.play.assist.figures import AssistanceFigures, summed
from rlaif.trainer.play.followers.room_log import (
    Room,
    RoomPicture,
    RoomPlace,
    RoomsPlayed,
    RoomTally,
)
from rlaif.trainer.play.fragment import EpisodeSummary, Fragment
from rlaif.trainer.play.frontier import CurriculumFigures
from rlaif.trainer.rewards.learned.shaping import Float32
from rlaif.trainer.run_folder.protocol import (
    AssistanceDone,
    CurriculumReport,
    IterationDone,
)
from rlaif.trainer.run_folder.search_report import curriculum_report, marks_name
from rlaif.trainer.settings.learning import CurriculumSettings

Corner = tuple[int, int]
"""Left and top of a picture in its room."""

WINDOW = 100
"""Number of finished episodes in a mean, as in RLlib."""

_WINDOWS = ("returns", "shaped", "lengths", "rooms", "fractions", "reached")
WINDOW_SECONDS = 10.0
"""Longer than an iteration, because a batch may be played during the previous update."""

_LEARNER_FIGURES = (
    "policy_loss",
    "vf_loss",
    "entropy",
    "vf_explained_var",
    "total_loss",
    "mean_kl_loss",
    "clip_fraction",
    "gradients_default_optimizer_global_norm",
    "default_optimizer_learning_rate",
    "policy_lag",
    "steps_left_out",
)


@dataclass
class WorldTally:
    """Counts and positions of all rooms, over all environments of a run.

    A room without a known position was never entered and is not reported.
    """

    _tallies: dict[Room, RoomTally] = field(default_factory=dict)
    _places: dict[Room, RoomPlace] = field(default_factory=dict)
    _last_steps: dict[Room, int] = field(default_factory=dict)
    _segments: dict[Room, list[tuple[str, str]]] = field(default_factory=dict)
    _pictures: dict[Room, Corner] = field(default_factory=dict)

    def add(self, played: Iterable[RoomsPlayed], env_step: int) -> None:
        for rooms in played:
            for room, tally in rooms.tallies.items():
                self._tallies.setdefault(room, RoomTally()).add(tally)
                if tally.frames or tally.entries:
                    self._last_steps[room] = env_step
            self._places |= rooms.places
            for passed in rooms.passed:
                name = (passed.episode_id, passed.segment_id)
                for room in passed.rooms:
                    known = self._segments.setdefault(room, [])
                    self._segments[room] = [name, *known][:SEGMENTS_OF_A_ROOM]

    def wants(self, room: Room) -> bool:
        return room not in self._pictures

    def keep(self, room: Room, picture: RoomPicture) -> None:
        self._pictures[room] = (picture.left, picture.top)

    def figures(self) -> WorldFigures:
        known = sorted(
            (room for room in self._places if room in self._tallies),
            key=lambda room: (-self._last_steps.get(room, 0), room),
        )
        rooms = tuple(self._seen(room) for room in known[:MAX_ROOMS])
        return WorldFigures(rooms=rooms, rooms_left_out=len(known) - len(rooms))

    def state_dict(self) -> dict[str, Any]:
        """Return the state as plain values for a checkpoint; pictures are files of the run."""
        played = RoomsPlayed(tallies=self._tallies, places=self._places).plain()
        return {
            "tallies": played["tallies"],
            "places": played["places"],
            "last_steps": [[*room, step] for room, step in self._last_steps.items()],
            "segments": [
                [*room, [list(name) for name in names]] for room, names in self._segments.items()
            ],
            "pictures": [[*room, *corner] for room, corner in self._pictures.items()],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        played = RoomsPlayed.of({**state, "pictures": [], "passed": []})
        self._tallies, self._places = played.tallies, played.places
        self._last_steps = {(group, room): step for group, room, step in state["last_steps"]}
        self._segments = {
            (group, room): [(episode, segment) for episode, segment in names]
            for group, room, names in state["segments"]
        }
        self._pictures = {
            (group, room): (left, top) for group, room, left, top in state["pictures"]
        }

    def _seen(self, room: Room) -> RoomSeen:
        tally, place = self._tallies[room], self._places[room]
        corner = self._pictures.get(room)
        return RoomSeen(
            group=room[0],
            room=room[1],
            **vars(place),
            **vars(tally),
            last_step=self._last_steps.get(room, 0),
            picture=corner is not None,
            picture_left=corner[0] if corner else 0,
            picture_top=corner[1] if corner else 0,
            segments=tuple(
                SegmentName(episode_id=episode, segment_id=segment)
                for episode, segment in self._segments.get(room, ())
            ),
        )


class _OpenEpisode(NamedTuple):
    """A running episode: its first step, if known, and the sum of its potential rises so far."""

    began: int | None
    shaped: float = 0.0


@dataclass
class RunTally:
    """Counters, windows and running episodes.

    Attributes:
        captures_lost: Reason why a capture of the last iteration was dropped.
        ended: Episodes that ended in the last iteration.
    """

    episodes: int = 0
    segments_captured: int = 0
    segments_skipped: int = 0
    segments_dropped: int = 0
    selected_by: Counter[str] = field(default_factory=Counter)
    captures_lost: str | None = None
    reward_parts: dict[str, float] = field(default_factory=dict)
    world: WorldTally = field(default_factory=WorldTally)
    ended: EndedEpisodes = field(default_factory=EndedEpisodes)
    _assistance: AssistanceFigures | None = None
    _assisted: AssistanceFigures = field(default_factory=AssistanceFigures)
    _windows: dict[str, deque[float]] = field(
        default_factory=lambda: {name: deque(maxlen=WINDOW) for name in _WINDOWS}
    )
    _milestones: dict[str, None] = field(default_factory=dict)
    _open: dict[tuple[int, int], _OpenEpisode] = field(default_factory=dict)

    def add(
        self, fragments: list[Fragment], learned: LearnedRewards, *, env_steps: int = 0
    ) -> None:
        """Add an iteration; `env_steps` are the steps of the run at its end."""
        self.reward_parts, self.ended, self.captures_lost = {}, EndedEpisodes(), None
        # Episodes of a lost runner never end.
        runners = {fragment.runner for fragment in fragments}
        self._open = {key: each for key, each in self._open.items() if key[0] in runners}
        begins_at = env_steps - sum(fragment.steps for fragment in fragments)
        for fragment, rises in zip(fragments, learned.rises, strict=True):
            self.segments_captured += len(fragment.captures)
            self.segments_skipped += fragment.segments_skipped
            for name, amount in fragment.reward_parts.items():
                self.reward_parts[name] = self.reward_parts.get(name, 0.0) + amount
            self._add_episodes(fragment.of_policy(), rises, begins_at)
        self._assistance = summed(fragment.assistance for fragment in fragments)
        if self._assistance is not None:
            self._assisted += replace(self._assistance, events=[])
        for name, part in learned.statistics.items():
            if name != GAME:  # its parts have been added above
                self.reward_parts[name] = part.sum

    def note_spooled(self, selected_by: str, why_lost: str | None) -> None:
        self.selected_by[selected_by] += 1
        self.segments_dropped += why_lost is not None
        self.captures_lost = why_lost or self.captures_lost

    def _add_episodes(self, fragment: Fragment, rises: Float32, begins_at: int) -> None:
        runner, starts = fragment.runner, [0] * rises.shape[1]
        for n in range(len(starts)):
            if not fragment.continues:
                self._open[runner, n] = _OpenEpisode(begins_at)
            else:  # unknown in checkpoints of older versions
                self._open.setdefault((runner, n), _OpenEpisode(None))
        for episode, (t, n) in zip(fragment.episodes, fragment.env_index_of_end, strict=True):
            began, shaped = self._open[runner, n]
            shaped += float(rises[starts[n] : t + 1, n].sum())
            starts[n] = t + 1
            self._open[runner, n] = _OpenEpisode(begins_at)
            self._milestones.update(dict.fromkeys(episode.milestones))
            if episode.is_part:
                continue
            self.episodes += 1
            for name, value in {
                "shaped": shaped,
                "returns": episode.reward,
                "lengths": episode.length,
                "rooms": episode.rooms,
                "fractions": episode.milestone_fraction,
                "reached": len(episode.milestones),
            }.items():
                self._windows[name].append(value)
            if math.isfinite(episode.reward):
                self.ended = self.ended.and_then(_row(episode, began, shaped))
        for n, start in enumerate(starts):
            began, shaped = self._open[runner, n]
            shaped += float(rises[start:, n].sum())
            self._open[runner, n] = _OpenEpisode(began, shaped)

    @property
    def oldest_open(self) -> int | None:
        """First step of the oldest running episode; None if that of any episode is unknown."""
        began = [each.began for each in self._open.values()]
        known = [each for each in began if each is not None]
        return min(known) if known and len(known) == len(began) else None

    def state_dict(self) -> dict[str, Any]:
        return {
            "counts": (self.episodes, self.segments_captured, self.segments_skipped),
            "windows": {name: list(window) for name, window in self._windows.items()},
            "dropped": self.segments_dropped,
            "selected_by": dict(self.selected_by),
            "milestones": list(self._milestones),
            "open": [(*key, each.shaped) for key, each in self._open.items()],
            "cohorts": [(*key, each.began) for key, each in self._open.items()],
            "assisted": self._assisted.plain(),
            "world": self.world.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.episodes, self.segments_captured, self.segments_skipped = state["counts"]
        self.segments_dropped = state.get("dropped", 0)
        self.selected_by = Counter(state.get("selected_by", {}))
        self._windows = {name: deque(state["windows"][name], maxlen=WINDOW) for name in _WINDOWS}
        self._milestones = dict.fromkeys(state["milestones"])
        began = {(runner, n): step for runner, n, step in state.get("cohorts", [])}
        self._open = {
            (runner, n): _OpenEpisode(began.get((runner, n)), shaped)
            for runner, n, shaped in state["open"]
        }
        self._assisted = AssistanceFigures.of(state.get("assisted", {}))
        if "world" in state:
            self.world.load_state_dict(state["world"])

    def assistance(self) -> AssistanceDone | None:
        """Report on the language model in the last iteration; None without a planner."""
        last = self._assistance
        if last is None:
            return None
        waiting = replace(self._assisted.planner, in_flight=last.planner.in_flight)
        return AssistanceDone(
            by_mode=last.by_mode(),
            latency={mode: list(counts.latency) for mode, counts in last.planner.by_mode.items()},
            of_run=replace(self._assisted, planner=waiting).by_mode(),
            events=last.events,
        )

    def figures(self) -> RunFigures:
        mean = {name: _mean(window) for name, window in self._windows.items()}
        return RunFigures(
            episodes=self.episodes,
            episode_return_mean=mean["returns"],
            shaped_return_mean=mean["shaped"],
            episode_length_mean=mean["lengths"],
            rooms_mean=mean["rooms"],
            milestone_fraction=mean["fractions"],
            milestones_mean=mean["reached"],
            milestones=list(self._milestones),
            segments_captured=self.segments_captured,
            segments_skipped=self.segments_skipped,
        )


def _row(episode: EpisodeSummary, began: int | None, shaped: float) -> EndedEpisodes:
    return EndedEpisodes(
        count=1,
        began=(began,),
        gained=(episode.gained,),
        rooms=(episode.rooms,),
        returns=(round(float(episode.reward), 4),),
        shaped=(round(shaped, 4) if math.isfinite(shaped) else None,),
        lengths=(episode.length,),
        died=(episode.died,),
    )


def _mean(values: Collection[float]) -> float | None:
    mean = float(np.mean(list(values))) if values else math.nan
    return mean if math.isfinite(mean) else None


def course_report(course: CurriculumFigures, settings: CurriculumSettings) -> CurriculumReport:
    """Return the report of a curriculum with at least one subtask.

    Frontiers are fractions of the start states: 1 is the nearest to the goal, 0 is mastered.
    """
    subtasks = course.subtasks
    names = list(dict.fromkeys(subtask.demonstration for subtask in subtasks))
    mastered = sum(subtask.is_mastered for subtask in subtasks) / len(subtasks)
    return curriculum_report(
        "chaining" if mastered == 1 else "backward",
        [
            CurriculumSegment(
                demonstration=names.index(subtask.demonstration),
                from_mark=marks_name(subtask.begins_with) if subtask.begins_with else None,
                to_mark=marks_name(subtask.goal),
                frontier=0.0 if subtask.is_mastered else (subtask.at + 1) / subtask.places,
                success=subtask.success,
                tries=subtask.tries,
            )
            for subtask in subtasks
        ],
        power_on_share=power_on_share(settings, mastered),
        demonstrations=len(names),
        whole_tries=len(course.whole),
        whole_success=course.whole_success,
    )


class Speed(NamedTuple):
    """Steps of a run, which are decisions, and their frames, per second."""

    steps_per_second: float
    frames_per_second: float


class StepRate:
    """Speed over the last ten seconds, or over the last iteration if that is longer.

    Runners continue while the learner evaluates or saves, so fragments may have been played before
    that window. Their playing time is used if it is longer, so that the speed never exceeds that of
    the runners.
    """

    def __init__(self, now: float, steps: int) -> None:
        self._marks = deque([(now, steps, 0, 0.0)])

    def after(self, now: float, steps: int, played_seconds: float = 0.0, frames: int = 0) -> Speed:
        """Return the speed, with `steps` in total at `now`; 0 if no time has passed.

        `played_seconds` is the time of the slowest runner for the steps since the last call, and
        `frames` the duration of these steps, including waits.
        """
        while len(self._marks) > 1 and now - self._marks[1][0] >= WINDOW_SECONDS:
            self._marks.popleft()
        frames += self._marks[-1][2]
        played = self._marks[-1][3] + played_seconds
        began, steps_before, frames_before, played_before = self._marks[0]
        self._marks.append((now, steps, frames, played))
        seconds = max(now - began, played - played_before)
        if seconds <= 0:
            return Speed(0.0, 0.0)
        return Speed((steps - steps_before) / seconds, (frames - frames_before) / seconds)


def report(
    iteration: int,
    algorithm: ShapedPPO,
    tally: RunTally,
    module: Mapping[str, float],
    *,
    speed: Speed,
    trained_seconds: float,
    seconds_left: float | None,
    not_written: str | None = None,
    not_built: str | None = None,
) -> IterationDone:
    """Return the message about an iteration; `module` contains the learner's metrics."""
    learned = algorithm.learned
    counts = learned.reward_model_version is not None
    paid = learned.statistics.get(SHAPING) if counts else None
    measured = {
        **speed._asdict(),
        "trained_seconds": trained_seconds,
        "seconds_left": seconds_left,
        "potential_mean": learned.potential_mean,
        "paid_share": paid.share if paid else None,
        "paid_advantage_share": paid.advantage_share if paid else None,
        "reward_model_share": learned.reward_model_share,
    }
    return IterationDone(
        **(tally.figures().figures() | measured),
        iteration=iteration,
        env_steps=algorithm.env_steps,
        segments_dropped=tally.segments_dropped,
        captures_lost=tally.captures_lost,
        selected_by=dict(tally.selected_by),
        not_written=not_written,
        not_built=not_built,
        reward_parts={
            name: amount for name, amount in tally.reward_parts.items() if math.isfinite(amount)
        },
        # JSON has no NaN.
        reward_statistics={
            name: part
            for name, part in learned.statistics.items()
            if all(math.isfinite(figure) for _, figure in part if figure is not None)
        },
        reward_model_version=learned.reward_model_version,
        assistance=tally.assistance(),
        ended=tally.ended,
        oldest_open=tally.oldest_open,
        samples_left_out=algorithm.learned.samples_left_out,
        updates_left_out=int(module.get("steps_left_out", 0)),
        not_learned=_why_nothing_was_learned(algorithm, module),
        learner={
            name: float(module[name])
            for name in _LEARNER_FIGURES
            if name in module and math.isfinite(module[name])
        },
    )


def _why_nothing_was_learned(algorithm: ShapedPPO, module: Mapping[str, float]) -> str | None:
    """Reason why the whole batch or every gradient step was skipped; None if neither was."""
    fragments = [fragment.of_policy() for fragment in algorithm.fragments]
    played = sum(int((~fragment.by_planner).sum()) for fragment in fragments)
    if not played:
        return None
    if algorithm.learned.samples_left_out == played:
        spoilt = [
            name
            for name, grids in algorithm.learned.parts.items()
            if not all(np.isfinite(grid).all() for grid in grids)
        ]
        cause = f"the reward of {', '.join(spoilt)}" if spoilt else "the critic's values"
        return (
            f"all {played} steps of the batch were skipped because {cause} are not finite; resume "
            "from an older checkpoint or without that part"
        )
    if 0 < module.get("gradient_steps", 0) <= module.get("steps_left_out", 0):
        return (
            "every gradient step was skipped because its loss was not finite; resume from an older "
            "checkpoint with a lower learning rate"
        )
    return None
