"""A folder as an object store, for any number of processes of one machine.

A part of a key before "/" is a folder with the suffix ".d", the last part is a file; characters
other than letters, digits and `._-=+@,~` are percent-encoded. Content types are not stored.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote, unquote
from uuid import uuid4

from rlaif.files.whole import to_disk
from rlaif.storage.bounds import check_size
from rlaif.storage.keys import check_key
from rlaif.storage.ports import (
    BINARY,
    ObjectInfo,
    ObjectNotFoundError,
    StoreUnavailableError,
)

_FOLDER_END = ".d"
_TEMPORARY = "%tmp"  # not a percent code, so no key encodes to it
_LOCK = f"{_TEMPORARY}/lock"
_ABANDONED_SECONDS = 3600.0
"""Age of a temporary file whose writer was killed; a write takes seconds."""


class FileStore:
    """A store in the folder `root`, which is created if missing.

    Writes are flushed to disk. Symbolic links inside `root` are not followed.
    """

    def __init__(self, root: Path) -> None:
        try:
            root.mkdir(parents=True, exist_ok=True)
            self._root = root.resolve(strict=True)
            (self._root / _TEMPORARY).mkdir(exist_ok=True)
            self._drop_abandoned()
        except OSError as error:
            raise StoreUnavailableError(f"cannot use the folder {root}: {error}") from error

    @property
    def url(self) -> str:
        return self._root.as_uri()

    def put_once(self, key: str, data: bytes, *, content_type: str = BINARY) -> bool:
        path = self._path(key)
        try:
            with self._written(path, data) as temporary:
                try:
                    # Creating a hard link is atomic and fails if the name exists.
                    os.link(temporary, path, follow_symlinks=False)
                except FileExistsError:
                    return False
                except OSError as error:
                    if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS):
                        raise
                    raise StoreUnavailableError(
                        f"{self.url} is on a file system without hard links, such as exFAT: move it"
                    ) from error
            to_disk(path.parent)
        except OSError as error:
            raise self._unavailable(key, error) from error
        return True

    def put(self, key: str, data: bytes, *, content_type: str = BINARY) -> None:
        path = self._path(key)
        try:
            with self._written(path, data) as temporary:
                os.replace(temporary, path)
            to_disk(path.parent)
        except OSError as error:
            raise self._unavailable(key, error) from error

    def put_over(self, key: str, data: bytes, tag: str, *, content_type: str = BINARY) -> bool:
        """Replace the object if its digest is still `tag`; atomic among such replacements."""
        try:
            with (self._root / _LOCK).open("ab") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)  # until closed
                try:
                    if self.get_tagged(key)[1] != tag:
                        return False
                except ObjectNotFoundError:
                    return False
                self.put(key, data)
                return True
        except OSError as error:
            raise self._unavailable(key, error) from error

    def get_tagged(self, key: str) -> tuple[bytes, str]:
        data = self.get(key)
        return data, hashlib.sha256(data).hexdigest()

    def get(self, key: str, max_bytes: int | None = None) -> bytes:
        path = self._path(key)
        try:
            with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
                check_size(key, os.fstat(file.fileno()).st_size, max_bytes)
                return file.read()
        except FileNotFoundError as error:
            raise ObjectNotFoundError(f"{self.url} has no object {key!r}") from error
        except OSError as error:
            raise self._unavailable(key, error) from error

    def head(self, key: str) -> ObjectInfo | None:
        path = self._path(key)
        try:
            return _info(key, path.stat(follow_symlinks=False))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unavailable(key, error) from error

    def list(self, prefix: str = "", *, after: str = "") -> Iterator[ObjectInfo]:
        try:
            yield from _walk(self._root, "", prefix, after)
        except OSError as error:
            raise self._unavailable(prefix, error) from error

    def scan(self, prefix: str = "") -> Iterator[ObjectInfo]:
        return self.list(prefix)

    def delete_many(self, keys: Sequence[str]) -> None:
        for path in [self._path(key) for key in keys]:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise self._unavailable(str(path), error) from error

    def _path(self, key: str) -> Path:
        *folders, name = check_key(key).split("/")
        path = self._root
        for folder in folders:
            path /= _encode(folder) + _FOLDER_END
            if path.is_symlink():
                raise StoreUnavailableError(
                    f"{path} is a symbolic link; the store does not follow links; remove it"
                )
        return path / _file_name(name)

    @contextlib.contextmanager
    def _written(self, path: Path, data: bytes) -> Iterator[Path]:
        """A temporary file with `data`, flushed; the folders of `path` exist."""
        _make_folders(path.parent, self._root)
        temporary = self._root / _TEMPORARY / uuid4().hex
        try:
            temporary.write_bytes(data)
            to_disk(temporary)
            yield temporary
        finally:
            temporary.unlink(missing_ok=True)

    def _drop_abandoned(self) -> None:
        oldest = time.time() - _ABANDONED_SECONDS
        for path in (self._root / _TEMPORARY).glob("?" * 32):
            with contextlib.suppress(FileNotFoundError):  # another process was faster
                if path.stat().st_mtime < oldest:
                    path.unlink()

    def _unavailable(self, key: str, error: OSError) -> StoreUnavailableError:
        return StoreUnavailableError(f"{self.url}: {key!r}: {error}")


def _encode(part: str) -> str:
    return quote(part, safe="=+@,~")


def _file_name(part: str) -> str:
    # A file must not look like a folder: the last dot of "x.d" is encoded.
    name = _encode(part)
    return name.removesuffix(_FOLDER_END) + "%2Ed" if name.endswith(_FOLDER_END) else name


def _walk(folder: Path, base: str, prefix: str, after: str) -> Iterator[ObjectInfo]:
    """Objects below `folder`, whose keys start with `base`, in key order."""
    for name, entry in sorted(_entries(folder)):
        key = base + name
        if key.endswith("/"):
            in_prefix = key.startswith(prefix) or prefix.startswith(key)
            # All keys inside begin with `key`, so they are greater than `after` or it is inside.
            if in_prefix and (key > after or after.startswith(key)):
                yield from _walk(folder / entry, key, prefix, after)
        elif key.startswith(prefix) and key > after:
            try:
                yield _info(key, (folder / entry).stat(follow_symlinks=False))
            except FileNotFoundError:  # deleted meanwhile
                continue


def _entries(folder: Path) -> Iterator[tuple[str, str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name.endswith(_FOLDER_END):
                    yield unquote(entry.name.removesuffix(_FOLDER_END)) + "/", entry.name
            elif entry.is_file(follow_symlinks=False):
                yield unquote(entry.name), entry.name


def _info(key: str, stat: os.stat_result) -> ObjectInfo:
    return ObjectInfo(key, stat.st_size, datetime.fromtimestamp(stat.st_mtime, UTC))


def _make_folders(folder: Path, root: Path) -> None:
    """Create `folder` below `root`; the parent of a new folder is flushed to disk."""
    if folder == root or folder.is_dir():
        return
    _make_folders(folder.parent, root)
    folder.mkdir(exist_ok=True)
    to_disk(folder.parent)
