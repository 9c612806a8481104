"""Data directory of the local stack with its lock and secrets, and its ports."""

import contextlib
import errno
import hmac
import json
import os
import secrets
import shutil
import socket
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from itertools import chain
from pathlib import Path
from typing import IO

from rlaif.files.locked import LockedError, lock
from rlaif.files.whole import replacing
from rlaif.servers.seaweedfs import port_is_free

HOST = "127.0.0.1"


def disk_report(folder: Path, *, least_free_bytes: int = 500_000_000) -> dict[str, str]:
    """The issue of low disk space, before NATS, objects or checkpoints fail; empty without one."""
    free = shutil.disk_usage(folder).free
    if free >= least_free_bytes:
        return {}
    return {"disk": f"{free / 1e6:.0f} MB free at {folder}; delete files there, or move it"}


class DataDirectoryBusyError(Exception):
    """Another local stack uses this data directory."""


class DamagedSecretsError(Exception):
    """The secrets file is unreadable; the message names it and the fix."""


class PortBusyError(Exception):
    """A port chosen by the user cannot be bound."""


@dataclass(frozen=True)
class Secrets:
    """Created once per data directory, readable by its owner only."""

    s3_access_key: str
    s3_secret_key: str
    nats_token: str
    api_token: str

    def nats_password(self, identity: str) -> str:
        """Password of a user of NATS; no other user's can be derived from it."""
        return _derived(self.nats_token, identity)

    def s3_secret(self, identity: str) -> str:
        """Secret key of an identity of the object store, derived like `nats_password`."""
        return _derived(self.s3_secret_key, identity)


def _derived(secret: str, identity: str) -> str:
    return hmac.digest(secret.encode(), identity.encode(), "sha256").hex()


@dataclass(frozen=True)
class DataDirectory:
    """The persistent data (`./var`), as an absolute path."""

    root: Path

    def lock(self) -> IO[str]:
        """Lock the directory for this process; closing the returned file unlocks it.

        Raises:
            DataDirectoryBusyError: Another process holds it.
            OSError: It cannot be created or written.
        """
        self.root.mkdir(parents=True, exist_ok=True)
        try:
            return lock(self.root / "lock")
        except LockedError as error:
            raise DataDirectoryBusyError(
                f"{self.root} is in use by a running demo (pid {error.owner}); stop it, or "
                "choose another directory with --data-dir"
            ) from error

    def check_access(self) -> None:
        """Check that its upper two levels are readable and writable for this user.

        Files of another user, such as from a start by sudo, would fail much later.

        Raises:
            PermissionError: A path is not.
        """
        for path in chain([self.root], self.root.glob("*"), self.root.glob("*/*")):
            others = path.is_dir() or path.lstat().st_uid != os.getuid()
            if others and not os.access(path, os.R_OK | os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    def secrets(self) -> Secrets:
        """The secrets, created by the first call.

        Raises:
            DamagedSecretsError: The file exists but is invalid.
        """
        path = self.root / "secrets.json"
        if not path.exists():
            made = Secrets("local", *(secrets.token_hex(20) for _ in range(3)))
            _write_private(path, asdict(made))
        try:
            kept = json.loads(path.read_text())
            values = [kept[field.name] for field in fields(Secrets)]
        except (ValueError, LookupError, TypeError, RecursionError):
            values = []
        if not values or not all(isinstance(value, str) and value.isalnum() for value in values):
            raise DamagedSecretsError(
                f"{path} is damaged: restore it from a backup, or remove it to create new keys; "
                "the data stays readable, but clients need the new API token"
            )
        return Secrets(*values)

    def note_addresses(self, addresses: Mapping[str, str]) -> None:
        """Store the addresses of this start's servers and stores for other commands.

        Paths in the directory are stored relative to it: it may be moved.
        """
        kept = {name: each.removeprefix(f"{self.root}/") for name, each in addresses.items()}
        _write_private(self.root / "addresses.json", kept)

    def addresses(self) -> dict[str, str]:
        """The stored addresses of the last start; OSError if there are none."""
        path = self.root / "addresses.json"
        try:
            kept: dict[str, str] = dict(json.loads(path.read_text()))
        except (ValueError, TypeError) as error:
            raise OSError(errno.EINVAL, "damaged; remove it", str(path)) from error
        return {name: at if "://" in at else str(self.root / at) for name, at in kept.items()}

    def log(self, name: str) -> Path:
        return self.root / "logs" / f"{name}.log"


def _write_private(path: Path, values: Mapping[str, str]) -> None:
    """Write a JSON file atomically, readable by its owner only."""
    with replacing(path) as partial:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(dict(values), file)
            file.flush()
            os.fsync(descriptor)


class Ports(contextlib.ExitStack):
    """Ports reserved for this process until this is closed.

    A server binds its port some seconds after the choice. Meanwhile the otherwise unused UDP port
    of the same number is bound as a reservation, so that another stack, of any user, does not
    choose it; the system releases it when this process ends.
    """

    def take(self, preferred: int) -> int:
        """Reserve `preferred` if it is free, else another port."""
        return next(port for port in chain([preferred], _offered_ports()) if self.claim(port))

    def claim(self, *ports: int) -> bool:
        """Reserve all of these ports or none; False if one is in use or reserved."""
        with contextlib.ExitStack() as held:
            for port in ports:
                reservation = held.enter_context(socket.socket(type=socket.SOCK_DGRAM))
                try:
                    reservation.bind((HOST, port))
                except OSError:
                    return False
                if not port_is_free(port):
                    return False
            self.push(held.pop_all())
        return True


def _offered_ports() -> Iterator[int]:
    while True:
        with socket.socket() as probe:
            probe.bind((HOST, 0))
            port: int = probe.getsockname()[1]
        yield port
