"""The object store port.

Calls block; an async caller wraps them in `asyncio.to_thread`. Errors:

    StorageError
    ├── ObjectNotFoundError    the key does not exist
    ├── ObjectCorruptError     the object is not the one that was stored; see `rlaif.storage.sealed`
    ├── InvalidKeyError        the key is empty, absolute, has "..", control characters, or is long
    └── StoreUnavailableError  the store did not answer, or refused, after retries
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

BINARY = "application/octet-stream"
"""Default content type."""


class StorageError(Exception):
    """Base class of the errors of stores."""


class ObjectNotFoundError(StorageError):
    """No object has this key."""


class ObjectCorruptError(StorageError):
    """The object is too large for its type, or its bytes have changed."""


DAMAGED = (ObjectNotFoundError, ObjectCorruptError)
"""The object is at fault, not the store: other objects can be read."""


class InvalidKeyError(StorageError):
    """The key is not valid."""


class StoreUnavailableError(StorageError):
    """The request failed; a later retry may succeed."""


@dataclass(frozen=True)
class ObjectInfo:
    """Metadata of one object.

    Attributes:
        modified_at: By the store's clock.
        md5: Digest of the bytes in hex; None if the store does not report it.
    """

    key: str
    size_bytes: int
    modified_at: datetime
    md5: str | None = None


class ObjectStore(Protocol):
    """One bucket."""

    @property
    def url(self) -> str:
        """Readable location, such as `s3://zelda-episodes`."""

    def put_once(self, key: str, data: bytes, *, content_type: str = ...) -> bool:
        """Create the object atomically unless it exists; returns False if it existed."""

    def put(self, key: str, data: bytes, *, content_type: str = ...) -> None:
        """Create or replace the object atomically: readers get the old or the new one."""

    def put_over(self, key: str, data: bytes, tag: str, *, content_type: str = ...) -> bool:
        """Replace the object if it still has `tag`, atomically among such replacements.

        Returns False if it changed or was deleted. After a lost answer and a repeated request, the
        result may be False although this call has stored the object.
        """

    def get(self, key: str, max_bytes: int | None = None) -> bytes:
        """The object's bytes.

        Raises:
            ObjectNotFoundError: There is no such object.
            ObjectCorruptError: It has more than `max_bytes`, by default the limit of
                `rlaif.storage.bounds` for the key; it is not read.
        """

    def get_tagged(self, key: str) -> tuple[bytes, str]:
        """The object's bytes and its tag, for `put_over`; raises like `get`."""

    def head(self, key: str) -> ObjectInfo | None:
        """Metadata of the object; None if it does not exist."""

    def list(self, prefix: str = "", *, after: str = "") -> Iterator[ObjectInfo]:
        """Objects whose key starts with `prefix` and is greater than `after`, in key order."""

    def scan(self, prefix: str = "") -> Iterator[ObjectInfo]:
        """Objects with this prefix in the server's order, paged; cheaper than `list`."""

    def delete_many(self, keys: Sequence[str]) -> None:
        """Delete objects; missing keys are not an error."""
