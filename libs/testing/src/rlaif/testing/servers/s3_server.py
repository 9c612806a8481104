"""A real S3 server for tests: SeaweedFS in its own folder, and stores on it."""

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

import pytest

from rlaif.servers.seaweedfs import SeaweedFS, SeaweedPorts, TlsFiles, find_weed
from rlaif.storage.file import FileStore
from rlaif.storage.keys import EPISODES_BUCKET, MODELS_BUCKET
from rlaif.storage.open import S3Credentials
from rlaif.storage.ports import ObjectStore
from rlaif.testing.servers.process import ServerProcess

if TYPE_CHECKING:
    from rlaif.storage.s3 import S3Store

START_SECONDS = 20


class S3Server(ServerProcess):
    """One SeaweedFS process.

    Args:
        data_dir: Its folder, with a short path; created if missing.
        tls: Enables HTTPS.
        secrets: Secret keys of the services that have access.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        tls: TlsFiles | None = None,
        secrets: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(data_dir / "filer.db", data_dir / "weed.log")
        self.recipe = SeaweedFS(
            data_dir=data_dir,
            ports=_ports(),
            access_key="test",
            secret_key=token_hex(16),
            secrets=secrets or {},
            buckets=(EPISODES_BUCKET, MODELS_BUCKET),
            tls=tls,
        )

    @property
    def credentials(self) -> S3Credentials:
        return S3Credentials(
            endpoint_url=self.recipe.endpoint_url,
            access_key=self.recipe.access_key,
            secret_key=self.recipe.secret_key,
            ca_file=str(self.recipe.tls.authority) if self.recipe.tls else None,
        )

    def _spawn(self, log: int) -> subprocess.Popen[bytes]:
        self.recipe.write_files()
        return subprocess.Popen(
            self.recipe.command(find_weed()),
            cwd=self.recipe.data_dir,
            env=self.recipe.environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )

    def _wait_ready(self, alive: Callable[[], bool]) -> None:
        self.recipe.wait_ready(seconds=START_SECONDS, alive=alive)

    def _choose_ports(self) -> None:
        self.recipe = replace(self.recipe, ports=_ports())


@contextmanager
def running_s3_server(
    *, tls: TlsFiles | None = None, secrets: Mapping[str, str] | None = None
) -> Iterator[S3Server]:
    """A running server on a fresh folder."""
    # Not tmp_path: the path of a socket is limited to 107 characters.
    with (
        tempfile.TemporaryDirectory(prefix="s3-") as folder,
        S3Server(Path(folder), tls=tls, secrets=secrets) as server,
    ):
        yield server


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    """The server of the test run."""
    with running_s3_server() as server:
        yield server


@pytest.fixture(scope="session")
def s3(s3_server: S3Server) -> S3Credentials:
    """Settings of an S3 server with the buckets zelda-episodes and zelda-models."""
    return s3_server.credentials


@pytest.fixture(scope="session")
def _s3_stores(s3: S3Credentials) -> "dict[str, S3Store]":
    from rlaif.storage.s3 import S3Store

    return {
        bucket: S3Store(
            bucket,
            endpoint_url=s3.endpoint_url,
            access_key=s3.access_key,
            secret_key=s3.secret_key,
        )
        for bucket in (EPISODES_BUCKET, MODELS_BUCKET)
    }


@pytest.fixture
def episodes_store(_s3_stores: "dict[str, S3Store]") -> ObjectStore:
    """The bucket zelda-episodes, empty."""
    return _emptied(_s3_stores[EPISODES_BUCKET])


@pytest.fixture
def models_store(_s3_stores: "dict[str, S3Store]") -> ObjectStore:
    """The bucket zelda-models, empty."""
    return _emptied(_s3_stores[MODELS_BUCKET])


@pytest.fixture
def file_store(tmp_path: Path) -> ObjectStore:
    """A store in a fresh folder."""
    return FileStore(tmp_path / "objects")


def _ports() -> SeaweedPorts:
    # Concurrent test runs start their search at different ports.
    return SeaweedPorts.find_free(first=20_000 + os.getpid() * 10 % 9_000)


def _emptied(store: "S3Store") -> "S3Store":
    store.delete_many([info.key for info in store.list()])
    return store
