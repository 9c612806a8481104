"""The champion, as the one process that changes it knows it: publish, activate, pin, roll back.

The registry's calls block and must not meet: here they run in threads, one at a time, and the event
of each change is handed on.
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

_MOST_WORDS = 500
_NEVER = datetime.min.replace(tzinfo=UTC)


class Champions:
    """Changes the champion, and remembers it, so that nobody has to ask the store.

    Methods raise what those of the registry do: `StorageError`, `UnknownVersionError` where a
    version or the champion is missing, `RewardNetError` where its file is broken.

    Attributes:
        registry: What is in the store; to be read only.
        live: The champion, perhaps withdrawn; None before the first, and before the store was
            asked.
        trouble: Why no model can be published now; None when one can.
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
        """Change the champion of `registry`, and `announce` the event of each change.

        `on_change` takes the champion after each change, and each time that it was healed;
        `on_event` takes the event of a change that differs from the one before.
        """
        self.registry = registry
        self._announce = announce
        self._on_change = on_change
        self._now = now
        self._on_event = on_event
        self._told: ChampionChanged | None = None
        self._lock = asyncio.Lock()
        self.live: Live | None = None
        self.trouble: str | None = None

    async def heal(self) -> None:
        """Make the registry whole, and publish the champion that it has then again.

        Perhaps the process before died just before it did; the event's id makes it harmless.
        """
        async with self._lock:
            live = await asyncio.to_thread(self.registry.heal)
        self.trouble = None
        self._remember(live, "start")
        if live is not None and live.pays:
            await self._announce(live.event())

    async def heal_if_lost(self) -> None:
        """Heal a champion that somebody deleted or overwrote."""
        if await asyncio.to_thread(self.registry.sound):
            return
        self.trouble = (
            f"{keys.CHAMPION} is gone or was not written by this service; rebuilding it from "
            "the versions in the store, see the log"
        )
        await self.heal()

    async def publish(self, candidate: Candidate, *, judge_config: str, seed: int) -> Live | None:
        """Give a candidate a version and make it the champion; None while that one is pinned."""
        async with self._lock:
            # Asked here: a person may have pinned it while the candidate was trained.
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
        """Take the champion out of use for what was found of it since it went live.

        The version before that still holds goes live in its place, or none. None when the champion
        is pinned, or is another one by now: nothing is changed then.
        """
        async with self._lock:
            champion = await asyncio.to_thread(self.registry.live)
            if champion is None or champion.manifest.version != demotion.version:
                return None
            if champion.champion.held(self._now()):
                logger.error("%s; it is pinned, and stays", demotion.reason)
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
        """Let no candidate replace the champion until `unpin`."""
        async with self._lock:
            live = await asyncio.to_thread(self.registry.pin, reason)
        self._remember(live, "person", reason)
        return live

    async def unpin(self) -> Live:
        """Let candidates replace the champion again."""
        async with self._lock:
            live = await asyncio.to_thread(self.registry.unpin)
        self._remember(live, "person")
        return live

    async def roll_back(self, alarm: GamingAlarm, *, pin_for: timedelta | None) -> Live | None:
        """Go back to the version before the one that raised the alarm, and pin it for a while.

        Meanwhile the judges see what the policy did to please the version that is gone; candidates
        that have learned from it may replace the older one when the pin ends: after `pin_for`, or
        when a person unpins it. None when another version is live already, or there is none before.
        """
        live = await asyncio.to_thread(self.registry.live)
        if live is None or live.manifest.version != alarm.version:
            return None
        parent = live.manifest.parent_version
        if parent is None:
            logger.error("%s; there is no version before it to go back to", alarm.description)
            return None
        logger.error("%s; going back to version %d", alarm.description, parent)
        return await self.activate(
            parent,
            pin_reason=alarm.description,
            pinned_until=self._now() + pin_for if pin_for is not None else None,
            why="watchdog",
        )

    def _remember(self, live: Live | None, why: Why, words: str | None = None) -> None:
        self.live = live
        self._on_change(live)
        if live is None:
            return
        change = _change(live, why, words, self._now())
        if self._told is None or _standing(change) != _standing(self._told):
            self._told = change
            self._on_event(change)


def _change(live: Live, why: Why, words: str | None, now: datetime) -> ChampionChanged:
    champion = live.champion
    return ChampionChanged(
        version=champion.version,
        activation=champion.activation,
        why=why,
        words=_bounded(words),
        pinned=champion.pinned,
        pin_reason=_bounded(champion.pin_reason),
        pinned_until=champion.pinned_until,
        withdrawn=_bounded(champion.withdrawn),
        changed_at=now,
    )


def _standing(change: ChampionChanged) -> ChampionChanged:
    """What must differ for a change to be one."""
    return change.model_copy(update={"why": "start", "words": None, "changed_at": _NEVER})


def _bounded(words: str | None) -> str | None:
    """Words of any length, as events carry them."""
    if words is None or len(words) <= _MOST_WORDS:
        return words
    return f"{words[: _MOST_WORDS - 1]}\N{HORIZONTAL ELLIPSIS}"
