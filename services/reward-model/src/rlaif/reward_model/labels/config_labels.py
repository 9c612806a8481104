"""The scores of one judge configuration: when each was made, and the labels that are kept of them.

Every score's key and time is known; its object is read only when its label is to be kept. A score
is read once: what was left out, or dropped for newer ones, stays out while the process runs.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from datetime import UTC, datetime
from math import inf

import numpy as np
from numpy.typing import NDArray

from rlaif.reward_model.labels.configurations import Activity
from rlaif.reward_model.labels.kept_labels import KeptOfConfig
from rlaif.reward_model.labels.labels import LabelError, LabelledSegment
from rlaif.reward_model.labels.reservoir import Candidate, keep
from rlaif.reward_model.labels.score_reading import DISTRUSTED, ReadLabel, ScoreReader
from rlaif.storage import keys
from rlaif.storage.ports import ObjectInfo

OLDER = "older"
"""Reason of a score that the reservoir left out."""

_STALE = 1.01
"""Growth of the scores after which their times are sorted again: ages need not be exact."""

_MOST_READ = 2
"""Scores that one look reads at most, over the labels that are to be kept."""


class ConfigLabels:
    """Labels of one configuration; a person's configurations are one together.

    Attributes:
        followed: Whether its scores are read; else only their keys are known.
        labels: By key of the score.
        changes: Labels that came.
        held: Segments whose labels are kept before all others.
    """

    def __init__(self, reader: ScoreReader, *, most: int | None = None) -> None:
        """Keep `most` labels, or all."""
        self._reader = reader
        self._most = most
        self._times: dict[str, float] = {}
        self._ever = np.empty(0)
        self._unread: set[str] = set()
        self._reasons: dict[str, str] = {}
        self._kinds: dict[str, str] = {}
        self._recalled: dict[str, str] = {}
        self._provisional: dict[str, float] = {}
        self._began, self._last = inf, 0.0
        self.followed = False
        self.labels: dict[str, LabelledSegment] = {}
        self.changes = 0
        self.held: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self._times)

    @property
    def activity(self) -> Activity:
        """When it scored; there is at least one score."""
        labels = len(self.labels) + len(self._unread) if self.followed else len(self._times)
        return Activity(began=self._began, last=self._last, labels=labels)

    @property
    def skipped(self) -> Counter[str]:
        """Reason → score objects that are no label."""
        return Counter(self._reasons.values())

    def why_not(self, key: str) -> str | None:
        """Why a score object is no label; None when it is one, or is not known."""
        return self._reasons.get(key)

    def listed(self, found: Iterable[ObjectInfo]) -> None:
        """Note what a listing showed."""
        for info in found:
            at = info.modified_at.timestamp()
            if info.key not in self._times or at > self._provisional.get(info.key, inf):
                self._unread.add(info.key)
            self._at(info.key, at)

    def hinted(self, key: str, *, at: float) -> None:
        """Note that there is a score object that was made just now, at `at` or later."""
        if key in self._times and key not in self._provisional:
            return
        self._unread.add(key)
        self._at(key, max(at, self._last))

    def kept(self) -> KeptOfConfig:
        """What another process has to know to keep the same labels."""
        until = datetime.fromtimestamp(self._last, UTC)
        kinds = {item.segment_id: self._kinds[key] for key, item in self.labels.items()}
        return KeptOfConfig(kinds=kinds, until=until)

    def recall(self, kept: KeptOfConfig) -> None:
        """Before the first `read`: of the scores up to then, only these are still candidates."""
        if self._most is None or len(kept.kinds) < self._most:
            return  # nothing was left out
        until = kept.until.timestamp()
        segments = {_segment_of(key): key for key in self._unread}
        self._recalled = {segments[i]: kind for i, kind in kept.kinds.items() if i in segments}
        older = {key for key in self._unread if self._times[key] <= until} - self._recalled.keys()
        older -= self._held_of(older)
        self._unread -= older
        self._reasons.update(dict.fromkeys(older, OLDER))

    def read(self) -> None:
        """Read the new scores whose labels are to be kept, and drop labels beyond `most`. Blocks.

        After a `StoreUnavailableError` the next call resumes.
        """
        self.followed = True
        if not self._unread:
            return
        ever = self._all_times()
        # What is no label makes room for another one; but where hardly any is, the search ends.
        budget = inf if self._most is None else _MOST_READ * self._most
        while budget > 0 and (wanted := self._worth_reading(ever)):
            budget -= len(wanted)
            before = len(self._reasons)
            for key, result in self._reader.each(wanted, self._reader.label):
                self._unread.discard(key)
                self._note(key, result)
            if len(self._reasons) == before:
                break  # all are labels, so that there is no room for others
        self._reasons.update(dict.fromkeys(self._unread - self.labels.keys(), OLDER))
        self._unread.clear()
        self._recalled.clear()
        for key in self.labels.keys() - self._to_keep(ever):
            self._drop(key)
            self._reasons[key] = OLDER

    def forget(self) -> None:
        """Drop all labels; the scores would be read again."""
        self.followed = False
        self._unread = set(self._times)
        for known in (self._reasons, self._kinds, self._recalled, self._provisional, self.labels):
            known.clear()

    def _all_times(self) -> NDArray[np.float64]:
        """Sorted times of all scores, `[N]`; those of the last few may be missing."""
        if len(self._times) > _STALE * len(self._ever):
            times = np.fromiter(self._times.values(), np.float64, len(self._times))
            self._ever = np.sort(times)
        return self._ever

    def _worth_reading(self, ever: NDArray[np.float64]) -> list[str]:
        """New scores that would be kept if they showed what most others show, in order."""
        kept = self._sample(self._unread | self.labels.keys(), ever, self._recalled, self._most)
        return sorted(self._unread & kept)

    def _to_keep(self, ever: NDArray[np.float64]) -> Set[str]:
        """Labels that stay: of the newest layout first, as only these can be learned from.

        The others have the room that is left: one segment of another layout throws nothing away.
        """
        if self._most is None or len(self.labels) <= self._most:
            return self.labels.keys()
        newest = self.labels[max(self.labels, key=lambda key: (self._times[key], key))]
        usable = {
            key for key, item in self.labels.items() if item.layout_version == newest.layout_version
        }
        kept = self._sample(usable, ever, self._kinds, self._most)
        others, room = self.labels.keys() - usable, self._most - len(kept)
        return kept | self._sample(others, ever, self._kinds, room)

    def _sample(
        self,
        every: Set[str],
        ever: NDArray[np.float64],
        kinds: Mapping[str, str],
        most: int | None,
    ) -> Set[str]:
        """At most `most` of `every`, those that are held among them."""
        if most is None or len(every) <= most:
            return every
        held = self._held_of(every)
        candidates = [
            Candidate(key, self._times[key], _episode_of(key), kinds.get(key, ""))
            for key in every - held
        ]
        return held | {item.key for item in keep(candidates, ever, most=most - len(held))}

    def _held_of(self, every: Set[str]) -> set[str]:
        return {key for key in every if _segment_of(key) in self.held} if self.held else set()

    def _note(self, key: str, result: ReadLabel | LabelError) -> None:
        self._drop(key)
        if isinstance(result, LabelError):
            self._reasons[key] = result.reason
            provisional = result.reason == DISTRUSTED
        else:
            self._reasons.pop(key, None)
            self.changes += 1
            # Of a score that was not listed yet this is all that is known of its time.
            self._at(key, max(self._times[key], result.label.scored_at.timestamp()))
            self.labels[key] = result.label
            self._kinds[key] = result.kind
            provisional = result.provisional
        if provisional:
            self._provisional[key] = self._times[key]

    def _at(self, key: str, at: float) -> None:
        self._times[key] = at
        self._began, self._last = min(self._began, at), max(self._last, at)

    def _drop(self, key: str) -> None:
        for known in (self.labels, self._kinds, self._provisional):
            known.pop(key, None)


def _episode_of(key: str) -> str:
    """The episode of a score, read or not: its segment's id without the last part."""
    return _segment_of(key).rpartition("-")[0]


def _segment_of(key: str) -> str:
    ids = keys.score_ids(key)
    return ids[1] if ids else key
