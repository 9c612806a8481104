"""The training task: polls labels, decides when to train, and publishes passing candidates.

Events only wake it early; without any, it polls the store periodically.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from rlaif.bus.outbox import Outbox
from rlaif.contracts.events import RewardModelRejected
from rlaif.contracts.judging.comparisons import WantedComparisons
from rlaif.pacing.pause import pause
from rlaif.reward_model.champions.demotion import find_demotion
from rlaif.reward_model.champions.publishing import Champions
from rlaif.reward_model.champions.registry import ChampionConflictError, Live, ModelRegistry
from rlaif.reward_model.labels.export import Entry
from rlaif.reward_model.labels.label_log import JudgeConfigCounts, LabelLog
from rlaif.reward_model.labels.labels import (
    LabelledSegment,
    label_digest,
    of_newest_layout,
    vote_digest,
    vote_ids,
)
from rlaif.reward_model.learning.candidate import Candidate, ComparedPair, compared_pairs
from rlaif.reward_model.learning.fit.sides import split_sides
from rlaif.reward_model.learning.gate.checks import label_checks
from rlaif.reward_model.learning.pair_selection import pairs_to_compare
from rlaif.reward_model.learning.settings import (
    MIN_HELDOUT_PAIRS,
    CandidateSettings,
    settings_digest,
)
from rlaif.reward_model.metrics import RewardModelMetrics
from rlaif.reward_model.settings import TrainingSettings
from rlaif.reward_model.status import Attempt, Need, Outcome, TrainingStatus
from rlaif.reward_model.training_process import Request, TrainingFailedError
from rlaif.reward_net.errors import RewardNetError
from rlaif.reward_net.potential import PotentialFunction
from rlaif.reward_net.weights import Weighted
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore, StorageError

logger = logging.getLogger(__name__)

_MAX_FAILURES = 3
"""Failed trainings after which the next one waits for new labels."""

_NO_JUDGE_CONFIG = "unknown"


@dataclass
class _Signals:
    """Requests to the task."""

    wake: asyncio.Event = field(default_factory=asyncio.Event)
    hints: set[str] = field(default_factory=set)
    train: bool = False
    stop: bool = False
    next_listing: float = float("-inf")


@dataclass(frozen=True)
class _Known:
    """Labels as of the last poll, oldest first."""

    labels: list[LabelledSegment] = field(default_factory=list)
    judge_config: str | None = None
    skipped: dict[str, int] = field(default_factory=dict)
    judge_configs: tuple[JudgeConfigCounts, ...] = ()


@dataclass
class _Results:
    """Results of this process.

    `trained` are the ids of the labels of the last training; None before the first poll. `failures`
    counts the trainings without a candidate since the last one with one.
    """

    trained: frozenset[str] | None = None
    busy: bool = False
    failures: int = 0
    failure: str | None = None
    pairs: tuple[ComparedPair, ...] = ()
    net: Weighted | None = None
    last: Attempt | None = None
    last_rejection: Attempt | None = None
    demotion: str | None = None


class TrainingLoop:
    """Makes champions from labels.

    Attributes:
        champions: Changes the live model.
        settings: Decide the outcome of a training.
    """

    def __init__(
        self,
        log: LabelLog,
        registry: ModelRegistry,
        outbox: Outbox,
        settings: CandidateSettings,
        timing: TrainingSettings,
        metrics: RewardModelMetrics,
        *,
        now: Callable[[], datetime],
        models: ObjectStore | None = None,
        train: Callable[[Request], Awaitable[Candidate]],
    ) -> None:
        """Train on the labels of `log` with `train`, publish to `registry`, report to `outbox`.

        Pairs that judges should compare are written to `models`.
        """
        self._train = train
        self._log = log
        self._outbox = outbox
        self.champions = Champions(
            registry, announce=outbox.publish, on_change=metrics.champion_changed, now=now
        )
        self.settings = settings
        self._timing = timing
        self._metrics = metrics
        self._now = now
        self._models = models
        self._signals = _Signals()
        self._known = _Known()
        self._results = _Results()

    @property
    def labels(self) -> list[LabelledSegment]:
        return self._known.labels

    def pairs(self) -> tuple[ComparedPair, ...]:
        """Of the last training; before the first of this process, of the labels. Blocks."""
        return self._results.pairs or compared_pairs(split_sides(self.labels, self.settings))

    @property
    def net(self) -> Weighted | None:
        """The network of the last training, passed or not; None before the first."""
        return self._results.net

    @property
    def failure(self) -> str | None:
        """Why the last training gave no candidate; None if it gave one."""
        return self._results.failure

    @property
    def judge_config(self) -> str | None:
        """The judge configuration in use; None before the first score."""
        return self._known.judge_config

    @property
    def votes(self) -> int:
        return len(vote_ids(self.labels))

    def entries(self) -> Iterator[Entry]:
        """Every score object with its provenance. Blocks while it is read."""
        return self._log.entries()

    def hint(self, score_key: str) -> None:
        """Poll soon: there is a new score object."""
        self._signals.hints.add(score_key)
        self.wake()

    def wake(self) -> None:
        self._signals.wake.set()

    def request(self) -> None:
        self._signals.train = True
        self.wake()

    def stop(self) -> None:
        """End `run` after the current training."""
        self._signals.stop = True
        self.wake()

    async def run(self) -> None:
        """Repair the registry, then poll, train and publish until `stop`.

        A `StorageError` means that the registry could not be repaired: call it again.
        """
        await self.champions.heal()
        while not self._signals.stop:
            self._signals.wake.clear()
            try:
                await self.step()
            except ChampionConflictError as error:
                logger.error("%s", error)
                await self.champions.heal()
            except StorageError as error:
                logger.warning("object store failed, will retry: %s", error)
            await pause(self._timing.poll_seconds, unless=self._signals.wake)

    async def step(self) -> None:
        """Repair a lost champion, publish waiting events, poll labels, and train if it is due."""
        await self.champions.heal_if_lost()
        await self._outbox.flush()
        await self._poll()
        if self.labels and (self._signals.train or not self.status().waiting_for):
            self._signals.train = False
            await self._attempt()

    def status(self) -> TrainingStatus:
        known, results = self._known, self._results
        episodes = len({item.episode_id for item in known.labels})
        new = len(_ids_of(known.labels) - (results.trained or frozenset()))
        enough = label_checks(len(known.labels), episodes, self.settings.gate)
        last = results.last
        return TrainingStatus(
            state="training" if results.busy else "idle",
            judge_config=known.judge_config,
            labels=len(known.labels),
            new_labels=new,
            episodes=episodes,
            votes=self.votes,
            needs=(
                *map(Need.of, enough),
                Need(what="new labels", found=new, least=self._timing.retrain_min_new),
            ),
            pairs=last
            and Need(what="pairs", found=last.metrics.heldout_pairs, least=MIN_HELDOUT_PAIRS),
            skipped=known.skipped,
            judge_configs=known.judge_configs,
            last_attempt=last,
            last_rejection=results.last_rejection,
            demotion=results.demotion,
        )

    def champion_network(self, layout_version: str | None = None) -> Weighted | None:
        """The live network for a layout (of the labels by default); None without one. Blocks."""
        layout = layout_version or (self.labels[0].layout_version if self.labels else None)
        try:
            return self._network(self.champions.live, layout) if layout else None
        except StorageError as error:
            logger.info("the champion is not used: %s", error)
            return None

    def _network(self, live: Live | None, layout_version: str) -> Weighted | None:
        if live is None or not live.pays:
            return None
        version = live.manifest.version
        try:
            return self.champions.registry.network(version, layout_version=layout_version)
        except RewardNetError as error:
            logger.warning("champion %d is not used: %s", version, error)
            return None

    async def _poll(self) -> None:
        clock, signals = asyncio.get_running_loop().time, self._signals
        full = clock() >= signals.next_listing
        hints, signals.hints = signals.hints, set()
        try:
            self._known = await asyncio.to_thread(self._read, hints, full)
        except StorageError:
            signals.hints |= hints
            raise
        if full:
            signals.next_listing = clock() + self._timing.relist_seconds
        self._metrics.polled(len(self.labels), self._known.skipped)
        if self._results.trained is None:
            live = await asyncio.to_thread(self.champions.registry.live)
            learned = live is not None and live.manifest.label_digest == label_digest(self.labels)
            self._results.trained = self._trained_ids(live) if live and learned else frozenset()

    def _read(self, hints: set[str], full: bool) -> _Known:
        """A snapshot: the next poll changes the log."""
        self._log.read_new(hints, full=full)
        labels = self._log.labels
        return _Known(
            labels=of_newest_layout(labels) if labels else [],
            judge_config=self._log.judge_config,
            skipped=self._log.skipped,
            judge_configs=self._log.judge_configs,
        )

    async def _attempt(self) -> None:
        labels, results = self.labels, self._results
        live = await asyncio.to_thread(self.champions.registry.live)
        results.busy = True
        started = time.perf_counter()
        try:
            champion = await asyncio.to_thread(self._potential, live, labels[0].layout_version)
            candidate = await self._train(Request(labels, self.settings, champion))
        except TrainingFailedError as error:
            self._fail(error, labels)
            return
        finally:
            results.busy = False
        results.failures, results.failure = 0, None
        seconds = time.perf_counter() - started
        results.trained = _ids_of(labels)
        results.pairs, results.net = candidate.pairs, candidate.net or results.net
        outcome, version = await self._decide(candidate, live)
        if outcome != "published" and live is not None:
            await self._reexamine(live, candidate)
        results.last = Attempt(
            candidate_id=candidate.candidate_id,
            outcome=outcome,
            version=version,
            reasons=candidate.reasons,
            metrics=candidate.metrics,
            labels=candidate.labels,
            episodes=candidate.episodes,
            seconds=seconds,
            ended_at=self._now(),
        )
        self._metrics.attempted(candidate, outcome, seconds)
        if outcome == "rejected":
            results.last_rejection = results.last
        if self._models is not None and candidate.net is not None:
            await asyncio.to_thread(self._write_wanted, self._models, candidate.net, labels)

    def _potential(self, live: Live | None, layout_version: str) -> PotentialFunction | None:
        champion = self._network(live, layout_version)
        return PotentialFunction(champion) if champion is not None else None

    def _fail(self, error: TrainingFailedError, labels: list[LabelledSegment]) -> None:
        """Report the failure; after every third in a row, wait for new labels."""
        logger.error("%s", error)
        results = self._results
        results.failure = str(error)
        results.failures += 1
        if results.failures % _MAX_FAILURES == 0:
            results.trained = _ids_of(labels)

    def _write_wanted(
        self, models: ObjectStore, net: Weighted, labels: list[LabelledSegment]
    ) -> None:
        """Request comparisons of pairs that the networks disagree about, also after a rejection."""
        wanted = WantedComparisons(
            judge_config=self.judge_config or _NO_JUDGE_CONFIG,
            pairs=pairs_to_compare(net, labels, self._log.compared, self.settings),
            created_at=self._now(),
        )
        data = wanted.model_dump_json().encode()
        try:
            models.put(keys.WANTED_COMPARISONS, data, content_type="application/json")
        except StorageError as error:  # judges then compare other pairs
            logger.info("could not write the pairs to compare: %s", error)

    async def _decide(self, candidate: Candidate, live: Live | None) -> tuple[Outcome, int | None]:
        if live and live.pays and self._is_same(candidate, live):
            return "unchanged", None
        if not candidate.passed:
            logger.info("%s rejected: %s", candidate.candidate_id, "; ".join(candidate.reasons))
            await self._outbox.publish(
                RewardModelRejected(
                    candidate_id=candidate.candidate_id,
                    reasons=candidate.reasons,
                    labels=candidate.labels,
                    episodes=candidate.episodes,
                    heldout_accuracy=candidate.metrics.heldout_accuracy,
                    metrics=candidate.metrics,
                )
            )
            return "rejected", None
        published = await self.champions.publish(
            candidate, judge_config=self.judge_config or _NO_JUDGE_CONFIG, seed=self.settings.seed
        )
        return ("published", published.manifest.version) if published else ("held", None)

    def _is_same(self, candidate: Candidate, live: Live) -> bool:
        """Whether the champion was made from the same labels, comparisons, votes and settings."""
        found = [
            (made.label_digest, digest, (of.comparisons, of.vote_digest) if of else (0, None))
            for made, digest, of in (
                (live.manifest, live.manifest.settings_digest, live.manifest.lineage),
                (candidate, settings_digest(self.settings), candidate.lineage),
            )
        ]
        return found[0] == found[1]

    async def _reexamine(self, live: Live, candidate: Candidate) -> None:
        """Withdraw the champion if newer labels significantly contradict it."""
        if candidate.folds is None:
            return
        found = await asyncio.to_thread(
            find_demotion, self.champions.registry, live, candidate.folds, self.settings
        )
        if found is None or await self.champions.demote(found) is None:
            return
        self._results.demotion = found.reason
        self._metrics.demoted()
        instead = f"version {found.back_to} is live again" if found.back_to else "none is live"
        await self._outbox.publish(
            RewardModelRejected(
                candidate_id=f"version-{found.version}-activation-{found.activation}",
                reasons=(f"{found.reason}; {instead}",),
                labels=candidate.labels,
                episodes=candidate.episodes,
            )
        )

    def _trained_ids(self, live: Live) -> frozenset[str]:
        """Ids that the champion was trained on: all labels, and the votes if they are equal."""
        lineage, every = live.manifest.lineage, _ids_of(self.labels)
        same_votes = vote_digest(self.labels) == (lineage.vote_digest if lineage else None)
        return every if same_votes else every - vote_ids(self.labels)


def _ids_of(labels: Sequence[LabelledSegment]) -> frozenset[str]:
    return frozenset(item.score_sha256 for item in labels) | vote_ids(labels)
