"""Running figures of a run: fragments in, what is reported out."""

import math
from collections import Counter, deque
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rlaif.contracts.run_figures import RunFigures
from rlaif.contracts.run_points import EndedEpisodes
from rlaif.trainer.learner.algorithm.learner_rewards import GAME, LearnedRewards
from rlaif.trainer.learner.cohorts import Cohorts
from rlaif.trainer.learner.world_tally import WorldTally
from rlaif.trainer.play.assist.figures import AssistanceFigures, summed
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.rewards.learned.shaping import Float32
from rlaif.trainer.run_folder.protocol import AssistanceDone

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
            self._assisted.add(replace(self._assistance, events=[]))
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
