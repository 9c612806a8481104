"""The scores of judge configurations, the labels that are kept, and the configuration to learn.

Labels of different configurations are never mixed. During a rolling upgrade, judges of two
configurations score in turns; following the last scorer would discard the labels each time. So the
newer configuration is chosen once it has enough labels to train on, or once the older one has been
silent for a while. Everything is derived from the scores, so a restart gives the same answer.

Keys and times of all scores are known; an object is read only if its label is to be kept. What was
left out or dropped stays out while the process runs.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from math import inf

import numpy as np
from pydantic import BaseModel, Field

from rlaif.reward_model.labels.labels import LabelError, LabelledSegment
from rlaif.reward_model.labels.reservoir import Scored, keep
from rlaif.reward_model.labels.score_reading import DISTRUSTED, ReadLabel, ScoreReader
from rlaif.storage import keys
from rlaif.storage.ports import ObjectInfo

OLDER = "older"
"""Reason of a score that is not kept."""

_MAX_READ = 2
"""Scores that one poll reads at most, as a multiple of the labels that are kept."""


@dataclass(frozen=True)
class Activity:
    """Times of the first and last score, in seconds since 1970, and the number of labels.

    `labels` counts score objects while they have not been read.
    """

    first: float
    last: float
    labels: int


class ConfigStanding(BaseModel, frozen=True):
    """One judge configuration with scores in the store."""

    judge_config: str
    scores: int = Field(description="Known score objects.")
    labels: int = Field(description="Those kept as labels; 0 if it is not followed.")
    learned: bool = Field(description="Whether its labels are learned from now.")
    followed: bool = Field(description="Whether its labels are kept, learned from or not.")


class ConfigLabels:
    """Labels of one judge configuration; those of people form one configuration together.

    Attributes:
        followed: Whether its scores are read; else only their keys are known.
        labels: By key of the score.
        held: Segments whose labels are kept before all others.
    """

    def __init__(self, reader: ScoreReader, *, most: int | None = None) -> None:
        self._reader = reader
        self._most = most
        self._times: dict[str, float] = {}
        self._unread: set[str] = set()
        self._reasons: dict[str, str] = {}
        self._provisional: dict[str, float] = {}
        self._first, self._last = inf, 0.0
        self.followed = False
        self.labels: dict[str, LabelledSegment] = {}
        self.held: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self._times)

    @property
    def activity(self) -> Activity:
        """When it scored; there is at least one score."""
        labels = len(self.labels) + len(self._unread) if self.followed else len(self._times)
        return Activity(first=self._first, last=self._last, labels=labels)

    @property
    def skipped(self) -> Counter[str]:
        return Counter(self._reasons.values())

    def why_not(self, key: str) -> str | None:
        """Why a score object is no label; None if it is one or is unknown."""
        return self._reasons.get(key)

    def listed(self, found: Iterable[ObjectInfo]) -> None:
        for info in found:
            at = info.modified_at.timestamp()
            if info.key not in self._times or at > self._provisional.get(info.key, inf):
                self._unread.add(info.key)
            self._set_time(info.key, at)

    def hinted(self, key: str, *, at: float) -> None:
        """Add a score object that an event announced, made at `at` or later."""
        if key not in self._times or key in self._provisional:
            self._unread.add(key)
            self._set_time(key, max(at, self._last))

    def read(self) -> None:
        """Read new scores that are to be kept, and drop labels beyond the limit. Blocks.

        After a `StoreUnavailableError` the next call resumes.
        """
        self.followed = True
        if not self._unread:
            return
        # Scores that turn out to be no labels make room for others.
        budget = inf if self._most is None else _MAX_READ * self._most
        while budget > 0 and self._unread:
            wanted = self._unread & self._sample(self._unread | self.labels.keys(), self._most)
            budget -= len(wanted)
            for key, result in self._reader.each(sorted(wanted), self._reader.label):
                self._unread.discard(key)
                self._note(key, result)
            if not wanted:
                break
        self._reasons.update(dict.fromkeys(self._unread - self.labels.keys(), OLDER))
        self._unread.clear()
        for key in self.labels.keys() - self._to_keep():
            self._drop(key)
            self._reasons[key] = OLDER

    def forget(self) -> None:
        """Drop all labels; the scores would be read again."""
        self.followed = False
        self._unread = set(self._times)
        for known in (self._reasons, self._provisional, self.labels):
            known.clear()

    def _to_keep(self) -> Set[str]:
        """Labels that stay: those of the newest layout first, as only they can be learned."""
        if self._most is None or len(self.labels) <= self._most:
            return self.labels.keys()
        newest = self.labels[max(self.labels, key=lambda key: (self._times[key], key))]
        usable = {
            key for key, item in self.labels.items() if item.layout_version == newest.layout_version
        }
        kept = self._sample(usable, self._most)
        return kept | self._sample(self.labels.keys() - usable, self._most - len(kept))

    def _sample(self, scores: Set[str], most: int | None) -> Set[str]:
        """At most `most` of the scores; those of held segments among them."""
        if most is None or len(scores) <= most:
            return scores
        held = {key for key in scores if self.held and _segment_of(key) in self.held}
        candidates = [Scored(key, self._times[key], _episode_of(key)) for key in scores - held]
        times = np.sort(np.fromiter(self._times.values(), np.float64, len(self._times)))
        return held | {item.key for item in keep(candidates, times, most=most - len(held))}

    def _note(self, key: str, result: ReadLabel | LabelError) -> None:
        self._drop(key)
        if isinstance(result, LabelError):
            self._reasons[key] = result.reason
            provisional = result.reason == DISTRUSTED
        else:
            self._reasons.pop(key, None)
            # The time of a hinted score is not known from a listing yet.
            self._set_time(key, max(self._times[key], result.label.scored_at.timestamp()))
            self.labels[key] = result.label
            provisional = result.provisional
        if provisional:
            self._provisional[key] = self._times[key]

    def _set_time(self, key: str, at: float) -> None:
        self._times[key] = at
        self._first, self._last = min(self._first, at), max(self._last, at)

    def _drop(self, key: str) -> None:
        self.labels.pop(key, None)
        self._provisional.pop(key, None)


def _episode_of(key: str) -> str:
    """The episode of a score: its segment id without the last part."""
    return _segment_of(key).rpartition("-")[0]


def _segment_of(key: str) -> str:
    ids = keys.score_ids(key)
    return ids[1] if ids else key


def choose_config(
    activities: Mapping[str, Activity], *, enough: int, patience: float
) -> str | None:
    """The configuration to learn from; None without scores.

    Of those that scored in the last `patience` seconds before the newest score, the one that
    started last and has `enough` labels; if none has enough, the one that started first.
    """
    active = _active(activities, patience)
    ready = [name for name in active if activities[name].labels >= enough]
    return (ready or active)[0 if ready else -1] if active else None


def followed_configs(
    activities: Mapping[str, Activity], *, enough: int, patience: float
) -> list[str]:
    """The configuration to learn from, and the newest one that may replace it."""
    chosen = choose_config(activities, enough=enough, patience=patience)
    if chosen is None:
        return []
    return list(dict.fromkeys([chosen, _active(activities, patience)[0]]))


def _active(activities: Mapping[str, Activity], patience: float) -> list[str]:
    """Configurations that score now, the one that started last first."""
    now = max((item.last for item in activities.values()), default=0.0)
    active = [name for name, item in activities.items() if now - item.last <= patience]
    return sorted(active, key=lambda name: (-activities[name].first, name))
