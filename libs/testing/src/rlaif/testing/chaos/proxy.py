"""A TCP proxy in front of a local server, which disturbs its connections."""

import asyncio
import socket
import struct
from contextlib import suppress

HOST = "127.0.0.1"
_CHUNK = 64 * 1024
_LATENCY_SECONDS = 0.2


class FaultProxy:
    """Forwards connections to a port; `disturb` and `heal` switch faults on and off."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._disturbance = ""
        self._flows = asyncio.Event()
        self._flows.set()
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None] | None] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> int:
        """Start listening and return the port."""
        self._server = await asyncio.start_server(self._serve, HOST, 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def disturb(self, disturbance: str) -> None:
        """Until `heal`: `latency` delays all bytes, `black hole` holds them, `reset` resets."""
        self._disturbance = disturbance
        if disturbance == "black hole":
            self._flows.clear()
        if disturbance == "reset":
            self._abort_all()

    def heal(self) -> None:
        """Forward again, including the bytes that were held."""
        self._disturbance = ""
        self._flows.set()

    async def close(self) -> None:
        """Stop listening and close all connections."""
        if self._server is not None:
            self._server.close()
        self.heal()
        self._abort_all()
        await asyncio.gather(*filter(None, self._tasks), return_exceptions=True)

    def _abort_all(self) -> None:
        for writer in self._open:
            _abort(writer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        self._tasks.add(task := asyncio.current_task())
        upstream = None
        try:
            if self._disturbance == "reset":
                return
            behind, upstream = await asyncio.open_connection(HOST, self._target)
            self._open.add(upstream)
            await asyncio.gather(self._pass(reader, upstream), self._pass(behind, writer))
        except OSError:
            pass  # one side disconnected: close the other
        finally:
            for each in filter(None, (writer, upstream)):
                self._open.discard(each)
                _abort(each)
            self._tasks.discard(task)

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(_CHUNK):
            if self._disturbance == "latency":
                await asyncio.sleep(_LATENCY_SECONDS)
            await self._flows.wait()
            sink.write(data)
            await sink.drain()
        with suppress(OSError):
            sink.write_eof()


def _abort(writer: asyncio.StreamWriter) -> None:
    """Close with a RST instead of a FIN."""
    with suppress(OSError):  # closed already
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
