"""A connection to NATS that reconnects after every restart of the server."""

import asyncio
import contextlib
import logging
import re
import ssl
from collections import deque
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any

import nats.errors
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.errors import APIError

from rlaif.bus import topology
from rlaif.bus.cancellation import CancellableClient, propagating_cancellation
from rlaif.bus.errors import BusUnavailableError, StreamsMissingError
from rlaif.bus.topology import TopologySettings
from rlaif.network.nats_url import parse_nats_url

REQUEST_TIMEOUT = timedelta(seconds=5)

logger = logging.getLogger(__name__)

_HINTS: dict[int | None, str] = {
    None: ": its JetStream does not answer; enable it (nats-server --jetstream)",
    10027: ": raise max_streams of this user's account",
    10039: ": enable JetStream for this user's account",
    10047: ": raise its max_file, or lower NATS_STREAM_MIB",
    10074: ": lower NATS_STREAM_REPLICAS, or point NATS_URL to a cluster",
}
"""Remedies of JetStream's errors by code; None: an answer without one."""

MAILBOX_MESSAGES = 64
"""Maximum unread messages of one plain subscription."""


class Link:
    """The connection with plain messages and stream management.

    `client` and `jetstream` are private to this package; `address` has no credentials.
    """

    def __init__(
        self,
        url: str,
        settings: TopologySettings,
        *,
        ca_file: str | None = None,
        manage_streams: bool = True,
    ) -> None:
        self._address = parse_nats_url(url)
        self._settings = settings
        self._ca_file = ca_file
        self._manages = manage_streams
        self._up = asyncio.Event()
        self._last_error: Exception | None = None
        self._mailboxes: set[Mailbox] = set()
        self._closing = False
        self.client = TlsEnforcingClient(tls_only=bool(ca_file) or self._address.tls_only)
        self.jetstream: JetStreamContext = self.client.jetstream(
            timeout=REQUEST_TIMEOUT.total_seconds()
        )
        self.address = str(self._address)

    @property
    def connected(self) -> bool:
        return self.client.is_connected

    @property
    def closed(self) -> bool:
        """Whether the connection is closed permanently, by `close` or by the server."""
        return self._closing or self.client.is_closed

    @property
    def last_error_note(self) -> str:
        return f" (last error: {self._last_error})" if self._last_error else ""

    async def subscribe(self, subject: str) -> AsyncIterator[tuple[str, bytes]]:
        """Yield plain NATS messages as (subject, payload) until the bus closes.

        A reader that is more than `MAILBOX_MESSAGES` behind loses the oldest messages.
        """
        mailbox = Mailbox(MAILBOX_MESSAGES)
        self._mailboxes.add(mailbox)
        try:
            subscription = await self.client.subscribe(subject, cb=mailbox.deliver)
        except nats.errors.Error as error:
            self._mailboxes.discard(mailbox)
            raise self._unavailable(f"subscribe to {subject}", error) from error
        try:
            async for message in mailbox:
                yield message
        finally:
            self._mailboxes.discard(mailbox)
            with contextlib.suppress(nats.errors.Error):
                await subscription.unsubscribe()

    async def ensure_topology(self) -> None:
        """Create missing streams and consumers, or only check for them.

        Raises:
            StreamsMissingError: Some are missing, and `manage_streams` is false.
        """
        if self._manages:
            with self.asking("ensure the streams"):
                await topology.ensure_topology(self.jetstream, self._settings)
            return
        with self.asking("list the streams"):
            missing = await topology.missing_parts(self.jetstream)
        if missing:
            raise StreamsMissingError(
                f"NATS at {self.address} lacks {', '.join(missing)}; create them with"
                " python -m rlaif.bootstrap (NATS_MANAGE_STREAMS is false)"
            )

    async def make_room_in(self, stream: str) -> None:
        if self._manages:
            await topology.make_room(self.jetstream, stream)
            return
        logger.warning(
            "stream %s is full; python -m rlaif.bootstrap --make-room drops its handled events",
            stream,
        )

    async def match_ack_wait(self, stream: str, consumer: str, ack_wait: timedelta) -> None:
        if self._manages:
            await topology.set_ack_wait(self.jetstream, stream, consumer, ack_wait)

    async def wait_connected(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(seconds, 0)):
                while not (self.connected or self.closed):
                    await self._up.wait()
                    # nats-py invokes callbacks shortly after its state changes.
                    await asyncio.sleep(0.01)
        return self.connected

    async def close(self) -> None:
        """Flush and close. Stop the workers first. Idempotent."""
        if self._closing:
            return
        self._closing = True
        for mailbox in list(self._mailboxes):
            mailbox.close()
        try:
            with propagating_cancellation():
                await self.client.drain()
        except (nats.errors.Error, OSError):
            with contextlib.suppress(nats.errors.Error, OSError):  # NATS may be down already
                await self.client.close()

    async def open(self, name: str, timeout: timedelta) -> None:  # noqa: ASYNC109  # nats-py has no such option with endless reconnects
        """Connect once; afterwards the client reconnects forever."""
        authorities = self._authorities(self._ca_file) if self._ca_file else None
        try:
            async with asyncio.timeout(timeout.total_seconds()):
                await self.client.connect(
                    list(self._address.servers),
                    name=name,
                    user=self._address.user,
                    password=self._address.password,
                    token=self._address.token,
                    inbox_prefix=inbox_of(self._address.user),
                    tls=authorities,
                    error_cb=self._on_error,
                    disconnected_cb=self._on_disconnected,
                    reconnected_cb=self._on_reconnected,
                    closed_cb=self._on_closed,
                    # A dead peer is detected after 10 to 15 s instead of minutes.
                    ping_interval=5,
                    max_outstanding_pings=2,
                    connect_timeout=2,
                    reconnect_time_wait=0.5,  # type: ignore[arg-type]  # seconds; it sleeps for a float as well
                    max_reconnect_attempts=-1,
                    drain_timeout=5,
                )
        except asyncio.CancelledError:
            await self._abandon()
            raise
        except (TimeoutError, nats.errors.Error, OSError) as error:
            await self._abandon()
            why = str(self._last_error or error) or type(error).__name__
            raise BusUnavailableError(
                f"no NATS at {self.address} within {timeout.total_seconds():g} s: {why}; "
                "start it, or set NATS_URL to its address with user or token"
            ) from error
        self._last_error = None
        self._up.set()

    @staticmethod
    def _authorities(ca_file: str) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cafile=ca_file)
        except OSError as error:
            raise BusUnavailableError(f"NATS_CA_FILE={ca_file} is not PEM: {error}") from error

    async def _abandon(self) -> None:
        """Release a connection that was never established."""
        self._closing = True
        with contextlib.suppress(nats.errors.Error, OSError):
            await self.client.close()

    async def _on_error(self, error: Exception) -> None:
        # A server's error, such as a wrong token, explains more than the subsequent reset.
        if not (isinstance(error, OSError) and isinstance(self._last_error, nats.errors.Error)):
            self._last_error = error
        # Each failed reconnection attempt ends here; _on_disconnected has logged the outage.
        level = logging.WARNING if self.connected and not self._closing else logging.DEBUG
        logger.log(level, "NATS at %s: %s", self.address, error or type(error).__name__)

    async def _on_disconnected(self) -> None:
        self._up.clear()
        if not self._closing:
            logger.warning("lost NATS at %s; reconnecting", self.address)

    async def _on_reconnected(self) -> None:
        self._last_error = None
        self._up.set()
        logger.info("NATS at %s is back", self.address)

    async def _on_closed(self) -> None:
        self._up.set()  # waiters check `closed`
        for mailbox in list(self._mailboxes):
            mailbox.close()
        if not self._closing:
            logger.error("NATS at %s closed the connection%s", self.address, self.last_error_note)

    @contextlib.contextmanager
    def asking(self, what: str) -> Iterator[None]:
        """Raise BusUnavailableError if the request `what`, made inside the block, fails."""
        try:
            yield
        except (nats.errors.Error, OSError) as error:
            raise self._unavailable(what, error) from error

    def _unavailable(self, what: str, error: Exception) -> BusUnavailableError:
        why = str(error) or type(error).__name__
        hint = _HINTS.get(error.err_code, "") if isinstance(error, APIError) else ""
        return BusUnavailableError(
            f"could not {what}: {why}{self.last_error_note}; check NATS at {self.address}{hint}"
        )


def inbox_of(user: str | None) -> bytes:
    """Prefix of a user's reply subjects, which no other user of the server may read."""
    named = user is not None and re.fullmatch(r"[\w-]+", user, re.ASCII)
    return f"_INBOX.{user}".encode() if named else b"_INBOX"


class TlsEnforcingClient(CancellableClient):
    """If `tls_only`, sends no credentials to a server without TLS.

    nats-py 2.16 would send them, even for a `tls://` URL.
    """

    def __init__(self, *, tls_only: bool) -> None:
        super().__init__()
        self._tls_only = tls_only

    def _connect_command(self) -> Any:
        """The CONNECT message, which has the credentials; sent after any TLS handshake."""
        if self._tls_only and not self._server_info.get("tls_required"):
            raise nats.errors.Error(
                "the server offers no TLS, which NATS_URL or NATS_CA_FILE requires"
            )
        return super()._connect_command()


class Mailbox:
    """Holds the newest `size` messages until they are read."""

    def __init__(self, size: int) -> None:
        self._messages: deque[tuple[str, bytes]] = deque(maxlen=size)
        self._changed = asyncio.Event()
        self._closed = False

    async def deliver(self, message: Msg) -> None:
        self._messages.append((message.subject, message.data))
        self._changed.set()

    def close(self) -> None:
        """End the reader after the remaining messages."""
        self._closed = True
        self._changed.set()

    async def __aiter__(self) -> AsyncIterator[tuple[str, bytes]]:
        while True:
            while self._messages:
                yield self._messages.popleft()
            if self._closed:
                return
            self._changed.clear()
            await self._changed.wait()
