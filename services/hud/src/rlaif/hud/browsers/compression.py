"""Compression of WebSocket messages: text only, and each message once for all pages.

`permessage-deflate` (RFC 7692) lets the sender choose for each message. Frames are compressed
images already. Without context takeover the compressed form of a text does not depend on the
connection, so that pages share it.
"""

import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.extensions import Extension
from websockets.extensions.permessage_deflate import (
    PerMessageDeflate,
    ServerPerMessageDeflateFactory,
)
from websockets.frames import Frame, Opcode

MIN_BYTES = 256
"""Shorter texts are sent as they are."""

_SYNC_MARKER_BYTES = 4
_SHARED_MESSAGES = 16


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """The server's side of a WebSocket; see `uvicorn.Config.ws`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn.available_extensions = [TextDeflateFactory(server_no_context_takeover=True)]


class TextDeflateFactory(ServerPerMessageDeflateFactory):
    """Negotiates `permessage-deflate`."""

    def process_request_params(
        self,
        params: Sequence[tuple[str, str | None]],
        accepted_extensions: Sequence[Extension],
    ) -> tuple[list[tuple[str, str | None]], PerMessageDeflate]:
        answer, agreed = super().process_request_params(params, accepted_extensions)
        return answer, TextDeflate(
            agreed.remote_no_context_takeover,
            agreed.local_no_context_takeover,
            agreed.remote_max_window_bits,
            agreed.local_max_window_bits,
        )


class TextDeflate(PerMessageDeflate):
    """Compresses sent texts; decompresses messages of the client."""

    def encode(self, frame: Frame) -> Frame:
        if frame.opcode is not Opcode.TEXT or not frame.fin or len(frame.data) < MIN_BYTES:
            return frame
        data = _deflated(bytes(frame.data), self.local_max_window_bits)
        return Frame(frame.opcode, data, frame.fin, rsv1=True)


@lru_cache(maxsize=_SHARED_MESSAGES)
def _deflated(data: bytes, window_bits: int) -> bytes:
    encoder = zlib.compressobj(wbits=-window_bits)
    return (encoder.compress(data) + encoder.flush(zlib.Z_SYNC_FLUSH))[:-_SYNC_MARKER_BYTES]
