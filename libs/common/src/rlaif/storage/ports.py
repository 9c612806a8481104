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
"""Content type of what has none of its own."""


class StorageError(Exception):
    """Base of what a store raises."""


class ObjectNotFoundError(StorageError):
    """No object has this key."""


class ObjectCorruptError(StorageError):
    """The object is too large for its kind, or has other bytes than it was stored with."""


DAMAGED = (ObjectNotFoundError, ObjectCorruptError)
"""The object is at fault, not the store: another one can be read now."""


class InvalidKeyError(StorageError):
    """The key cannot name an object."""


class StoreUnavailableError(StorageError):
    """The store did not do it; trying again later may help."""


@dataclass(frozen=True)
class ObjectInfo:
    """What a store knows of one object.

    Attributes:
        modified_at: By the store's clock.
        md5: Digest of the bytes in hex; None when the store does not say.
    """

    key: str
    size_bytes: int
    modified_at: datetime
    md5: str | None = None


class ObjectStore(Protocol):
    """One bucket."""

    @property
    def url(self) -> str:
        """Where it is, for people, such as `s3://zelda-episodes`."""

    def put_once(self, key: str, data: bytes, *, content_type: str = ...) -> bool:
        """Create the object unless it exists, atomic between all writers; False when it existed."""

    def put(self, key: str, data: bytes, *, content_type: str = ...) -> None:
        """Create or replace the object; a reader sees the old one or the new one, whole."""

    def put_over(self, key: str, data: bytes, tag: str, *, content_type: str = ...) -> bool:
        """Replace the object if it is still the one of `tag`, atomic between all who do so.

        False if it changed or is gone. If an answer was lost and the request was repeated, the
        object may be this call's own and the result still False.
        """

    def get(self, key: str, max_bytes: int | None = None) -> bytes:
        """The object's bytes.

        Raises:
            ObjectNotFoundError: There is no such object.
            ObjectCorruptError: It has more than `max_bytes`, by default what `rlaif.storage.bounds`
                allows for the key; they are not read.
        """

    def get_tagged(self, key: str) -> tuple[bytes, str]:
        """The object's bytes and its tag, for `put_over`; raises as `get` does."""

    def head(self, key: str) -> ObjectInfo | None:
        """What is known of the object; None when it does not exist."""

    def list(self, prefix: str = "", *, after: str = "") -> Iterator[ObjectInfo]:
        """Objects whose key starts with `prefix` and is greater than `after`, in key order."""

    def scan(self, prefix: str = "") -> Iterator[ObjectInfo]:
        """Objects with this prefix in the server's order, paged; cheaper than `list`."""

    def delete_many(self, keys: Sequence[str]) -> None:
        """Delete objects; keys that do not exist are no error."""
