"""Simulates many pages that follow the HUD's screen, in one process with low CPU usage.

    python benchmarks/hud_pages.py PORT --pages 20 --stalled 1

Each uses the protocol of `/ws/v1` as the page in a browser does: it receives every frame, accepts
compressed texts, and acknowledges the newest frame four times per second. A stalled page requests
everything but reads nothing. Ends with its standard input, and prints one line of JSON:

    expected, received   frames that the HUD numbered while a healthy page was connected, and those
                         that the page received; summed over the healthy pages
    ages                 frames by their age in whole ms when they arrive, since the trainer
                         captured the picture; of the healthy pages
    dropped, seconds     pages that the HUD closed; time that all healthy pages were open together
"""

import argparse
import asyncio
import json
import os
import selectors
import struct
import sys
import time
from collections import Counter
from contextlib import suppress
from typing import Any

from outcome import parser_of

ACK_SECONDS = 0.25
ROOM = memoryview(bytearray(65_536))
"""Buffer shared by all pages; allocating 256 KiB per read would dominate the cost of a page."""

POLL_SECONDS = 0.01
OLDEST_MS = 60_000
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
SEQUENCE, CAPTURED = struct.Struct("<I"), struct.Struct("<Q")
SEQUENCE_AT, CAPTURED_AT = 8, 12


class Page(asyncio.BufferedProtocol):
    """One page."""

    def __init__(self, port: int, *, stalled: bool = False, fps: int = 30) -> None:
        self.port, self.stalled, self.fps = port, stalled, fps
        self.open = False
        self.lost = False
        self.first = self.last = self.received = self.text_bytes = 0
        self.ages: Counter[int] = Counter()
        self.opened_at = 0.0
        self._acknowledged_at = 0.0
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None

    async def connect(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: self, "127.0.0.1", self.port)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(
            f"GET /ws/v1 HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Extensions: permessage-deflate\r\n"
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
        )

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True

    def get_buffer(self, sizehint: int) -> memoryview:
        return ROOM

    def buffer_updated(self, nbytes: int) -> None:
        self._buffer += ROOM[:nbytes]
        if not self.open and not self._shake_hands():
            return
        if self.stalled:
            assert self._transport is not None
            self._transport.pause_reading()
            return
        while (message := self._message()) is not None:
            self._take(*message)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _shake_hands(self) -> bool:
        head, found, rest = bytes(self._buffer).partition(b"\r\n\r\n")
        if not found:
            return False
        if b" 101 " not in head.splitlines()[0]:
            raise SystemExit(f"the HUD answered: {head.decode(errors='replace')}")
        self._buffer = bytearray(rest)
        self.open, self.opened_at = True, time.monotonic()
        self._send(TEXT, b'{"type":"rate","fps":%d}' % self.fps)
        return True

    def _message(self) -> tuple[int, bytes] | None:
        """Return the next complete message: opcode and payload. The HUD sends no fragments."""
        buffer = self._buffer
        if len(buffer) < 2:
            return None
        length, start = buffer[1] & 0x7F, 2
        if length == 126:
            start, length = 4, int.from_bytes(buffer[2:4], "big")
        elif length == 127:
            start, length = 10, int.from_bytes(buffer[2:10], "big")
        if len(buffer) < start + length:
            return None
        opcode, payload = buffer[0] & 0x0F, bytes(buffer[start : start + length])
        del buffer[: start + length]
        return opcode, payload

    def _take(self, opcode: int, payload: bytes) -> None:
        if opcode == BINARY:
            self._frame(payload)
        elif opcode == TEXT:
            self.text_bytes += len(payload)
        elif opcode == PING:
            self._send(PONG, payload)
        elif opcode == CLOSE:
            self.close()

    def _frame(self, payload: bytes) -> None:
        (captured,) = CAPTURED.unpack_from(payload, CAPTURED_AT)
        (sequence,) = SEQUENCE.unpack_from(payload, SEQUENCE_AT)
        self.received += 1
        if self.received == 2:  # the first one was waiting for this page and may be old
            self.first = sequence
        if self.received > 1:
            self.ages[min(OLDEST_MS, int(time.time() * 1000 - captured / 1000))] += 1
            self.last = sequence
        now = time.monotonic()
        if now - self._acknowledged_at >= ACK_SECONDS:
            self._acknowledged_at = now
            self._send(TEXT, b'{"type":"ack","seq":%d}' % sequence)

    def _send(self, opcode: int, payload: bytes) -> None:
        """Client messages must be masked; a mask of zeros is valid."""
        assert self._transport is not None
        head = bytes([0x80 | opcode, 0x80 | len(payload), 0, 0, 0, 0])
        self._transport.write(head + payload)


class Patient(selectors.EpollSelector):
    """Polls at most 100 times per second, so that messages to all pages are read together.

    Real pages run on other machines. Here each wake-up would take a core and its caches from the
    training, which costs more than reading the message. Ages are up to 10 ms higher because of it.
    """

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout >= POLL_SECONDS:
            time.sleep(POLL_SECONDS)
            timeout = None if timeout is None else timeout - POLL_SECONDS
        return super().select(timeout)


def patient_loop() -> asyncio.AbstractEventLoop:
    """An event loop that polls rarely."""
    return asyncio.SelectorEventLoop(Patient())


async def follow(options: argparse.Namespace) -> dict[str, Any]:
    pages = [
        Page(options.port, stalled=number < options.stalled) for number in range(options.pages)
    ]
    for page in pages:
        await page.connect()
    print("open", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    ended = time.monotonic()
    healthy = [page for page in pages if not page.stalled]
    ages: Counter[int] = Counter()
    for page in healthy:
        ages.update(page.ages)
    found = {
        "dropped": sum(page.lost or not page.open for page in healthy),
        "expected": sum(page.last - page.first + 1 for page in healthy if page.received > 1),
        "received": sum(page.received - 1 for page in healthy if page.received > 1),
        "seconds": sum(ended - page.opened_at for page in healthy),
        "ages": sorted(ages.items()),
    }
    for page in pages:
        page.close()
    return found


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--stalled", type=int, default=1)
    with suppress(KeyboardInterrupt), asyncio.Runner(loop_factory=patient_loop) as runner:
        print(json.dumps(runner.run(follow(parser.parse_args()))), flush=True)
    os._exit(0)  # the thread that waits for standard input would block the exit


if __name__ == "__main__":
    main()
