"""The score objects of the store as labels, kept in memory and kept up to date.

The objects are the log: written once, with everything that led to the value in them. What is kept
here is made of them again after every start. A start lists all keys and reads the objects of those
labels only that are kept (`reservoir.py`).

Events are hints only: a look reads the objects that they name, and goes on with a listing that is
taken a piece at a time, so a lost event costs time and nothing else. Each object is read once, but
for scores that distrusted judges gave: those may be judged again.

Labels of one judge configuration are learned; those of a second one that scores as well are kept
beside them (`configurations.py`).

What a person said of a segment (`scores/human-{n}/`, n counts the revisions) takes the place of
what the judges said, whatever their configuration; the highest revision counts. What people said of
two of them (`vote_log.py`) counts beside any configuration, and both segments stay labels.
"""

from collections.abc import Iterable, Iterator

from rlaif.contracts.votes import VoteRecord
from rlaif.reward_model.labels.comparison_log import ComparisonLog
from rlaif.reward_model.labels.config_labels import ConfigLabels
from rlaif.reward_model.labels.configurations import (
    Activity,
    ConfigStanding,
    choose_config,
    followed_configs,
)
from rlaif.reward_model.labels.export import LabelEntry, entry_of
from rlaif.reward_model.labels.kept_labels import KeptLabels, load_kept, save_kept
from rlaif.reward_model.labels.labels import (
    LabelError,
    LabelledSegment,
    in_order,
    with_comparisons,
)
from rlaif.reward_model.labels.listing import Listing
from rlaif.reward_model.labels.score_reading import ScoreReader
from rlaif.reward_model.labels.vote_log import VoteLog
from rlaif.reward_model.labels.votes import standing_votes, with_votes
from rlaif.storage import keys
from rlaif.storage.ports import ObjectInfo, ObjectStore

KEYS_A_LOOK = 1000
"""Keys that a look lists: one page of S3."""

_HUMAN_SCORES = "scores/human-"

_SAVED_SHARE = 1 / 16
"""Share of the labels that must be new before what is kept is written again."""


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
        memory: ObjectStore | None = None,
        votes: VoteLog | None = None,
    ) -> None:
        """Read from `store`, the episodes' bucket; `memory`, the models', says what is kept.

        People's word about pairs comes from `votes`.

        Without `judge_config` the newest configuration counts that has `enough_labels`, or whose
        forerunner has been silent for `patience_seconds`. Of the judges' labels `most_labels` are
        kept, of people's all.
        """
        self._store = store
        self._reader = ScoreReader(store)
        self._wanted = judge_config
        self._most = most_labels
        self._enough = enough_labels
        self._patience = patience_seconds
        self._memory = memory
        self._votes = votes
        self._saved = 0
        self._listing = Listing(store, keys.scores(judge_config or ""))
        self._configs: dict[str, ConfigLabels] = {}
        self._comparisons: dict[str, ComparisonLog] = {}
        self._people = ConfigLabels(self._reader)
        self.judge_config = judge_config

    @property
    def labels(self) -> tuple[LabelledSegment, ...]:
        """One label a segment, oldest first; what a person said counts before the judges."""
        config = self._configs.get(self.judge_config or "")
        judged = list(config.labels.values()) if config else []
        chosen: dict[str, LabelledSegment] = {}
        for item in (*judged, *self._people.labels.values()):
            known = chosen.get(item.segment_id)
            newer = known and (item.revision, item.scored_at) > (known.revision, known.scored_at)
            if known is None or newer:
                chosen[item.segment_id] = item
        compared = self._comparisons.get(self.judge_config or "")
        beside = with_comparisons(in_order(chosen.values()), compared.records if compared else ())
        return tuple(with_votes(beside, self._standing()))

    @property
    def compared(self) -> frozenset[tuple[str, str]]:
        """Segments that judges were shown side by side, whatever they said; smaller ids first."""
        log = self._comparisons.get(self.judge_config or "")
        return log.pairs if log else frozenset()

    @property
    def skipped(self) -> dict[str, int]:
        """Reason → score objects that are no label."""
        config = self._configs.get(self.judge_config or "")
        return dict(self._people.skipped + config.skipped if config else self._people.skipped)

    @property
    def standings(self) -> tuple[ConfigStanding, ...]:
        """The configurations that scored, by name."""
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
        """Read the score objects that are new, those of `hints` among them. Blocks.

        `full` begins a round through all keys, as the first call does; later calls go on with it.
        The first call takes all of them at once. After a `StoreUnavailableError` the next call
        resumes.
        """
        first = not self._configs
        kept = load_kept(self._memory) if first and self._memory is not None else KeptLabels()
        if full or first:
            self._listing.begin()
            for compared in self._comparisons.values():
                compared.begin()
        if self._votes is not None:
            self._votes.read_new()
        self._sort_in(self._listing.take(None if first else KEYS_A_LOOK))
        self._hold_voted()
        self._recall(kept)
        self._people.listed(i for i in self._store.list(_HUMAN_SCORES) if _revision(i.key))
        for key in hints:
            self._hinted(key)
        self._people.read()
        self._follow()
        for name, compared in self._comparisons.items():
            compared.read(self._configs[name].labels.values(), KEYS_A_LOOK)
        self._remember()

    def entries(self) -> Iterator[LabelEntry]:
        """Every score object with its provenance, from the store, by key. Blocks.

        Those that are no label are among them, and say why: nothing is left out of the log.
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

    def _standing(self) -> list[VoteRecord]:
        return standing_votes(self._votes.records) if self._votes else []

    def _hold_voted(self) -> None:
        """Let no segment be dropped that people voted on lately: the vote would be lost."""
        lately = [name for vote in reversed(self._standing()) for name in vote.pair]
        held = frozenset(list(dict.fromkeys(lately))[: self._most // 2])
        for config in self._configs.values():
            config.held = held

    def _recall(self, kept: KeptLabels) -> None:
        for name, known in kept.configs.items():
            if name in self._configs:
                self._configs[name].recall(known)

    def _remember(self) -> None:
        """Write what is kept when enough of it is new."""
        changes = sum(config.changes for config in self._configs.values())
        if self._memory is None or changes - self._saved < self._most * _SAVED_SHARE:
            return
        followed = {name: item for name, item in self._configs.items() if item.followed}
        save_kept(
            self._memory, KeptLabels(configs={name: i.kept() for name, i in followed.items()})
        )
        self._saved = changes

    def _sort_in(self, found: Iterable[ObjectInfo]) -> None:
        """Note listed objects by the configuration that made them; people's are listed apart."""
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
        # People's scores are listed at every look.
        if not _revision(key):
            newest = max((item.activity.last for item in self._configs.values()), default=0.0)
            self._config(ids[0]).hinted(key, at=newest)

    def _config(self, name: str) -> ConfigLabels:
        return self._configs.setdefault(name, ConfigLabels(self._reader, most=self._most))

    def _follow(self) -> None:
        """Read the configurations that are followed until none is new, and drop the others'."""
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
    """Which revision of a person's label, 0 for those of judges and for what is no score."""
    ids = keys.score_ids(key)
    return keys.human_revision(ids[0]) or 0 if ids else 0
