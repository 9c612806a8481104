"""Changes the champion: publish, activate, pin, roll back, demote.

Calls of the registry block and must not overlap: they run in threads, one at a time. Each change is
published as an event.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Literal

from rlaif.contracts.events import ChampionChanged, EventData
from rlaif.contracts.reward_models import Champion, GamingAlarm
from rlaif.reward_model.champions.demotion import Demotion
from rlaif.reward_model.champions.registry import Live, ModelRegistry
from rlaif.reward_model.learning.candidate import Candidate
from rlaif.storage import keys

logger = logging.getLogger(__name__)

Why = Literal["gate", "person", "watchdog", "demotion", "start"]
"""As in `ChampionChanged`."""

ROLLBACK_PIN = timedelta(minutes=30)
"""How long a rollback stays pinned."""

_MAX_DESCRIPTION = 500


class Champions:
    """Changes the champion and caches it.

    Methods raise what those of the registry do: `StorageError`, `UnknownVersionError` if a version
    or the champion is missing, `RewardNetError` if its file is broken.

    Attributes:
        registry: The store; read-only for others.
        live: The champion, perhaps withdrawn; None before the first one and before the first read.
        known: Whether it was read.
        issue: Why no model can be published now; None if one can.
    """

    def __init__(
        self,
        registry: ModelRegistry,
        *,
        announce: Callable[[EventData], Awaitable[None]],
        on_change: Callable[[Live | None], None],
        now: Callable[[], datetime],
    ) -> None:
        """Publish with `announce`; `on_change` gets the champion after each change and repair."""
        self.registry = registry
        self._announce = announce
        self._on_change = on_change
        self._now = now
        self._published: Champion | None = None
        self._lock = asyncio.Lock()
        self.live: Live | None = None
        self.known = False
        self.issue: str | None = None

    async def heal(self) -> None:
        """Repair the registry and publish its champion again.

        The previous process may have died before it published; equal event ids are deduplicated.
        """
        if await self._change("start", self.registry.heal) is None:
            self.live = None
            self._on_change(None)
        self.issue, self.known = None, True

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

        def work() -> Live | None:
            # A person may have pinned it during the training.
            if self._held(self.registry.live()):
                logger.info("%s passed, but the champion is pinned", candidate.candidate_id)
                return None
            return self.registry.publish(candidate, judge_config=judge_config, seed=seed)

        live = await self._change("gate", work)
        if live is not None:
            logger.info(
                "reward model %d is live: held-out accuracy %s on %d pairs", live.manifest.version,
                candidate.metrics.heldout_accuracy, candidate.metrics.heldout_pairs,
            )  # fmt: skip
        return live

    async def activate(self, version: int, *, pin_reason: str | None = None) -> Live:
        """Make a published version the champion, as `ModelRegistry.activate` does."""
        work = partial(self.registry.activate, version, pin_reason=pin_reason)
        return await self._changed(work, pin_reason)

    async def pin(self, reason: str) -> Live:
        """Prevent candidates from replacing the champion until `unpin`."""
        return await self._changed(partial(self.registry.pin, reason), reason)

    async def unpin(self) -> Live:
        return await self._changed(self.registry.unpin)

    async def demote(self, demotion: Demotion) -> Live | None:
        """Replace the champion by an older version, or withdraw it.

        None if the champion is pinned or is another version by now: nothing changes then.
        """

        def work() -> Live | None:
            champion = self.registry.live()
            if champion is None or champion.manifest.version != demotion.version:
                return None
            if self._held(champion):
                logger.error("%s; it stays because it is pinned", demotion.reason)
                return None
            logger.error("%s; in its place: %s", demotion.reason, demotion.back_to or "none")
            if demotion.back_to is not None:
                return self.registry.activate(demotion.back_to)
            return self.registry.withdraw(demotion.reason)

        return await self._change("demotion", work, demotion.reason)

    async def roll_back(self, alarm: GamingAlarm) -> Live | None:
        """Activate the predecessor of the version that raised the alarm, and pin it for a while.

        Meanwhile the judges score what the policy did to exploit the version. Candidates trained on
        these scores may go live when the pin ends.
        None if another version is live already, or there is no predecessor.
        """

        def work() -> Live | None:
            live = self.registry.live()
            if live is None or live.manifest.version != alarm.version:
                return None
            parent = live.manifest.parent_version
            logger.error("%s; rolling back to version %s", alarm.description, parent or "none")
            if parent is None:
                return None
            until = self._now() + ROLLBACK_PIN
            return self.registry.activate(parent, pin_reason=alarm.description, pinned_until=until)

        return await self._change("watchdog", work, alarm.description)

    def _held(self, live: Live | None) -> bool:
        return live is not None and live.champion.held(self._now())

    async def _changed(self, work: Callable[[], Live], reason: str | None = None) -> Live:
        live = await self._change("person", work, reason)
        assert live is not None
        return live

    async def _change(
        self, why: Why, work: Callable[[], Live | None], description: str | None = None
    ) -> Live | None:
        """Run `work`, then cache and publish the champion that it returns; None: no change."""
        async with self._lock:
            live = await asyncio.to_thread(work)
        if live is None:
            return None
        self.live = live
        self._on_change(live)
        before, self._published = self._published, live.champion
        if live.champion != before:
            await self._announce(_change_event(live.champion, why, description, self._now()))
        if live.pays and (before is None or live.champion.activation != before.activation):
            await self._announce(live.event())
        return live


def _change_event(
    champion: Champion, why: Why, description: str | None, now: datetime
) -> ChampionChanged:
    same = champion.model_dump(include={"version", "activation", "pinned", "pinned_until"})
    return ChampionChanged(
        **same,
        why=why,
        words=_bounded(description),
        pin_reason=_bounded(champion.pin_reason),
        withdrawn=_bounded(champion.withdrawn),
        changed_at=now,
    )


def _bounded(text: str | None) -> str | None:
    if text is None or len(text) <= _MAX_DESCRIPTION:
        return text
    return f"{text[: _MAX_DESCRIPTION - 1]}\N{HORIZONTAL ELLIPSIS}"
