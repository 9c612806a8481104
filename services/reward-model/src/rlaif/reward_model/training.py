"""The one task that trains: looks for labels, decides when, trains beside the loop, publishes.

Nothing here depends on an event having arrived. An event wakes the task early; without any, it
looks every few seconds.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

import torch

from rlaif.bus.errors import BusUnavailableError
from rlaif.bus.ports import Publisher
from rlaif.contracts.events import EventData, RewardModelRejected
from rlaif.contracts.reward_models import GateMetrics
from rlaif.reward_model.champions.comparison import Comparison, compare
from rlaif.reward_model.champions.registry import Live, ModelRegistry
from rlaif.reward_model.champions.reward_hacking_monitor import Alarm
from rlaif.reward_model.labels.export import LabelEntry
from rlaif.reward_model.labels.label_log import LabelLog
from rlaif.reward_model.labels.labels import LabelledSegment, label_digest, of_newest_layout
from rlaif.reward_model.learning.candidate import (
    Candidate,
    ChampionToBeat,
    ComparedPair,
    train_candidate,
)
from rlaif.reward_model.learning.settings import CandidateSettings, settings_digest
from rlaif.reward_model.metrics import RewardModelMetrics
from rlaif.reward_net.errors import RewardNetError
from rlaif.reward_net.potential import PotentialFunction
from rlaif.storage import keys
from rlaif.storage.ports import StorageError

logger = logging.getLogger(__name__)


Outcome = Literal["published", "rejected", "unchanged", "held"]


@dataclass(frozen=True)
class TrainingRules:
    """When it looks and when it trains; `RewardModelSettings` explains each."""

    retrain_min_new: int = 12
    poll_seconds: float = 10.0
    relist_seconds: float = 120.0
    threads: int = 1
    rollback_pin: timedelta | None = timedelta(minutes=30)


@dataclass(frozen=True)
class Attempt:
    """One training and how it ended.

    Attributes:
        outcome: `published`, `rejected`, `unchanged`: the champion was made of these labels, or
            `held`: it passed, and the champion is pinned.
        version: The version that was published; None otherwise.
        reasons: Why it was rejected.
        seconds: Time of the fit and the gate.
    """

    candidate_id: str
    outcome: Outcome
    version: int | None
    reasons: tuple[str, ...]
    metrics: GateMetrics
    labels: int
    episodes: int
    seconds: float
    ended_at: datetime


@dataclass(frozen=True)
class Need:
    """Something that the next training takes, met or not: so many `found`, so many at `least`."""

    what: str
    found: int
    least: int


@dataclass(frozen=True)
class TrainingStatus:
    """Where the training stands.

    Attributes:
        state: `training` or `idle`.
        judge_config: Whose scores are learned; None before the first score.
        labels: Labels of the newest observation layout.
        new_labels: Those that no attempt has used.
        episodes: Episodes of the labels.
        needs: What the next training takes until it starts by itself.
        pairs: Decided held-out pairs of the last attempt, of which the gate wants so many; more
            labels bring more. None before the first attempt.
        skipped: Reason → score objects that are no label.
        last_attempt: The newest attempt of this process; None before the first.
        last_rejection: The newest that was rejected; None when none was.
    """

    state: Literal["idle", "training"]
    judge_config: str | None
    labels: int
    new_labels: int
    episodes: int
    needs: tuple[Need, ...]
    pairs: Need | None
    skipped: dict[str, int]
    last_attempt: Attempt | None
    last_rejection: Attempt | None

    @property
    def waiting_for(self) -> tuple[str, ...]:
        """What is missing until the next training starts by itself."""
        return tuple(
            f"{need.found} {need.what}, needs {need.least}"
            for need in self.needs
            if need.found < need.least
        )


class Training:
    """Turns labels into champions."""

    def __init__(
        self,
        log: LabelLog,
        registry: ModelRegistry,
        publisher: Publisher,
        settings: CandidateSettings,
        rules: TrainingRules,
        metrics: RewardModelMetrics,
        *,
        now: Callable[[], datetime],
    ) -> None:
        """Learn the labels of `log`, publish to `registry`, and tell of it through `publisher`."""
        self._log = log
        self._registry = registry
        self._publisher = publisher
        self._settings = settings
        self._rules = rules
        self._metrics = metrics
        self._now = now
        self._registry_lock = asyncio.Lock()
        self._tell_lock = asyncio.Lock()
        self._wake = asyncio.Event()
        self._stopping = False
        self._hints: set[str] = set()
        self._requested = False
        self._next_full = float("-inf")
        self._labels: list[LabelledSegment] = []
        self._judge_config: str | None = None
        self._skipped: dict[str, int] = {}
        self._attempted: frozenset[str] | None = None
        self._live: Live | None = None
        self._untold: list[EventData] = []
        self._busy = False
        self._last: Attempt | None = None
        self._last_rejection: Attempt | None = None
        self._pairs: tuple[ComparedPair, ...] = ()
        self._trouble: str | None = None

    @property
    def labels(self) -> list[LabelledSegment]:
        """The labels, as of the last look, oldest first."""
        return self._labels

    @property
    def live(self) -> Live | None:
        """The champion; None before the first, and before the store was asked."""
        return self._live

    @property
    def pairs(self) -> tuple[ComparedPair, ...]:
        """The pairs of the last attempt."""
        return self._pairs

    @property
    def trouble(self) -> str | None:
        """Why no model can be published now; None when one can."""
        return self._trouble

    def hint(self, score_key: str) -> None:
        """Look soon: there is a new score object."""
        self._hints.add(score_key)
        self._wake.set()

    def request(self) -> None:
        """Train soon, however few labels are new."""
        self._requested = True
        self._wake.set()

    def stop(self) -> None:
        """Ask `run` to end after the training that runs now."""
        self._stopping = True
        self._wake.set()

    async def run(self) -> None:
        """Heal the registry, then look, train and tell until `stop`.

        Raises:
            StorageError: The registry could not be healed; run again.
        """
        # Told again: perhaps the process before died just before this; the id makes it harmless.
        await self._heal()
        while not self._stopping:
            self._wake.clear()
            try:
                await self.step()
            except StorageError as error:
                logger.warning("the store failed; trying again: %s", error)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._rules.poll_seconds):
                    await self._wake.wait()

    async def step(self) -> None:
        """Mend the champion, tell what is untold, look for labels, and train when it is time."""
        if not await asyncio.to_thread(self._registry.sound):
            self._trouble = (
                f"{keys.CHAMPION} is gone or was not written by this service; rebuilding it from "
                "the versions in the store, see the log"
            )
            await self._heal()
        await self._tell()
        await self._look()
        if self._labels and (self._requested or not self.status().waiting_for):
            self._requested = False
            await self._attempt()
            await self._tell()

    async def activate(
        self,
        version: int,
        *,
        pin_reason: str | None = None,
        pinned_until: datetime | None = None,
    ) -> Live:
        """Make a published version the champion.

        Args:
            version: Which.
            pin_reason: Why no candidate may replace it; None does not pin.
            pinned_until: When the pin ends by itself; None: when a person unpins it.

        Raises:
            UnknownVersionError: There is no such version.
            RewardNetError: Its file is broken.
            StorageError: The store failed.
        """
        async with self._registry_lock:
            live = await asyncio.to_thread(
                self._registry.activate,
                version,
                pin_reason=pin_reason,
                pinned_until=pinned_until,
            )
        self._crown(live)
        self._untold.append(live.event())
        await self._tell()
        return live

    async def pin(self, reason: str | None) -> Live:
        """Pin the champion, or let candidates replace it again and train soon.

        Args:
            reason: Why it is pinned; None unpins it.

        Raises:
            UnknownVersionError: There is no champion.
            StorageError: The store failed.
        """
        async with self._registry_lock:
            if reason is None:
                live = await asyncio.to_thread(self._registry.unpin)
            else:
                live = await asyncio.to_thread(self._registry.pin, reason)
        self._crown(live)
        if reason is None:
            self.request()
        return live

    async def roll_back(self, alarm: Alarm) -> Live | None:
        """Go back to the version before the one that raised the alarm, and pin it for a while.

        Meanwhile the judges see what the policy did to please the version that is gone; candidates
        that have learned from it may replace the older one when the pin ends.

        Returns:
            The champion now; None when another version is live already, or there is none before.
        """
        live = await asyncio.to_thread(self._registry.live)
        if live is None or live.manifest.version != alarm.version:
            return None
        parent = live.manifest.parent_version
        if parent is None:
            logger.error("%s; there is no version before it to go back to", alarm.reason)
            return None
        logger.error("%s; going back to version %d", alarm.reason, parent)
        pin = self._rules.rollback_pin
        return await self.activate(
            parent,
            pin_reason=alarm.reason,
            pinned_until=self._now() + pin if pin is not None else None,
        )

    async def compare(self, first: int, second: int) -> Comparison:
        """Two published versions on the held-out side of the labels of now.

        Raises:
            UnknownVersionError: There is no such version.
            RewardNetError: One cannot read the labels' layout.
            StorageError: The store failed.
        """
        labels = self._labels
        layout = labels[0].layout_version if labels else None

        def both() -> Comparison:
            loaded = [
                self._registry.potential(
                    version,
                    layout_version=layout or self._registry.manifest(version).spec.layout_version,
                )
                for version in (first, second)
            ]
            return compare(labels, loaded[0], loaded[1], self._settings)

        return await asyncio.to_thread(both)

    def entries(self) -> Iterator[LabelEntry]:
        """Every score object with its provenance. Blocks while it is read."""
        return self._log.entries()

    def status(self) -> TrainingStatus:
        """Where the training stands."""
        return TrainingStatus(
            state="training" if self._busy else "idle",
            judge_config=self._judge_config,
            labels=len(self._labels),
            new_labels=self._new_labels(),
            episodes=len({item.episode_id for item in self._labels}),
            needs=self._needs(),
            pairs=self._pairs_found(),
            skipped=self._skipped,
            last_attempt=self._last,
            last_rejection=self._last_rejection,
        )

    async def _heal(self) -> None:
        """Make the registry whole, and tell of the champion that it has then."""
        async with self._registry_lock:
            live = await asyncio.to_thread(self._registry.heal)
        self._trouble = None
        if live is not None:
            self._untold.append(live.event())
        self._crown(live)

    async def _look(self) -> None:
        clock = asyncio.get_running_loop().time
        full = clock() >= self._next_full
        hints, self._hints = self._hints, set()
        try:
            await asyncio.to_thread(self._log.look, hints, full=full)
        except StorageError:
            self._hints |= hints
            raise
        if full:
            self._next_full = clock() + self._rules.relist_seconds
        labels = self._log.labels
        self._labels = of_newest_layout(labels) if labels else []
        # Copies: the next look changes the log in another thread while the API reads.
        self._judge_config, self._skipped = self._log.judge_config, self._log.skipped
        self._metrics.looked(len(self._labels), self._skipped)
        if self._attempted is None:
            live = await asyncio.to_thread(self._registry.live)
            learned = live is not None and live.manifest.label_digest == label_digest(self._labels)
            self._attempted = self._ids() if learned else frozenset()

    async def _attempt(self) -> None:
        labels = self._labels
        live = await asyncio.to_thread(self._registry.live)
        self._busy = True
        started = time.perf_counter()
        try:
            candidate = await asyncio.to_thread(self._train, labels, live)
        finally:
            self._busy = False
        seconds = time.perf_counter() - started
        self._attempted = frozenset(item.score_sha256 for item in labels)
        self._pairs = candidate.pairs
        version = None
        outcome: Outcome = "rejected"
        if candidate.passed and live is not None and _made_of(live, candidate):
            outcome = "unchanged"
        elif candidate.passed:
            version = await self._publish(candidate)
            outcome = "published" if version is not None else "held"
        else:
            self._reject(candidate)
        self._last = Attempt(
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
            self._last_rejection = self._last

    def _train(self, labels: list[LabelledSegment], live: Live | None) -> Candidate:
        torch.set_num_threads(self._rules.threads)
        return train_candidate(
            labels,
            settings=self._settings,
            champion=self._champion_to_beat(live, labels[0].layout_version),
        )

    def _champion_to_beat(self, live: Live | None, layout_version: str) -> ChampionToBeat | None:
        """The champion; None when it cannot be compared on these observations.

        A fit begins with its weights when it was made by the same settings: then its held-out
        episodes were the same, and it has seen none of them.
        """
        if live is None:
            return None
        manifest = live.manifest
        try:
            net = self._registry.network(manifest.version, layout_version=layout_version)
        except RewardNetError as error:
            logger.warning("no comparison with champion %d: %s", manifest.version, error)
            return None
        lineage = manifest.lineage
        alike = (
            lineage is not None
            and lineage.settings_digest == settings_digest(self._settings)
            and manifest.judge_config == (self._judge_config or "unknown")
        )
        return ChampionToBeat(
            PotentialFunction(net), net if alike else None, f"version {manifest.version}"
        )

    async def _publish(self, candidate: Candidate) -> int | None:
        """Give the candidate a version and make it the champion; None when that one is pinned."""
        async with self._registry_lock:
            # Asked again here: a person may have pinned it while the candidate was trained.
            champion = await asyncio.to_thread(self._registry.live)
            if champion is not None and champion.champion.held(self._now()):
                logger.info("%s passed, but the champion is pinned", candidate.candidate_id)
                return None
            live = await asyncio.to_thread(
                self._registry.publish,
                candidate,
                judge_config=self._judge_config or "unknown",
                seed=self._settings.seed,
            )
        version = live.manifest.version
        self._crown(live)
        self._untold.append(live.event())
        logger.info(
            "reward model %d is live: held-out accuracy %s on %d pairs",
            version, candidate.metrics.heldout_accuracy, candidate.metrics.heldout_pairs,
        )  # fmt: skip
        return version

    def _crown(self, live: Live | None) -> None:
        """Remember which model is live: one process writes the champion, so nobody has to ask."""
        self._live = live
        self._metrics.champion(
            live.manifest.version if live else None, pinned=bool(live and live.champion.pinned)
        )

    def _reject(self, candidate: Candidate) -> None:
        logger.info("%s rejected: %s", candidate.candidate_id, "; ".join(candidate.reasons))
        self._untold.append(
            RewardModelRejected(
                candidate_id=candidate.candidate_id,
                reasons=candidate.reasons,
                labels=candidate.labels,
                episodes=candidate.episodes,
                heldout_accuracy=candidate.metrics.heldout_accuracy,
            )
        )

    async def _tell(self) -> None:
        """Publish what is untold, in order; what NATS does not take now is told later."""
        async with self._tell_lock:
            while self._untold:
                try:
                    await self._publisher.publish(self._untold[0])
                except BusUnavailableError as error:
                    logger.warning("an event waits: %s", error)
                    return
                self._untold.pop(0)

    def _needs(self) -> tuple[Need, ...]:
        gate = self._settings.gate
        return (
            Need("labels", len(self._labels), gate.min_labels),
            Need("episodes", len({item.episode_id for item in self._labels}), gate.min_episodes),
            Need("new labels", self._new_labels(), self._rules.retrain_min_new),
        )

    def _pairs_found(self) -> Need | None:
        if self._last is None:
            return None
        least = self._settings.gate.min_heldout_pairs
        return Need("pairs", self._last.metrics.heldout_pairs, least)

    def _new_labels(self) -> int:
        return len(self._ids() - (self._attempted or frozenset()))

    def _ids(self) -> frozenset[str]:
        return frozenset(item.score_sha256 for item in self._labels)


def _made_of(live: Live, candidate: Candidate) -> bool:
    """Whether the champion was made of the candidate's labels by the same settings.

    A champion whose record does not say its settings counts as made by others.
    """
    ours, theirs = candidate.lineage, live.manifest.lineage
    return (
        ours is not None
        and theirs is not None
        and (live.manifest.label_digest, theirs.settings_digest)
        == (candidate.label_digest, ours.settings_digest)
    )
