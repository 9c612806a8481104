"""Identifiers that are safe as a NATS subject token, an object key part and a file name."""

from typing import Annotated

from pydantic import StringConstraints

ID_PATTERN = r"^[a-z0-9][a-z0-9-]{0,63}$"
SHA256_PATTERN = r"^[0-9a-f]{64}$"

Id = Annotated[str, StringConstraints(pattern=ID_PATTERN)]
"""Lower-case letters, digits and dashes, 1 to 64 characters."""

Sha256 = Annotated[str, StringConstraints(pattern=SHA256_PATTERN)]
"""A SHA-256 digest as 64 lower-case hexadecimal digits."""
