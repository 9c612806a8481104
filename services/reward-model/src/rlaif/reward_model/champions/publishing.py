"""Changes the champion: publish, activate, pin, roll back, demote.

Calls of the registry block and must not overlap: they run in threads, one at a time. Each change is
published as an event.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Literal

from rlaif.contracts.events import ChampionChanged, EventData
from rlaif.contracts.reward_models import GamingAlarm
from rlaif.reward_model.champions.demotion import Demotion
from rlaif.reward_model.champions.registry import Live, ModelRegistry
from rlaif.reward_model.learning.candidate import Candidate
from rlaif.storage import keys

logger = logging.getLogger(__name__)

Why = Literal["gate", "person", "watchdog", "demotion", "start"]
"""As in `ChampionChanged`."""

_MAX_DESCRIPTION = 500
_NEVER = datetime.min.replace(tzinfo=UTC)


class Champions:
    """Changes the champion and caches it.

    Methods raise what those of the registry do: `StorageError`, `UnknownVersionError` if a version
    or the champion is missing, `RewardNetError` if its file is broken.

    Attributes:
        registry: The store; read-only for others.
        live: The champion, perhaps withdrawn; None before the first one and before the first read.
        issue: Why no model can be published now; None if one can.
    """

    def __init__(
        self,
        registry: ModelRegistry,
        *,
        announce: Callable[[EventData], Awaitable[None]],
        on_change: Callable[[Live | None], None],
        now: Callable[[], datetime],
        on_event: Callable[[ChampionChanged], None] = lambda change: None,
    ) -> None:
        """Change the champion of `registry` and publish it with `announce`.

        `on_change` is called with the champion after each change and repair, `on_event` with the
        event of each actual change.
        """
        self.registry = registry
        self._announce = announce
        self._on_change = on_change
        self._now = now
        self._on_event = on_event
        self._published: ChampionChanged | None = None
        self._lock = asyncio.Lock()
        self.live: Live | None = None
        self.issue: str | None = None

    async def heal(self) -> None:
        """Repair the registry and publish its champion again.

        The previous process may have died before it published; equal event ids are deduplicated.
        """
        async with self._lock:
            live = await asyncio.to_thread(self.registry.heal)
        self.issue = None
        self._remember(live, "start")
        if live is not None and live.pays:
            await self._announce(live.event())

    async def heal_if_lost(self) -> None:
        if await asyncio.to_thread(self.registry.sound):
            return
        self.issue = (
            f"{keys.CHAMPION} is missing or was not written by this service; rebuilding it from "
            "the published versions, see the log"
        )
        await self.heal()

    async def publish(self, candidate: Candidate, *, judge_config: str, seed: int) -> Live | None:
        """Publish a candidate as the champion; None while the champion is pinned."""
        async with self._lock:
            # A person may have pinned it during the training.
            champion = await asyncio.to_thread(self.registry.live)
            if champion is not None and champion.champion.held(self._now()):
                logger.info("%s passed, but the champion is pinned", candidate.candidate_id)
                return None
            live = await asyncio.to_thread(
                self.registry.publish, candidate, judge_config=judge_config, seed=seed
            )
        self._remember(live, "gate")
        await self._announce(live.event())
        logger.info(
            "reward model %d is live: held-out accuracy %s on %d pairs", live.manifest.version,
            candidate.metrics.heldout_accuracy, candidate.metrics.heldout_pairs,
        )  # fmt: skip
        return live

    async def activate(
        self,
        version: int,
        *,
        pin_reason: str | None = None,
        pinned_until: datetime | None = None,
        why: Why = "person",
    ) -> Live:
        """Make a published version the champion, as `ModelRegistry.activate` does."""
        async with self._lock:
            live = await asyncio.to_thread(
                self.registry.activate, version, pin_reason=pin_reason, pinned_until=pinned_until
            )
        self._remember(live, why, pin_reason)
        await self._announce(live.event())
        return live

    async def demote(self, demotion: Demotion) -> Live | None:
        """Replace the champion by an older version, or withdraw it.

        None if the champion is pinned or is another version by now: nothing changes then.
        """
        async with self._lock:
            champion = await asyncio.to_thread(self.registry.live)
            if champion is None or champion.manifest.version != demotion.version:
                return None
            if champion.champion.held(self._now()):
                logger.error("%s; it stays because it is pinned", demotion.reason)
                return None
            logger.error("%s; in its place: %s", demotion.reason, demotion.back_to or "none")
            if demotion.back_to is not None:
                live = await asyncio.to_thread(self.registry.activate, demotion.back_to)
            else:
                live = await asyncio.to_thread(self.registry.withdraw, demotion.reason)
        self._remember(live, "demotion", demotion.reason)
        if live.pays:
            await self._announce(live.event())
        return live

    async def pin(self, reason: str) -> Live:
        """Prevent candidates from replacing the champion until `unpin`."""
        async with self._lock:
            live = await asyncio.to_thread(self.registry.pin, reason)
        self._remember(live, "person", reason)
        return live

    async def unpin(self) -> Live:
        async with self._lock:
            live = await asyncio.to_thread(self.registry.unpin)
        self._remember(live, "person")
        return live

    async def roll_back(self, alarm: GamingAlarm, *, pin_for: timedelta | None) -> Live | None:
        """Activate the predecessor of the version that raised the alarm, and pin it.

        Meanwhile the judges score what the policy did to exploit the version. Candidates trained on
        these scores may go live when the pin ends: after `pin_for`, or when a person unpins it.
        None if another version is live already, or there is no predecessor.
        """
        live = await asyncio.to_thread(self.registry.live)
        if live is None or live.manifest.version != alarm.version:
            return None
        parent = live.manifest.parent_version
        if parent is None:
            logger.error("%s; there is no earlier version to roll back to", alarm.description)
            return None
        logger.error("%s; rolling back to version %d", alarm.description, parent)
        return await self.activate(
            parent,
            pin_reason=alarm.description,
            pinned_until=self._now() + pin_for if pin_for is not None else None,
            why="watchdog",
        )

    def _remember(self, live: Live | None, why: Why, description: str | None = None) -> None:
        self.live = live
        self._on_change(live)
        if live is None:
            return
        change = _change(live, why, description, self._now())
        if self._published is None or _state(change) != _state(self._published):
            self._published = change
            self._on_event(change)


def _change(live: Live, why: Why, description: str | None, now: datetime) -> ChampionChanged:
    champion = live.champion
    return ChampionChanged(
        version=champion.version,
        activation=champion.activation,
        why=why,
        words=_bounded(description),
        pinned=champion.pinned,
        pin_reason=_bounded(champion.pin_reason),
        pinned_until=champion.pinned_until,
        withdrawn=_bounded(champion.withdrawn),
        changed_at=now,
    )


def _state(change: ChampionChanged) -> ChampionChanged:
    return change.model_copy(update={"why": "start", "words": None, "changed_at": _NEVER})


def _bounded(text: str | None) -> str | None:
    if text is None or len(text) <= _MAX_DESCRIPTION:
        return text
    return f"{text[: _MAX_DESCRIPTION - 1]}\N{HORIZONTAL ELLIPSIS}"
