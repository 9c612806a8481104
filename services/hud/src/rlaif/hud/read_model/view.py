"""The base of what is shown."""

from pydantic import BaseModel, ConfigDict


class View(BaseModel):
    """Base of all views."""

    model_config = ConfigDict(frozen=True)
