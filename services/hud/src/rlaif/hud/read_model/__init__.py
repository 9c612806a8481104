"""The read model: the state of the HUD, folded from events and readings."""

from pydantic import BaseModel, ConfigDict


class View(BaseModel):
    """Base of the JSON that pages and REST clients get."""

    model_config = ConfigDict(frozen=True)
