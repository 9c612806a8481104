"""Running figures of a run: fragments in, what is reported out."""

import math
from collections import Counter, deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rlaif.contracts.run_points import EndedEpisodes
from rlaif.contracts.telemetry.run import RunFigures
from rlaif.contracts.telemetry.world import (
    MAX_ROOMS,
    SEGMENTS_OF_A_ROOM,
    RoomSeen,
    SegmentName,
    WorldFigures,
)
from rlaif.trainer.learner.algorithm.learner_rewards import GAME, LearnedRewards
from rlaif.trainer.play.assist.figures import AssistanceFigures, summed
from rlaif.trainer.play.followers.room_log import (
    Room,
    RoomPicture,
    RoomPlace,
    RoomsPlayed,
    RoomTally,
)
from rlaif.trainer.play.fragment import EpisodeSummary, Fragment
from rlaif.trainer.rewards.learned.shaping import Float32
from rlaif.trainer.run_folder.protocol import AssistanceDone

_Key = tuple[int, int]
"""Runner and environment."""


class Cohorts:
    """Fragments in; episodes with the step at which they began out.

    Attributes:
        ended: Those that ended in the last iteration.
    """

    def __init__(self) -> None:
        self.ended = EndedEpisodes()
        self._began: dict[_Key, int | None] = {}

    @property
    def oldest_open(self) -> int | None:
        """The step at which the running episode began that runs longest; None: not known."""
        known = [began for began in self._began.values() if began is not None]
        return min(known) if known and len(known) == len(self._began) else None

    def add(self, fragments: list[Fragment], shaped: list[list[float]], env_steps: int) -> None:
        """Fold one iteration in, at whose end the run has had `env_steps`.

        `shaped` is what the reward model paid each episode that ended, fragment by fragment.
        """
        begins_at = env_steps - sum(fragment.steps for fragment in fragments)
        here = {
            (fragment.runner, n) for fragment in fragments for n in range(fragment.actions.shape[1])
        }
        # The games of a runner that is gone never end.
        self._began = {key: began for key, began in self._began.items() if key in here}
        self.ended = EndedEpisodes()
        for fragment, paid in zip(fragments, shaped, strict=True):
            self._fold(fragment, paid, begins_at)

    def _fold(self, fragment: Fragment, paid: list[float], begins_at: int) -> None:
        for n in range(fragment.actions.shape[1]):
            key = (fragment.runner, n)
            if not fragment.continues:
                self._began[key] = begins_at
            else:
                # Of a game from a checkpoint that did not say it is not known.
                self._began.setdefault(key, None)
        ends = zip(fragment.episodes, fragment.env_index_of_end, paid, strict=True)
        for episode, (_, n), shaped in ends:
            key = (fragment.runner, n)
            if math.isfinite(episode.reward) and not episode.is_practice:
                self.ended = self.ended.and_then(_row(episode, self._began[key], shaped))
            self._began[key] = begins_at

    def state_dict(self) -> list[tuple[int, int, int | None]]:
        return [(*key, began) for key, began in self._began.items()]

    def load_state_dict(self, state: list[Any]) -> None:
        self._began = {(runner, n): began for runner, n, began in state}


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


Corner = tuple[int, int]
"""Left and top of a picture in its room."""


@dataclass
class WorldTally:
    """Counts and places of all rooms, over all environments of a run.

    A room without a known place was never entered and is not reported.
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
        """All of it as plain values, for a checkpoint; pictures are files of the run."""
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


WINDOW = 100
"""Finished episodes over which means are taken, as RLlib does by default."""

_WINDOWS = ("returns", "shaped", "lengths", "rooms", "fractions", "reached")


@dataclass
class RunTally:
    """Counters and windows; None where there is nothing to average yet."""

    episodes: int = 0
    segments_captured: int = 0
    segments_skipped: int = 0
    segments_dropped: int = 0
    selected_by: Counter[str] = field(default_factory=Counter)
    captures_lost: str | None = None
    reward_parts: dict[str, float] = field(default_factory=dict)
    world: WorldTally = field(default_factory=WorldTally)
    _assistance: AssistanceFigures | None = None
    _assisted: AssistanceFigures = field(default_factory=AssistanceFigures)
    _windows: dict[str, deque[float]] = field(
        default_factory=lambda: {name: deque(maxlen=WINDOW) for name in _WINDOWS}
    )
    _milestones: dict[str, None] = field(default_factory=dict)
    _open: dict[tuple[int, int], float] = field(default_factory=dict)
    _cohorts: Cohorts = field(default_factory=Cohorts)

    def add(
        self, fragments: list[Fragment], learned: LearnedRewards, *, env_steps: int = 0
    ) -> None:
        self.reward_parts = {}
        shaped: list[list[float]] = []
        self.captures_lost = None
        for fragment, extra in zip(fragments, learned.shaping, strict=True):
            self.segments_captured += len(fragment.captures)
            self.segments_skipped += fragment.segments_skipped
            for name, amount in fragment.reward_parts.items():
                self.reward_parts[name] = self.reward_parts.get(name, 0.0) + amount
            shaped.append(self._fold_episodes(fragment, extra))
        self._cohorts.add(fragments, shaped, env_steps)
        self._assistance = summed(fragment.assistance for fragment in fragments)
        if self._assistance is not None:
            self._assisted += replace(self._assistance, events=[])
        for name, part in learned.statistics.items():
            if name != GAME:  # its own parts are there already
                self.reward_parts[name] = part.sum

    def note_spooled(self, why_chosen: str, why_lost: str | None) -> None:
        """A capture went into the spool, or was dropped; after `add` of its iteration."""
        self.selected_by[why_chosen] += 1
        self.segments_dropped += why_lost is not None
        self.captures_lost = why_lost or self.captures_lost

    def _fold_episodes(self, fragment: Fragment, shaping: Float32) -> list[float]:
        """Fold the episodes that ended in; gives what the reward model paid each of them."""
        paid: list[float] = []
        if not fragment.continues:
            # The games of a runner that was lost never ended: what they were paid goes with them.
            for n in range(shaping.shape[1]):
                self._open.pop((fragment.runner, n), None)
        starts = [0] * shaping.shape[1]
        for episode, (t, n) in zip(fragment.episodes, fragment.env_index_of_end, strict=True):
            key = (fragment.runner, n)
            tail = float(shaping[starts[n] : t + 1, n].sum())
            starts[n] = t + 1
            paid.append(self._open.pop(key, 0.0) + tail)
            self._milestones.update(dict.fromkeys(episode.milestones))
            if episode.is_practice:
                continue
            self._windows["shaped"].append(paid[-1])
            self._windows["returns"].append(episode.reward)
            self._windows["lengths"].append(episode.length)
            self._windows["rooms"].append(episode.rooms)
            self._windows["fractions"].append(episode.milestone_fraction)
            self._windows["reached"].append(len(episode.milestones))
            self.episodes += 1
        for n, start in enumerate(starts):
            key = (fragment.runner, n)
            self._open[key] = self._open.get(key, 0.0) + float(shaping[start:, n].sum())
        return paid

    def state_dict(self) -> dict[str, Any]:
        return {
            "counts": (self.episodes, self.segments_captured, self.segments_skipped),
            "windows": {name: list(window) for name, window in self._windows.items()},
            "dropped": self.segments_dropped,
            "selected_by": dict(self.selected_by),
            "milestones": list(self._milestones),
            "open": [(*key, amount) for key, amount in self._open.items()],
            "cohorts": self._cohorts.state_dict(),
            "assisted": self._assisted.plain(),
            "world": self.world.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.episodes, self.segments_captured, self.segments_skipped = state["counts"]
        self.segments_dropped = state.get("dropped", 0)
        self.selected_by = Counter(state.get("selected_by", {}))
        self._windows = {name: deque(state["windows"][name], maxlen=WINDOW) for name in _WINDOWS}
        self._milestones = dict.fromkeys(state["milestones"])
        self._open = {(runner, n): amount for runner, n, amount in state["open"]}
        self._assisted = AssistanceFigures.of(state.get("assisted", {}))
        self._cohorts.load_state_dict(state.get("cohorts", []))
        if "world" in state:
            self.world.load_state_dict(state["world"])

    @property
    def ended(self) -> EndedEpisodes:
        return self._cohorts.ended

    @property
    def oldest_open(self) -> int | None:
        """Step at which the running episode began that runs longest; None when it is not known."""
        return self._cohorts.oldest_open

    def assistance(self) -> AssistanceDone | None:
        """What the language model did in the last iteration; None without a planner."""
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


def _mean(values: Collection[float]) -> float | None:
    mean = float(np.mean(list(values))) if values else math.nan
    return mean if math.isfinite(mean) else None
