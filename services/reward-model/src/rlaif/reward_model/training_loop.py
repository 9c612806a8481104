"""The one task that trains: looks for labels, decides when, trains in a thread, publishes.

Nothing here depends on an event having arrived. An event wakes the task early; without any, it
looks every few seconds.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

import torch

from rlaif.bus.outbox import Outbox
from rlaif.contracts.events import ChampionChanged, RewardModelRejected
from rlaif.pacing.pause import pause
from rlaif.reward_model.champions.demotion import find_demotion
from rlaif.reward_model.champions.publishing import Champions
from rlaif.reward_model.champions.registry import ChampionConflictError, Live, ModelRegistry
from rlaif.reward_model.champions.wanted_list import WantedList
from rlaif.reward_model.labels.configurations import ConfigStanding
from rlaif.reward_model.labels.export import LabelEntry
from rlaif.reward_model.labels.label_log import LabelLog
from rlaif.reward_model.labels.labels import LabelledSegment, label_digest, of_newest_layout
from rlaif.reward_model.labels.votes import vote_digest, vote_ids
from rlaif.reward_model.learning.asking import pairs_to_ask
from rlaif.reward_model.learning.candidate import Candidate, ComparedPair, train_candidate
from rlaif.reward_model.learning.exam import ChampionToBeat
from rlaif.reward_model.learning.gate import Need, label_needs
from rlaif.reward_model.learning.settings import CandidateSettings, settings_digest
from rlaif.reward_model.metrics import RewardModelMetrics
from rlaif.reward_model.settings import TrainingSettings
from rlaif.reward_model.training_status import Attempt, Outcome, TrainingStatus
from rlaif.reward_net.errors import RewardNetError
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.potential import PotentialFunction
from rlaif.storage.ports import StorageError

logger = logging.getLogger(__name__)

_NO_JUDGE_CONFIG = "unknown"


class TrainingLoop:
    """Turns labels into champions.

    Attributes:
        labels: As of the last look, oldest first.
        pairs: Those of the last attempt.
        net: The network of the last attempt, whatever the gate said; None before the first.
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
        wanted: WantedList | None = None,
        on_champion_change: Callable[[ChampionChanged], None] = lambda change: None,
    ) -> None:
        """Learn the labels of `log`, publish to `registry`, and send events to `outbox`.

        Pairs that judges should compare go to `wanted`.
        """
        self._log = log
        self._outbox = outbox
        self.champions = Champions(
            registry,
            announce=self._outbox.publish,
            on_change=metrics.champion_changed,
            now=now,
            on_event=on_champion_change,
        )
        self.settings = settings
        self._timing = timing
        self._metrics = metrics
        self._now = now
        self._wanted = wanted
        self._wake = asyncio.Event()
        self._stopping = False
        self._hints: set[str] = set()
        self._requested = False
        self._next_full = float("-inf")
        self.labels: list[LabelledSegment] = []
        self.pairs: tuple[ComparedPair, ...] = ()
        self.net: RewardNet | None = None
        self._judge_config: str | None = None
        self._skipped: dict[str, int] = {}
        self._standings: tuple[ConfigStanding, ...] = ()
        self._attempted: frozenset[str] | None = None
        self._busy = False
        self._last: Attempt | None = None
        self._last_rejection: Attempt | None = None
        self._demotion: str | None = None

    def entries(self) -> Iterator[LabelEntry]:
        """Every score object with its provenance. Blocks while it is read."""
        return self._log.entries()

    def hint(self, score_key: str) -> None:
        """Look soon: there is a new score object."""
        self._hints.add(score_key)
        self._wake.set()

    def look_soon(self) -> None:
        """Look soon: people voted, or took a vote back."""
        self._wake.set()

    @property
    def judge_config(self) -> str | None:
        """Whose scores are learned; None before the first."""
        return self._judge_config

    @property
    def votes(self) -> int:
        """Pairs of labels that people compared."""
        return len(vote_ids(self.labels))

    def request(self) -> None:
        """Train soon, however few labels are new."""
        self._requested = True
        self._wake.set()

    def stop(self) -> None:
        """Ask `run` to end after the training that runs now."""
        self._stopping = True
        self._wake.set()

    async def run(self) -> None:
        """Heal the registry, then look, train and publish until `stop`.

        A `StorageError` says that the registry could not be healed: run again.
        """
        await self.champions.heal()
        while not self._stopping:
            self._wake.clear()
            try:
                await self.step()
            except ChampionConflictError as error:
                # What the other process made of it counts; of ours, what that leaves.
                logger.error("%s", error)
                await self.champions.heal()
            except StorageError as error:
                logger.warning("the store failed; trying again: %s", error)
            await pause(self._timing.poll_seconds, unless=self._wake)

    async def step(self) -> None:
        """Mend the champion, publish what waits, look for labels, and train when it is time."""
        await self.champions.heal_if_lost()
        await self._outbox.flush()
        await self._read_labels()
        if self.labels and (self._requested or not self.status().waiting_for):
            self._requested = False
            await self._attempt()

    def status(self) -> TrainingStatus:
        """Where the training stands."""
        episodes = len({item.episode_id for item in self.labels})
        gate, new = self.settings.gate, len(self._ids() - (self._attempted or frozenset()))
        return TrainingStatus(
            state="training" if self._busy else "idle",
            judge_config=self._judge_config,
            labels=len(self.labels),
            new_labels=new,
            episodes=episodes,
            votes=self.votes,
            needs=(
                *label_needs(len(self.labels), episodes, gate),
                Need("new labels", new, self._timing.retrain_min_new),
            ),
            pairs=(
                Need("pairs", self._last.metrics.heldout_pairs, gate.min_heldout_pairs)
                if self._last
                else None
            ),
            skipped=self._skipped,
            judge_configs=self._standings,
            last_attempt=self._last,
            last_rejection=self._last_rejection,
            demotion=self._demotion,
        )

    async def _read_labels(self) -> None:
        clock = asyncio.get_running_loop().time
        full = clock() >= self._next_full
        hints, self._hints = self._hints, set()
        try:
            await asyncio.to_thread(self._look, hints, full)
        except StorageError:
            self._hints |= hints
            raise
        if full:
            self._next_full = clock() + self._timing.relist_seconds
        self._metrics.looked(len(self.labels), self._skipped)
        if self._attempted is None:
            live = await asyncio.to_thread(self.champions.registry.live)
            learned = live is not None and live.manifest.label_digest == label_digest(self.labels)
            self._attempted = self._learned_ids(live) if live and learned else frozenset()

    def _look(self, hints: set[str], full: bool) -> None:
        """Read what is new, and copy what the API shows: the next look changes the log."""
        self._log.read_new(hints, full=full)
        labels = self._log.labels
        self.labels = of_newest_layout(labels) if labels else []
        self._judge_config, self._skipped = self._log.judge_config, self._log.skipped
        self._standings = self._log.standings

    async def _attempt(self) -> None:
        labels = self.labels
        live = await asyncio.to_thread(self.champions.registry.live)
        self._busy = True
        started = time.perf_counter()
        try:
            candidate = await asyncio.to_thread(self._train, labels, live)
        finally:
            self._busy = False
        seconds = time.perf_counter() - started
        self._attempted = _ids_of(labels)
        self.pairs, self.net = candidate.pairs, candidate.net or self.net
        outcome, version = await self._decide(candidate, live)
        if outcome != "published" and live is not None:
            await self._examine_again(live, candidate)
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
        if self._wanted is not None and candidate.net is not None:
            await asyncio.to_thread(self._ask_for_comparisons, self._wanted, candidate.net, labels)

    def _ask_for_comparisons(
        self, wanted: WantedList, net: RewardNet, labels: list[LabelledSegment]
    ) -> None:
        """Tell the judges which pairs the networks cannot agree about; a refused one asks, too."""
        pairs = pairs_to_ask(net, labels, self._log.compared, self.settings)
        wanted.write(self._judge_config or _NO_JUDGE_CONFIG, pairs)

    def _train(self, labels: list[LabelledSegment], live: Live | None) -> Candidate:
        torch.set_num_threads(self._timing.threads)
        return train_candidate(
            labels,
            settings=self.settings,
            champion=self._champion_to_beat(live, labels[0].layout_version),
            new_labels=self._new_labels(),
        )

    def _new_labels(self) -> int:
        """New labels since the look before; after a start, as many as a look waits for."""
        if self._attempted is None or self._last is None:
            return self._timing.retrain_min_new
        return len(self._ids() - self._attempted)

    def _champion_to_beat(self, live: Live | None, layout_version: str) -> ChampionToBeat | None:
        """The champion; None when it cannot be compared on these observations."""
        if live is None or not live.pays:
            return None
        manifest = live.manifest
        try:
            net = self.champions.registry.network(manifest.version, layout_version=layout_version)
        except RewardNetError as error:
            logger.warning("no comparison with champion %d: %s", manifest.version, error)
            return None
        recipe = settings_digest(self.settings), self._judge_config or _NO_JUDGE_CONFIG
        alike = (manifest.settings_digest, manifest.judge_config) == recipe
        return ChampionToBeat(PotentialFunction(net), proved=alike)

    async def _decide(self, candidate: Candidate, live: Live | None) -> tuple[Outcome, int | None]:
        """(what becomes of a candidate, the version that it became)."""
        # First, because a second look at the same labels has a stricter level, and proves nothing.
        if live and live.pays and self._is_made_of_the_same(candidate, live):
            return "unchanged", None
        if not candidate.passed:
            await self._reject(candidate)
            return "rejected", None
        published = await self.champions.publish(
            candidate, judge_config=self._judge_config or _NO_JUDGE_CONFIG, seed=self.settings.seed
        )
        return ("published", published.manifest.version) if published else ("held", None)

    def _is_made_of_the_same(self, candidate: Candidate, live: Live) -> bool:
        """Whether the champion learned the same labels, comparisons and votes by the settings."""
        theirs, ours = live.manifest.lineage, candidate.lineage
        compared = (
            (lineage.comparisons, lineage.vote_digest) if lineage else (0, None)
            for lineage in (theirs, ours)
        )
        return (
            live.manifest.label_digest == candidate.label_digest
            and live.manifest.settings_digest == settings_digest(self.settings)
            and len(set(compared)) == 1
        )

    async def _examine_again(self, live: Live, candidate: Candidate) -> None:
        """Take the champion out of use if the labels that came after it surely speak against it."""
        if candidate.folds is None:
            return
        found = await asyncio.to_thread(
            find_demotion, self.champions.registry, live, candidate.folds, self.settings
        )
        if found is None or await self.champions.demote(found) is None:
            return
        self._demotion = found.reason
        self._metrics.demoted()
        await self._outbox.publish(
            RewardModelRejected(
                candidate_id=f"version-{found.version}-activation-{found.activation}",
                reasons=(
                    f"{found.reason}; "
                    + (
                        f"version {found.back_to} is live again"
                        if found.back_to
                        else "none is live"
                    ),
                ),
                labels=candidate.labels,
                episodes=candidate.episodes,
            )
        )

    async def _reject(self, candidate: Candidate) -> None:
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

    def _ids(self) -> frozenset[str]:
        return _ids_of(self.labels)

    def _learned_ids(self, live: Live) -> frozenset[str]:
        """What the champion knows of these labels: all of them, and the votes if they are equal."""
        lineage = live.manifest.lineage
        same_votes = vote_digest(self.labels) == (lineage.vote_digest if lineage else None)
        return self._ids() if same_votes else self._ids() - vote_ids(self.labels)


def _ids_of(labels: Sequence[LabelledSegment]) -> frozenset[str]:
    """One word for each label, and one for each pair that people voted on."""
    return frozenset(item.score_sha256 for item in labels) | vote_ids(labels)
