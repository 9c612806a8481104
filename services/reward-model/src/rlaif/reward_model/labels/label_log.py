"""The score objects in the store as labels, kept in memory and up to date.

The objects are the log: they are written once, with everything that led to the values. At start all
keys are listed, and only the objects of labels that are kept are read (`reservoir.py`).

Events are hints only. A poll reads the objects that they name and continues a listing, a limited
number of keys at a time; a lost event costs only time. Each object is read once, except scores with
excluded judges, which may be scored again.

Labels of one judge configuration are learned; those of a second one that scores as well are kept
too (`configurations.py`). A person's score of a segment (`scores/human-{n}/`, n counts the
revisions) replaces the judges' score, whatever their configuration; the highest revision counts.
People's votes on pairs (`votes.py`) count for any configuration and keep both segments as labels.
"""

from collections.abc import Iterable, Iterator

from rlaif.contracts.judging.reviews import VoteRecord
from rlaif.reward_model.labels.comparisons import ComparisonLog
from rlaif.reward_model.labels.config_labels import (
    Activity,
    ConfigLabels,
    ConfigStanding,
    choose_config,
    followed_configs,
)
from rlaif.reward_model.labels.export import LabelEntry, entry_of
from rlaif.reward_model.labels.labels import (
    LabelError,
    LabelledSegment,
    in_order,
    with_comparisons,
)
from rlaif.reward_model.labels.score_reading import Listing, ScoreReader
from rlaif.reward_model.labels.votes import VoteLog, valid_votes, with_votes
from rlaif.storage import keys
from rlaif.storage.ports import ObjectInfo, ObjectStore

KEYS_PER_POLL = 1000
"""One page of S3."""

_HUMAN_SCORES = "scores/human-"


class LabelLog:
    """Labels of one judge configuration at a time. Used by one thread at a time."""

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

        Without `judge_config` the newest configuration is learned that has `enough_labels`, or
        whose predecessor has been silent for `patience_seconds`. `most_labels` labels of judges are
        kept, and all labels of people.
        """
        self._store = store
        self._reader = ScoreReader(store)
        self._wanted = judge_config
        self._most = most_labels
        self._enough = enough_labels
        self._patience = patience_seconds
        self._votes = votes
        self._listing = Listing(store, keys.scores(judge_config or ""))
        self._configs: dict[str, ConfigLabels] = {}
        self._comparisons: dict[str, ComparisonLog] = {}
        self._people = ConfigLabels(self._reader)
        self.judge_config = judge_config

    @property
    def labels(self) -> tuple[LabelledSegment, ...]:
        """One label per segment, oldest first; a person's score replaces the judges'."""
        config = self._configs.get(self.judge_config or "")
        judged = list(config.labels.values()) if config else []
        chosen: dict[str, LabelledSegment] = {}
        for item in (*judged, *self._people.labels.values()):
            known = chosen.get(item.segment_id)
            newer = known and (item.revision, item.scored_at) > (known.revision, known.scored_at)
            if known is None or newer:
                chosen[item.segment_id] = item
        compared = self._comparisons.get(self.judge_config or "")
        found = with_comparisons(in_order(chosen.values()), compared.records if compared else ())
        return tuple(with_votes(found, self._valid_votes()))

    @property
    def compared(self) -> frozenset[tuple[str, str]]:
        """Pairs that judges compared, whatever the answer; the smaller id first."""
        log = self._comparisons.get(self.judge_config or "")
        return log.pairs if log else frozenset()

    @property
    def skipped(self) -> dict[str, int]:
        config = self._configs.get(self.judge_config or "")
        return dict(self._people.skipped + config.skipped if config else self._people.skipped)

    @property
    def standings(self) -> tuple[ConfigStanding, ...]:
        return tuple(
            ConfigStanding(
                judge_config=name,
                scores=len(config),
                labels=len(config.labels),
                learned=name == self.judge_config,
                followed=config.followed,
            )
            for name, config in sorted(self._configs.items())
        )

    def read_new(self, hints: Iterable[str] = (), *, full: bool) -> None:
        """Read new score objects, including those of `hints`. Blocks.

        `full` starts a listing of all keys; later calls continue it. The first call lists all keys
        at once. After a `StoreUnavailableError` the next call resumes.
        """
        first = not self._configs
        if full or first:
            self._listing.start()
            for compared in self._comparisons.values():
                compared.listing.start()
        if self._votes is not None:
            self._votes.read_new()
        self._sort_in(self._listing.take(None if first else KEYS_PER_POLL))
        self._hold_voted()
        self._people.listed(i for i in self._store.list(_HUMAN_SCORES) if _revision(i.key))
        for key in hints:
            self._hinted(key)
        self._people.read()
        self._follow()
        for name, compared in self._comparisons.items():
            compared.read(self._configs[name].labels.values(), KEYS_PER_POLL)

    def entries(self) -> Iterator[LabelEntry]:
        """Every score object with its provenance, from the store, by key. Blocks.

        Objects that are no label are included, with the reason.
        """
        chosen = {item.score_sha256: item for item in self.labels}
        config = self._configs.get(self.judge_config or "", self._people)
        prefixes = [_HUMAN_SCORES] if self.judge_config is None else [
            keys.scores(self.judge_config), _HUMAN_SCORES
        ]  # fmt: skip
        for key in (info.key for prefix in prefixes for info in self._store.list(prefix)):
            if keys.score_ids(key) is None:
                continue
            try:
                record, sha256 = self._reader.record(key)
            except LabelError as error:
                yield LabelEntry(score_key=key, used=False, why_not=error.reason)
                continue
            reason = config.why_not(key) or self._people.why_not(key) or "overridden"
            label = chosen.get(sha256)
            yield entry_of(
                record, key=key, sha256=sha256, why_not=None if label else reason, label=label
            )

    def _valid_votes(self) -> list[VoteRecord]:
        return valid_votes(self._votes.records) if self._votes else []

    def _hold_voted(self) -> None:
        """Keep the labels of segments with recent votes: the votes would be lost."""
        recent = [name for vote in reversed(self._valid_votes()) for name in vote.pair]
        held = frozenset(list(dict.fromkeys(recent))[: self._most // 2])
        for config in self._configs.values():
            config.held = held

    def _sort_in(self, found: Iterable[ObjectInfo]) -> None:
        """Add listed objects to their configurations; people's scores are listed separately."""
        by_config: dict[str, list[ObjectInfo]] = {}
        for info in found:
            ids = keys.score_ids(info.key)
            if ids is not None and not _revision(info.key):
                by_config.setdefault(ids[0], []).append(info)
        for name, infos in by_config.items():
            self._config(name).listed(infos)

    def _hinted(self, key: str) -> None:
        ids = keys.score_ids(key)
        if ids is None or self._wanted not in (None, ids[0]):
            return
        # People's scores are listed at every poll.
        if not _revision(key):
            newest = max((item.activity.last for item in self._configs.values()), default=0.0)
            self._config(ids[0]).hinted(key, at=newest)

    def _config(self, name: str) -> ConfigLabels:
        return self._configs.setdefault(name, ConfigLabels(self._reader, most=self._most))

    def _follow(self) -> None:
        """Read the followed configurations until none is new, and drop the labels of others."""
        names = self._followed()
        while unread := [name for name in names if not self._configs[name].followed]:
            for name in unread:
                self._configs[name].read()
            names = self._followed()
        for name in names:
            self._configs[name].read()
            self._comparisons.setdefault(name, ComparisonLog(self._store, self._reader, name))
        for name in [name for name in self._configs if name not in names]:
            self._comparisons.pop(name, None)
            if self._configs[name].followed:
                self._configs[name].forget()
        if self._wanted is None:
            self.judge_config = choose_config(
                self._activities(), enough=self._enough, patience=self._patience
            )

    def _followed(self) -> list[str]:
        if self._wanted is not None:
            return [self._wanted] if self._wanted in self._configs else []
        return followed_configs(self._activities(), enough=self._enough, patience=self._patience)

    def _activities(self) -> dict[str, Activity]:
        return {name: config.activity for name, config in self._configs.items()}


def _revision(key: str) -> int:
    """Revision of a person's score; 0 for judges' scores and other objects."""
    ids = keys.score_ids(key)
    return keys.human_revision(ids[0]) or 0 if ids else 0
