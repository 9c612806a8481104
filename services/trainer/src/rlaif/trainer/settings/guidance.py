"""Guidance: how often a language model suggests a button, and the bonus for following it."""

from typing import Any, Literal, Self

from pydantic import BaseModel, Field, model_validator

from rlaif.service.settings import INTERNAL

PRESETS: dict[str, dict[str, float | None]] = {
    "default": {},
    "seed": {
        "rest_steps": 0, "most_waiting": None, "text_bonus": 5.0, "vision_bonus": 50.0,
        "decisions": None, "expiry_steps": None, "reach_tiles": None, "most_an_episode": None,
    },
}  # fmt: skip
"""What a preset changes of the defaults below. Reasons and numbers: ADR 0024."""


class GuidanceSettings(BaseModel, frozen=True, extra="forbid"):
    """When a button is suggested, and what following it pays; nothing without a planner."""

    preset: Literal["default", "seed"] = Field(
        default="default",
        description="Bonuses and limits that are not set individually. default: at most one "
        "milestone per episode; seed: the bonuses of the seeds without limits, which outweigh "
        "the game (ADR 0024).",
    )
    text_chance: float = Field(
        default=0.02,
        ge=0,
        le=1,
        description="Probability per decision step of asking a text model for a button, unless a "
        "request of the environment is pending. 0 disables it.",
    )
    vision_chance: float = Field(
        default=0.03,
        ge=0,
        le=1,
        description="The same for a vision model.",
    )
    rest_steps: int = Field(default=1_000, ge=0, json_schema_extra=INTERNAL)
    """Minimum decision steps of an environment between two requests."""
    most_waiting: int | None = Field(default=2, ge=1, json_schema_extra=INTERNAL)
    """Maximum pending requests of a runner; None: as many as the planner accepts."""
    text_bonus: float = Field(
        default=0.02,
        ge=0,
        description="Bonus for following a suggestion of a text model. Visiting a new square is "
        "worth 0.05. Preset seed: 5.",
    )
    vision_bonus: float = Field(
        default=0.05,
        ge=0,
        description="Bonus for following a suggestion of a vision model. Preset seed: 50.",
    )
    decisions: int | None = Field(default=1, ge=1, json_schema_extra=INTERNAL)
    """Decisions that a suggestion is compared with; None: all until the next suggestion."""
    expiry_steps: int | None = Field(default=20_000, ge=1, json_schema_extra=INTERNAL)
    """Decision steps after which a suggestion expires; 20,000 are 22 minutes of game time. None:
    never."""
    reach_tiles: int | None = Field(default=1, ge=0, json_schema_extra=INTERNAL)
    """Maximum distance from where it was requested, in the same room; None: anywhere."""
    most_an_episode: float | None = Field(default=1.0, gt=0, json_schema_extra=INTERNAL)
    """Maximum bonus per episode. It stays below one milestone (2 at least), so that obeying is not
    worth more than playing. None: no limit."""

    @model_validator(mode="before")
    @classmethod
    def _fill_in_the_preset(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return PRESETS.get(given.get("preset", "default"), {}) | given

    @model_validator(mode="after")
    def _chances_fit_together(self) -> Self:
        if self.text_chance + self.vision_chance > 1:
            raise ValueError(
                f"guidance_text_chance {self.text_chance} and guidance_vision_chance "
                f"{self.vision_chance} add up to more than 1: a step asks for one button at most"
            )
        return self

    @property
    def asks(self) -> bool:
        """Whether anything is ever asked."""
        return self.text_chance + self.vision_chance > 0
