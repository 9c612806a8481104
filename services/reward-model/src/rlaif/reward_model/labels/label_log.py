"""The score objects in the store as labels, kept in memory and up to date.

The objects are the log: they are written once, with the provenance of the values. Events are
hints only. A poll reads the objects that they name and continues a listing, a limited number of
keys at a time, which finds those whose events were lost. Each object is read once, except
provisional scores, which may be replaced.

An object is read only if its label is to be kept. Half of the kept labels are the newest ones,
which represent the current policy but cover only half an hour of play. The other half is sampled
from all older episodes in turn. The sample depends on ids and times only, not on labels or the
split, and is the same after a restart.

Memory is bounded: scores outside a sample three times as large are dropped. A score outside the
sample of a set is also outside that of any superset. So a dropped score that is listed or
announced again is dropped again: it is neither read nor counted a second time.

Labels of different judge configurations are never mixed. During a rolling upgrade, judges of two
configurations alternate; switching to that of the newest score would discard the labels each time.
So the newer configuration is chosen once it has enough labels to train on, or once the older one
has been inactive for a while. The choice depends on the scores only, also after a restart.

A person's score of a segment (`scores/human-{n}/`, n counts the revisions) replaces the judges'
score, whatever their configuration; the highest revision counts. People's votes on pairs
(`votes.py`) count for any configuration and keep both segments as labels.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import chain
from math import inf

from pydantic import BaseModel, Field

from rlaif.contracts.judging.comparisons import ComparisonRecord
from rlaif.contracts.judging.reviews import VoteRecord
from rlaif.reward_model.labels.export import Entry, entry_of
from rlaif.reward_model.labels.labels import (
    LabelError,
    LabelledSegment,
    in_order,
    with_comparisons,
)
from rlaif.reward_model.labels.score_reading import UNREADABLE, Listing, ScoreReader
from rlaif.reward_model.labels.votes import VoteLog, valid_votes, with_votes
from rlaif.storage import keys
from rlaif.storage.ports import ObjectInfo, ObjectStore

KEYS_PER_POLL = 1000
"""One page of S3; the first poll lists all keys."""

_HUMAN_SCORES = "scores/human-"

OLDER = "older"
"""Reason code of a score that is not kept."""

_MAX_READ = 2
"""Maximum number of scores that one poll reads, as a multiple of the kept labels."""

_KNOWN = 1 + _MAX_READ
"""Scores in memory after a poll, as the same multiple; a listing may double them meanwhile."""

_SALT = b"label-reservoir"


class JudgeConfigCounts(BaseModel, frozen=True):
    """One judge configuration with scores in the store."""

    judge_config: str
    scores: int = Field(description="Score objects, as of the last complete listing.")
    labels: int = Field(
        description="Those kept as labels; 0 without recent scores, or if another one is set."
    )
    learned: bool = Field(description="Whether its labels are in use.")


class ConfigLabels:
    """Labels of one judge configuration; all scores by people form one configuration.

    Attributes:
        labels: By key of the score.
        reasons: Key → why a known score object is not a label.
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
        """Number of known scores that are labels, kept or not, or have not been read."""
        return len(self._times) - len(self.reasons)

    def listed(self, key: str, at: float, held: Set[str] = frozenset()) -> None:
        """Add a score object that was written at `at`; a provisional one may be written again."""
        if key not in self._times or (self._provisional(key) and at > self._times[key]):
            self._unread.add(key)
        self._times[key] = at
        self.first, self.last = min(self.first, at), max(self.last, at)
        if self._limit is not None and len(self._times) > 2 * _KNOWN * self._limit:
            self._forget_others(held)

    def hinted(self, key: str, at: float, held: Set[str] = frozenset()) -> None:
        """Add a score object that an event announced; `at` may be rounded down."""
        if self._provisional(key):
            self._unread.add(key)
        self.listed(key, at, held)

    def read(self, held: Set[str] = frozenset()) -> None:
        """Read new scores that are to be kept, and drop labels beyond the limit. Blocks.

        Labels of the segments in `held` are kept before all others. After a
        `StoreUnavailableError` the next call resumes.
        """
        if not self._unread:
            return
        self._forget_others(held)
        # Scores that are not labels make room for others.
        budget = inf if self._limit is None else _MAX_READ * self._limit
        while budget > 0:
            wanted = self._unread & self._sample(self._unread | self.labels.keys(), held)
            if not wanted:
                break
            budget -= len(wanted)
            for key, result in self._reader.each(sorted(wanted), self._reader.label):
                self._note(key, result)
        self._unread.clear()
        for key in self.labels.keys() - self._to_keep(held):
            del self.labels[key]

    def forget(self) -> None:
        """Drop all labels; the next `read` reads the scores again."""
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
            self.labels[key] = result

    def _forget_others(self, held: Set[str]) -> None:
        """Drop scores that are not candidates for labels."""
        if self._limit is None or len(self._times) <= _KNOWN * self._limit:
            return
        kept = self.labels.keys() | sample(self._times, _KNOWN * self._limit, held)
        for key in self._times.keys() - kept:
            del self._times[key]
            self.reasons.pop(key, None)
        self._unread &= kept

    def _to_keep(self, held: Set[str]) -> Set[str]:
        """Labels to keep: those of the newest layout first, as only they can be used."""
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


class ComparisonLog:
    """Comparisons of one judge configuration among segments that are labels.

    Attributes:
        listing: Finds new records; there is no event for them.
        seen: Key → segments that were compared, whatever the answer; the smaller id first.
        records: Without the records of their calls.
    """

    def __init__(self, store: ObjectStore, judge_config: str) -> None:
        self.listing = Listing(store, keys.comparisons(judge_config))
        self._limit: int | None = None
        self.seen: dict[str, tuple[str, str]] = {}
        self.records: list[ComparisonRecord] = []

    def read(self, reader: ScoreReader, labels: Iterable[LabelledSegment]) -> None:
        """Read new records, and drop those of segments that are not labels. Blocks."""
        known = {item.segment_id for item in labels}
        self.records = [i for i in self.records if i.first in known and i.second in known]
        self.seen = {key: pair for key, pair in self.seen.items() if known.issuperset(pair)}
        listed = ((info.key, _compared(info.key)) for info in self.listing.take(self._limit))
        self._limit = KEYS_PER_POLL
        new = {k: pair for k, pair in listed if k not in self.seen and known.issuperset(pair)}
        for key, result in reader.each(list(new), reader.comparison):
            self.seen[key] = new[key]
            if not isinstance(result, LabelError):
                self.records.append(result)


class LabelLog:
    """Labels of one judge configuration at a time. Not thread-safe."""

    def __init__(
        self,
        store: ObjectStore,
        *,
        judge_config: str | None,
        most_labels: int,
        enough_labels: int = 24,
        patience_seconds: float = 900.0,
        votes: VoteLog | None = None,
    ) -> None:
        """Read scores from `store`, the bucket of episodes, and people's votes from `votes`.

        Without `judge_config` the newest configuration is used that has `enough_labels`, or whose
        predecessor has been inactive for `patience_seconds`. `most_labels` labels of judges are
        kept, and all labels of people.
        """
        self._store = store
        self._reader = ScoreReader(store)
        self._wanted = judge_config
        self._limit = most_labels
        self._enough = enough_labels
        self._patience = patience_seconds
        self._votes = votes
        self._listing = Listing(store, keys.scores(""))
        self._configs: dict[str, ConfigLabels] = {}
        self._comparisons: dict[str, ComparisonLog] = {}
        self._people = ConfigLabels(self._reader)
        self._counting: Counter[str] = Counter()
        self._counted: Counter[str] = Counter()
        self.judge_config = judge_config

    @property
    def labels(self) -> tuple[LabelledSegment, ...]:
        """One label per segment, oldest first; a person's score replaces the judges'."""
        chosen: dict[str, LabelledSegment] = {}
        for item in (*self._learned.labels.values(), *self._people.labels.values()):
            known = chosen.get(item.segment_id)
            newer = known and (item.revision, item.scored_at) > (known.revision, known.scored_at)
            if known is None or newer:
                chosen[item.segment_id] = item
        found = with_comparisons(in_order(chosen.values()), self._learned_comparisons.records)
        return tuple(with_votes(found, self._valid_votes()))

    @property
    def compared(self) -> frozenset[tuple[str, str]]:
        """Pairs that judges compared, whatever the answer; the smaller id first."""
        return frozenset(self._learned_comparisons.seen.values())

    @property
    def skipped(self) -> dict[str, int]:
        """Reason → number of score objects that are not labels."""
        learned = self._learned
        found = Counter(chain(self._people.reasons.values(), learned.reasons.values()))
        found[OLDER] = self._scores(self.judge_config) - len(learned.labels) - len(learned.reasons)
        return dict(+found)

    @property
    def judge_configs(self) -> tuple[JudgeConfigCounts, ...]:
        return tuple(
            JudgeConfigCounts(
                judge_config=name,
                scores=self._scores(name),
                labels=len(config.labels),
                learned=name == self.judge_config,
            )
            for name, config in sorted(self._configs.items())
        )

    def read_new(self, hints: Iterable[str] = (), *, full: bool) -> None:
        """Read new score objects, including those of `hints`. Blocks.

        `full` starts a listing of all keys; later calls continue it. After a
        `StoreUnavailableError` the next call resumes.
        """
        limit = KEYS_PER_POLL if self._counted else None
        for listing in (self._listing, *(log.listing for log in self._comparisons.values())):
            listing.due = listing.due or full or limit is None
        if self._votes is not None:
            self._votes.read_new()
        held = self._held()
        self._list(limit, held)
        for info in self._store.list(_HUMAN_SCORES):
            ids = keys.score_ids(info.key)
            if ids and keys.human_revision(ids[0]):
                self._people.listed(info.key, info.modified_at.timestamp())
        for key, found in self._reader.each([*filter(self._name_of, hints)], self._store.head):
            if isinstance(found, ObjectInfo):
                self._config(self._name_of(key)).hinted(key, found.modified_at.timestamp(), held)
        self._people.read()
        self._read_active(held)

    def entries(self) -> Iterator[Entry]:
        """Yield every score object with its provenance, from the store, by key. Blocks.

        Objects that are not labels are included, with the reason.
        """
        chosen = {item.score_sha256: item for item in self.labels}
        reasons = self._people.reasons | self._learned.reasons
        kept = self._people.labels.keys() | self._learned.labels.keys()
        prefixes = [keys.scores(self.judge_config)] if self.judge_config else []
        for key in (i.key for each in (*prefixes, _HUMAN_SCORES) for i in self._store.list(each)):
            if keys.score_ids(key) is None:
                continue
            try:
                record, sha256 = self._reader.record(key)
            except LabelError as error:
                yield entry_of(key, why_not=error.reason)
                continue
            label = chosen.get(sha256)
            reason = None if label else reasons.get(key, "overridden" if key in kept else OLDER)
            yield entry_of(key, why_not=reason, record=record, sha256=sha256, label=label)

    @property
    def _learned(self) -> ConfigLabels:
        return self._configs.get(self.judge_config or "") or ConfigLabels(self._reader)

    @property
    def _learned_comparisons(self) -> ComparisonLog:
        config = self.judge_config or ""
        return self._comparisons.get(config) or ComparisonLog(self._store, config)

    def _valid_votes(self) -> list[VoteRecord]:
        return valid_votes(self._votes.records) if self._votes else []

    def _held(self) -> frozenset[str]:
        """Segments with recent votes: without their labels the votes would be lost."""
        recent = [name for vote in reversed(self._valid_votes()) for name in vote.pair]
        return frozenset(list(dict.fromkeys(recent))[: self._limit // 2])

    def _list(self, limit: int | None, held: Set[str]) -> None:
        """Continue the listing."""
        if self._listing.begins:
            self._counting.clear()
        for info in self._listing.take(limit):
            if name := self._name_of(info.key):
                self._config(name).listed(info.key, info.modified_at.timestamp(), held)
                self._counting[name] += 1
        if not self._listing.due:
            self._counted = self._counting.copy()

    def _scores(self, config: str | None) -> int:
        """Score objects of a configuration as of the last complete listing, or known since."""
        return max(self._counted[config or ""], len(self._configs.get(config or "", ())))

    def _name_of(self, key: str) -> str:
        """Configuration of a judges' score; empty for other objects."""
        ids = keys.score_ids(key)
        return ids[0] if ids and not keys.human_revision(ids[0]) else ""

    def _config(self, name: str) -> ConfigLabels:
        return self._configs.setdefault(name, ConfigLabels(self._reader, limit=self._limit))

    def _read_active(self, held: Set[str]) -> None:
        """Read the active configurations, drop the labels of others, and choose one."""
        active = self._active()
        for name, config in self._configs.items():
            if name not in active:
                if config.labels or config.reasons:
                    config.forget()
                self._comparisons.pop(name, None)
                continue
            config.read(held)
            compared = self._comparisons.setdefault(name, ComparisonLog(self._store, name))
            compared.read(self._reader, config.labels.values())
        if self._wanted is None:
            ready = [name for name in active if self._configs[name].usable >= self._enough]
            self.judge_config = (ready[0] if ready else active[-1]) if active else None

    def _active(self) -> list[str]:
        """Configurations that scored within the patience before the newest score.

        The one that started last comes first.
        """
        if self._wanted is not None:
            return [self._wanted] if self._wanted in self._configs else []
        newest = max((item.last for item in self._configs.values()), default=0.0)
        active = [n for n, item in self._configs.items() if newest - item.last <= self._patience]
        return sorted(active, key=lambda name: (-self._configs[name].first, name))


def _compared(key: str) -> tuple[str, str]:
    """The segments that a comparison's key names."""
    first, _, second = key.rpartition("/")[2].removesuffix(".json").partition("--")
    return first, second


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
    return {*first, *newest, *_round_robin(older)[: room // 2]}


def _round_robin(scores: list[str]) -> list[str]:
    """The scores, one per episode in each round, by hash within a round."""
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
