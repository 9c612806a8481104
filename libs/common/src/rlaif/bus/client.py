"""The client of nats-py, so that it can be cancelled, and sends no password in the clear."""

from typing import Any

import nats.errors

from rlaif.bus.cancellation import CancellableClient


class CarefulClient(CancellableClient):
    """Goes no further with a server that offers no TLS when it is `tls_only`.

    nats-py 2.16 takes a `tls://` URL as a wish: a server that does not ask for TLS in its first,
    unprotected line gets the credentials in the clear.
    """

    def __init__(self, *, tls_only: bool) -> None:
        super().__init__()
        self._tls_only = tls_only

    def _connect_command(self) -> Any:
        """What is sent once the connection is as safe as it will be; the credentials are in it."""
        if self._tls_only and not self._server_info.get("tls_required"):
            raise nats.errors.Error("the server offers no TLS, and nothing is sent without")
        return super()._connect_command()
