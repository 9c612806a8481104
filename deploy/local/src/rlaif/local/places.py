"""Where the local stack keeps and finds things: the data directory, its lock, secrets, ports."""

import fcntl
import json
import os
import secrets
import socket
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from rlaif.servers.seaweedfs import port_is_free

HOST = "127.0.0.1"


class DataDirectoryBusyError(Exception):
    """Another local stack uses this data directory."""


@dataclass(frozen=True)
class Secrets:
    """Made once for a data directory, readable by its owner only."""

    s3_access_key: str
    s3_secret_key: str
    nats_token: str
    api_token: str


@dataclass(frozen=True)
class DataDirectory:
    """`./var`, as an absolute path: everything that outlives a start."""

    root: Path

    def lock(self) -> IO[str]:
        """Take the directory for this process; the lock goes with the returned file.

        Raises:
            DataDirectoryBusyError: Another process has it.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        file = (self.root / "lock").open("a+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.seek(0)
            owner = file.read().strip() or "unknown"
            file.close()
            raise DataDirectoryBusyError(
                f"{self.root} is in use by a demo that runs already (pid {owner}); stop it, or "
                "choose another place with --data-dir"
            ) from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        return file

    def secrets(self) -> Secrets:
        """The directory's secrets, made on the first call."""
        path = self.root / "secrets.json"
        if not path.exists():
            made = Secrets("local", *(secrets.token_hex(20) for _ in range(3)))
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                json.dump(asdict(made), file)
        return Secrets(**json.loads(path.read_text()))

    def log(self, name: str) -> Path:
        """Where a child's output goes."""
        return self.root / "logs" / f"{name}.log"


def free_port(preferred: int, taken: set[int]) -> int:
    """`preferred` when nobody listens there, else a free port; it is added to `taken`."""
    port = preferred
    if port in taken or not port_is_free(port):
        port = next(p for p in _offered_ports() if p not in taken)
    taken.add(port)
    return port


def _offered_ports() -> Iterator[int]:
    while True:
        with socket.socket() as probe:
            probe.bind((HOST, 0))
            yield probe.getsockname()[1]
