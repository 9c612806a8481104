"""Opens the store at a URL of the settings."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from rlaif.network.addresses import is_http_url, without_credentials
from rlaif.storage.file import FileStore
from rlaif.storage.ports import ObjectStore, StorageError


class S3Settings(Protocol):
    """The S3 settings of a service."""

    @property
    def s3_endpoint_url(self) -> str: ...  # described in rlaif.service.settings
    @property
    def s3_access_key(self) -> str: ...  # described in rlaif.service.settings
    @property
    def s3_secret_key(self) -> SecretStr: ...  # described in rlaif.service.settings
    @property
    def s3_region(self) -> str: ...  # described in rlaif.service.settings
    @property
    def s3_ca_file(self) -> str: ...  # described in rlaif.service.settings


@dataclass(frozen=True)
class S3Credentials:
    """AWS if there is no endpoint; the platform's credentials (role, profile) without keys."""

    endpoint_url: str | None
    access_key: str | None
    secret_key: str | None = field(repr=False)
    region: str = "us-east-1"
    ca_file: str | None = None

    @classmethod
    def of(cls, settings: S3Settings) -> "S3Credentials":
        return cls(
            endpoint_url=settings.s3_endpoint_url or None,
            access_key=settings.s3_access_key or None,
            secret_key=settings.s3_secret_key.get_secret_value() or None,
            region=settings.s3_region,
            ca_file=settings.s3_ca_file or None,
        )


def open_store(url: str, credentials: S3Credentials | None) -> ObjectStore:
    """The store at `s3://bucket`, `/absolute/path` or `file:///absolute/path`; not connected yet.

    Raises:
        StorageError: The URL is invalid.
    """
    if url.startswith("/"):
        return FileStore(Path(url))
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    named = parts.netloc and "@" not in parts.netloc
    if parts.scheme == "s3" and named and parts.path in ("", "/"):
        # Imported late: boto3 takes half a second to import, and file stores do not need it.
        from rlaif.storage.s3 import S3Store

        given = credentials or S3Credentials(None, None, None)
        if given.endpoint_url is not None:
            _check_endpoint(given.endpoint_url)
        return S3Store(
            parts.netloc,
            endpoint_url=given.endpoint_url,
            access_key=given.access_key,
            secret_key=given.secret_key,
            region=given.region,
            ca_file=given.ca_file,
        )
    if parts.scheme == "file" and not parts.netloc and parts.path.startswith("/"):
        if "?" in url or "#" in url:
            # The rest would be dropped, and the store created in another folder.
            raise StorageError(f"{url!r} has a ? or # in its path; write it as %3F or %23")
        return FileStore(Path(unquote(parts.path)))
    shown = without_credentials(url)
    raise StorageError(
        f"{shown!r} is not a store; use s3://bucket, file:///absolute/path or /absolute/path"
    )


def _check_endpoint(url: str) -> None:
    if not is_http_url(url):
        shown = without_credentials(url)
        raise StorageError(
            f"S3_ENDPOINT_URL={shown!r} is not an address; write http://host:port or https://host"
        )


def make_store(url: str, credentials: S3Credentials | None) -> tuple[ObjectStore, bool]:
    """The store at `url`, and whether its bucket had to be created."""
    store = open_store(url, credentials)
    if isinstance(store, FileStore):
        return store, False  # opening it created the folder
    from rlaif.storage.s3 import S3Store

    assert isinstance(store, S3Store)
    return store, store.ensure_bucket()
