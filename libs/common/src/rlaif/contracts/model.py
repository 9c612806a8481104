"""The base of every contract type, and the field types that many of them share."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

ID_PATTERN = r"^[a-z0-9][a-z0-9-]{0,63}$"
SHA256_PATTERN = r"^[0-9a-f]{64}$"

Id = Annotated[str, StringConstraints(pattern=ID_PATTERN)]
"""Safe as a NATS subject token, an object key part and a file name."""

Sha256 = Annotated[str, StringConstraints(pattern=SHA256_PATTERN)]
Share = Annotated[float, Field(ge=0, le=1)]
Difference = Annotated[float, Field(ge=-1, le=1)]
"""Of two shares."""

MAX_COUNT = 2**53
"""The largest integer up to which a double holds each one exactly, as JavaScript's numbers do."""
MAX_SECONDS = 1e9
"""30 years; no measured duration is longer."""

Positive = Annotated[int, Field(ge=1, le=MAX_COUNT)]
Count = Annotated[int, Field(ge=0, le=MAX_COUNT)]
Seconds = Annotated[float, Field(ge=0, le=MAX_SECONDS)]
Amount = Annotated[float, Field(ge=-1e12, le=1e12)]
"""A reward or potential: sums of them stay finite."""


class Contract(BaseModel):
    """A frozen record that tolerates fields added by a newer writer.

    Within a version only optional fields are added; anything else is a new version (ADR 0003).
    """

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)
