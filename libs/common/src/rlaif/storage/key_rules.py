"""Which keys both stores accept: what is safe as an S3 key, in a URL and as a file path.

A key is 1 to 900 bytes of UTF-8, in parts of 1 to 200 bytes separated by "/". No part is "." or
"..", and no character is a control character or a backslash.

Do not let a key begin another object's key ("a" and "a/b"). All stores read, list and replace such
objects rightly, but on SeaweedFS `put_once("a")` fails loudly while a folder "a" is there.
"""

import unicodedata

from rlaif.storage.ports import InvalidKeyError

MAX_KEY_BYTES = 900
"""S3 allows 1,024; the rest is room for a server's own prefix."""

MAX_PART_BYTES = 200
"""File systems allow 255 bytes a name."""


def check_key(key: str) -> str:
    """Give the key back.

    Raises:
        InvalidKeyError: It breaks a rule; the text says which.
    """
    problem = _problem(key)
    if problem is not None:
        raise InvalidKeyError(f"key {key[:200]!r} {problem}")
    return key


def _problem(key: str) -> str | None:
    try:
        size = len(key.encode())
    except UnicodeEncodeError:
        return "is not valid Unicode"
    if not 1 <= size <= MAX_KEY_BYTES:
        return f"has {size} bytes; 1 to {MAX_KEY_BYTES} are allowed"
    if "\\" in key or any(unicodedata.category(char) == "Cc" for char in key):
        return "has a backslash or a control character"
    parts = key.split("/")
    if "" in parts:
        return 'begins or ends with "/", or has "//"'
    if "." in parts or ".." in parts:
        return 'has a part "." or ".."'
    if any(len(part.encode()) > MAX_PART_BYTES for part in parts):
        return f"has a part of more than {MAX_PART_BYTES} bytes"
    return None
