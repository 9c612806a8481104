"""Running figures of a run: fragments in, what is reported out."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from rlaif.trainer.env.fragment import Fragment
from rlaif.trainer.rewards.shaping import Float32

WINDOW = 100
"""Finished episodes over which means are taken, as RLlib does by default."""


@dataclass
class RunFigures:
    """Counters and windows; None where there is nothing to average yet."""

    episodes: int = 0
    segments_captured: int = 0
    segments_skipped: int = 0
    reward_parts: dict[str, float] = field(default_factory=dict)
    _returns: deque[float] = field(default_factory=lambda: deque(maxlen=WINDOW))
    _shaped: deque[float] = field(default_factory=lambda: deque(maxlen=WINDOW))
    _lengths: deque[int] = field(default_factory=lambda: deque(maxlen=WINDOW))
    _rooms: deque[int] = field(default_factory=lambda: deque(maxlen=WINDOW))
    _open: dict[tuple[int, int], float] = field(default_factory=dict)

    def add(self, fragments: list[Fragment], shaping: list[Float32]) -> None:
        """Fold one iteration in."""
        self.reward_parts = {}
        for fragment, extra in zip(fragments, shaping, strict=True):
            self.segments_captured += len(fragment.captures)
            self.segments_skipped += fragment.segments_skipped
            for name, amount in fragment.reward_parts.items():
                self.reward_parts[name] = self.reward_parts.get(name, 0.0) + amount
            self.reward_parts["shaping"] = self.reward_parts.get("shaping", 0.0) + float(
                extra.sum()
            )
            self._fold_episodes(fragment, extra)

    def _fold_episodes(self, fragment: Fragment, shaping: Float32) -> None:
        starts = [0] * shaping.shape[1]
        for episode, (t, n) in zip(fragment.episodes, fragment.env_index_of_end, strict=True):
            key = (fragment.runner, n)
            tail = float(shaping[starts[n] : t + 1, n].sum())
            self._shaped.append(self._open.pop(key, 0.0) + tail)
            starts[n] = t + 1
            self._returns.append(episode.reward)
            self._lengths.append(episode.length)
            self._rooms.append(episode.rooms)
            self.episodes += 1
        for n, start in enumerate(starts):
            key = (fragment.runner, n)
            self._open[key] = self._open.get(key, 0.0) + float(shaping[start:, n].sum())

    @property
    def return_mean(self) -> float | None:
        """Mean of the game's own reward over the window."""
        return _mean(self._returns)

    @property
    def shaped_mean(self) -> float | None:
        """Mean of the undiscounted shaping reward over the window."""
        return _mean(self._shaped)

    @property
    def length_mean(self) -> float | None:
        """Mean episode length in decision steps."""
        return _mean(self._lengths)

    @property
    def rooms_mean(self) -> float | None:
        """Mean of distinct rooms an episode."""
        return _mean(self._rooms)


def _mean(values: Iterable[float]) -> float | None:
    listed = list(values)
    return float(np.mean(listed)) if listed else None
