"""The scores of one judge configuration and the labels that are kept of them.

Keys and times of all scores are known; an object is read only if its label is to be kept. Half of
the kept labels are the newest ones, which show the present policy. Alone they would be half an hour
of play; the other half is a sample of all older episodes, which take turns. The sample depends on
names only: neither labels nor the split have an influence, and a restart draws the same one.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Set
from math import inf

from rlaif.reward_model.labels.labels import LabelError, LabelledSegment
from rlaif.reward_model.labels.score_reading import UNREADABLE, ScoreReader
from rlaif.storage import keys

OLDER = "older"
"""Reason of a score that is not kept."""

_MAX_READ = 2
"""Scores that one poll reads at most, as a multiple of the labels that are kept."""

_SALT = b"label-reservoir"


class ConfigLabels:
    """Labels of one judge configuration; those of people form one configuration together.

    Attributes:
        labels: By key of the score.
        reasons: Key → why a score object is no label.
        first, last: Times of the first and the last score, in seconds since 1970.
    """

    def __init__(self, reader: ScoreReader, *, limit: int | None = None) -> None:
        self._reader = reader
        self._limit = limit
        self._times: dict[str, float] = {}
        self._unread: set[str] = set()
        self.first, self.last = inf, 0.0
        self.labels: dict[str, LabelledSegment] = {}
        self.reasons: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._times)

    @property
    def usable(self) -> int:
        """Number of scores that are labels, kept or not, or have not been read."""
        return len(self._times) - sum(reason != OLDER for reason in self.reasons.values())

    def listed(self, key: str, at: float) -> None:
        """Add a score object that was written at `at`; a provisional one may be written again."""
        if key not in self._times or (self._provisional(key) and at > self._times[key]):
            self._unread.add(key)
        self._set_time(key, at)

    def hinted(self, key: str, at: float) -> None:
        """Add a score object that an event announced, written at `at` or later."""
        if key not in self._times or self._provisional(key):
            self._unread.add(key)
            self._set_time(key, max(at, self.last))

    def read(self, held: Set[str] = frozenset()) -> None:
        """Read new scores that are to be kept, and drop labels beyond the limit. Blocks.

        Labels of the segments in `held` are kept before all others. After a
        `StoreUnavailableError` the next call resumes.
        """
        if not self._unread:
            return
        # Scores that turn out to be no labels make room for others.
        budget = inf if self._limit is None else _MAX_READ * self._limit
        while budget > 0:
            wanted = self._unread & self._sample(self._unread | self.labels.keys(), held)
            if not wanted:
                break
            budget -= len(wanted)
            for key, result in self._reader.each(sorted(wanted), self._reader.label):
                self._note(key, result)
        self.reasons.update(dict.fromkeys(self._unread - self.labels.keys(), OLDER))
        self._unread.clear()
        for key in self.labels.keys() - self._to_keep(held):
            del self.labels[key]
            self.reasons[key] = OLDER

    def forget(self) -> None:
        """Drop all labels; the scores would be read again."""
        self._unread = set(self._times)
        self.reasons.clear()
        self.labels.clear()

    def _provisional(self, key: str) -> bool:
        label = self.labels.get(key)
        return self.reasons.get(key) == UNREADABLE or (label is not None and label.provisional)

    def _note(self, key: str, result: LabelledSegment | LabelError) -> None:
        self._unread.discard(key)
        self.labels.pop(key, None)
        self.reasons.pop(key, None)
        if isinstance(result, LabelError):
            self.reasons[key] = result.reason
        else:
            # The time of a hinted score is not known from a listing yet.
            self._set_time(key, max(self._times[key], result.scored_at.timestamp()))
            self.labels[key] = result

    def _set_time(self, key: str, at: float) -> None:
        self._times[key] = at
        self.first, self.last = min(self.first, at), max(self.last, at)

    def _to_keep(self, held: Set[str]) -> Set[str]:
        """Labels that stay: those of the newest layout first, as only they can be learned."""
        if self._limit is None or len(self.labels) <= self._limit:
            return self.labels.keys()
        newest = self.labels[max(self.labels, key=lambda key: (self._times[key], key))]
        usable = {k for k, i in self.labels.items() if i.layout_version == newest.layout_version}
        kept = self._sample(usable, held)
        others = {key: self._times[key] for key in self.labels.keys() - usable}
        return kept | sample(others, self._limit - len(kept), held)

    def _sample(self, scores: Set[str], held: Set[str]) -> Set[str]:
        if self._limit is None:
            return scores
        return sample({key: self._times[key] for key in scores}, self._limit, held)


def sample(times: Mapping[str, float], limit: int, held: Set[str] = frozenset()) -> Set[str]:
    """At most `limit` of the scores, of which each has a time; see the module.

    Those of the segments in `held` are among them.
    """
    if len(times) <= limit:
        return times.keys()
    first = {key for key in times if held and _segment_of(key) in held}
    room = max(0, limit - len(first))
    by_age = sorted(times.keys() - first, key=lambda key: (times[key], key), reverse=True)
    newest, older = by_age[: room - room // 2], by_age[room - room // 2 :]
    return {*first, *newest, *_taking_turns(older)[: room // 2]}


def _taking_turns(scores: list[str]) -> list[str]:
    """The scores in the order of their hashes, but a second one of an episode after all firsts."""
    turns: Counter[str] = Counter()
    ranked = []
    for mixed, key in sorted((_hash(key), key) for key in scores):
        episode = _segment_of(key).rpartition("-")[0]
        ranked.append((turns[episode], mixed, key))
        turns[episode] += 1
    return [key for _, _, key in sorted(ranked)]


def _segment_of(key: str) -> str:
    ids = keys.score_ids(key)
    return ids[1] if ids else key


def _hash(name: str) -> bytes:
    return hashlib.blake2b(name.encode(), digest_size=8, key=_SALT).digest()
