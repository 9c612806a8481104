"""Sends live readings on plain NATS: lossy by design, so that nobody waits for a viewer."""

import nats.errors

from rlaif.bus.link import Link
from rlaif.contracts.telemetry import Telemetry

MAX_UNSENT_BYTES = 1024 * 1024
"""Above this the socket does not keep up and readings are dropped; nats-py would wait at 2 MiB."""


class LossyTelemetry:
    """The `TelemetryPublisher` port; `dropped` counts the readings that were not sent."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self.dropped = 0

    async def send(self, reading: Telemetry) -> None:
        """Send one JSON reading on its subject, or drop it."""
        await self.send_bytes(reading.SUBJECT, reading.model_dump_json().encode())

    async def send_bytes(self, subject: str, payload: bytes) -> None:
        """Send raw bytes, or drop them."""
        client = self._link.client
        if not client.is_connected or client.pending_data_size > MAX_UNSENT_BYTES:
            self.dropped += 1
            return
        try:
            await client.publish(subject, payload)
        except (nats.errors.Error, OSError):
            self.dropped += 1
