"""Publishes the report of `/readyz` on NATS, so that the HUD need not poll every service."""

import asyncio
import contextlib
import os
import socket
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Protocol

from rlaif.contracts.telemetry.readings import ServiceHealth, Telemetry
from rlaif.pacing.pause import pause
from rlaif.service.health import Readiness

CHECK_SECONDS = 0.5
"""Interval of the checks for a change."""

REPEAT_SECONDS = 2.0
"""Interval at which an unchanged report is repeated, for new subscribers."""


class ReadingSender(Protocol):
    """A bus that sends without blocking, and drops readings that cannot be sent."""

    async def send(self, reading: Telemetry) -> None:
        """Send one JSON reading."""


class HealthAnnouncer:
    """Sends the readiness of one process."""

    def __init__(self, service: str, readiness: Readiness) -> None:
        self._service = service
        self._readiness = readiness
        self._instance = _instance_id()

    @contextlib.asynccontextmanager
    async def announcing(self, sender: ReadingSender) -> AsyncIterator[None]:
        leaving = asyncio.Event()
        task = asyncio.create_task(self._announce(sender, leaving))
        try:
            yield
        finally:
            leaving.set()
            await task

    async def _announce(self, sender: ReadingSender, leaving: asyncio.Event) -> None:
        seconds = asyncio.get_running_loop().time
        repeated = Repeated()
        while True:
            last = leaving.is_set()
            health = await self._health()
            if repeated.due(health, seconds()) or last:
                await sender.send(health)
            if last:
                return
            await pause(CHECK_SECONDS, unless=leaving)

    async def _health(self) -> ServiceHealth:
        report = await self._readiness.report()
        return ServiceHealth(
            at=datetime.now(UTC),
            service=self._service,
            instance=self._instance,
            status=report.status,
            checks={name: check.detail for name, check in report.checks.items()},
        )


def _instance_id() -> str:
    """Host, process id, and eight digits that make the id unique."""
    host = "".join(c if c.isascii() and c.isalnum() else "-" for c in socket.gethostname().lower())
    tail = f"-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    return (host.strip("-")[: 64 - len(tail)] or "host") + tail


class Repeated:
    """Tracks the last sent reading of one type and sender."""

    def __init__(self) -> None:
        self._sent: Telemetry | None = None
        self._sent_at = 0.0

    def due(self, reading: Telemetry, now: float) -> bool:
        """Whether to send `reading` at `now` (seconds): it changed, or a repetition is due."""
        last = self._sent
        if (
            last is not None
            and now - self._sent_at < REPEAT_SECONDS
            and reading.model_copy(update={"at": last.at}) == last
        ):
            return False
        self._sent, self._sent_at = reading, now
        return True
