"""The base class of all contract types, and shared field types."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

ID_PATTERN = r"^[a-z0-9][a-z0-9-]{0,63}$"
SHA256_PATTERN = r"^[0-9a-f]{64}$"

Id = Annotated[str, StringConstraints(pattern=ID_PATTERN)]
"""An id that is valid as a NATS subject token, part of an object key and file name."""

Sha256 = Annotated[str, StringConstraints(pattern=SHA256_PATTERN)]
Share = Annotated[float, Field(ge=0, le=1)]
Difference = Annotated[float, Field(ge=-1, le=1)]
"""Difference of two shares."""

MAX_COUNT = 2**53
"""Largest integer up to which doubles, such as JavaScript's numbers, are exact."""
MAX_SECONDS = 1e9
"""30 years, above any measured duration."""

Positive = Annotated[int, Field(ge=1, le=MAX_COUNT)]
Count = Annotated[int, Field(ge=0, le=MAX_COUNT)]
Seconds = Annotated[float, Field(ge=0, le=MAX_SECONDS)]
Amount = Annotated[float, Field(ge=-1e12, le=1e12)]
"""A reward or potential, limited so that sums remain finite."""


class Contract(BaseModel):
    """A frozen record that tolerates fields added by a newer writer.

    Within a version only optional fields are added; other changes require a new version (ADR 0003).
    """

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)
