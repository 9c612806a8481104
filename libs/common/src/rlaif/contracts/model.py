"""The base of every contract type."""

from pydantic import BaseModel, ConfigDict


class Contract(BaseModel):
    """A frozen record that tolerates fields added by a newer writer.

    Within a version only optional fields are added; anything else is a new version (ADR 0003).
    """

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)
