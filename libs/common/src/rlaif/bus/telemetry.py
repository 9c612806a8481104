"""Sends live readings on plain NATS: lossy by design, so that nobody waits for a viewer."""

from typing import TYPE_CHECKING

import nats.errors

from rlaif.contracts.telemetry import Telemetry

if TYPE_CHECKING:
    from rlaif.bus.connection import Bus

MAX_UNSENT_BYTES = 1024 * 1024
"""Above this the socket does not keep up and readings are dropped; nats-py would wait at 2 MiB."""


class LossyTelemetry:
    """The `TelemetryPublisher` port.

    Attributes:
        dropped: Readings that were not sent, since the start.
    """

    def __init__(self, bus: "Bus") -> None:
        self._bus = bus
        self.dropped = 0

    async def send(self, reading: Telemetry) -> None:
        """Send one JSON reading on its subject, or drop it."""
        await self.send_bytes(reading.SUBJECT, reading.model_dump_json().encode())

    async def send_bytes(self, subject: str, payload: bytes) -> None:
        """Send raw bytes, or drop them."""
        client = self._bus.client
        if not client.is_connected or client.pending_data_size > MAX_UNSENT_BYTES:
            self.dropped += 1
            return
        try:
            await client.publish(subject, payload)
        except (nats.errors.Error, OSError):
            self.dropped += 1
