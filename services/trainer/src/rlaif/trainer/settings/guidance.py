"""Guidance: how often a language model is asked for one button, and what it pays to press it."""

from typing import Any, Literal, Self

from pydantic import BaseModel, Field, model_validator

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
        description="What a followed suggestion pays, as far as it is not set one by one: default "
        "stays below one milestone an episode; seed has the seeds' bonuses, without any limit, and "
        "drowns the game (ADR 0024). Each says below what they differ in.",
    )
    text_chance: float = Field(
        default=0.02,
        ge=0,
        le=1,
        description="Chance a decision step that a model which reads is asked for a button. It is "
        "not asked while an environment waits for an answer. 0 never asks.",
    )
    vision_chance: float = Field(
        default=0.03,
        ge=0,
        le=1,
        description="The same for a model that looks at the screen; that step is drawn.",
    )
    rest_steps: int = Field(
        default=1_000,
        ge=0,
        description="Decision steps of an environment between two questions at least. Fewer ask a "
        "quick model more often; a question takes as long as 15 steps. Preset seed: 0.",
    )
    most_waiting: int | None = Field(
        default=2,
        ge=1,
        description="Questions of a runner that wait for a button at a time. More ask a slow model "
        "more often. Preset seed: as many as the planner takes.",
    )
    text_bonus: float = Field(
        default=0.02,
        ge=0,
        description="What it pays to follow a suggestion of a model that reads. A square that "
        "nobody has seen pays 0.05. Preset seed: 5.",
    )
    vision_bonus: float = Field(
        default=0.05,
        ge=0,
        description="The same for a model that looks at the screen. Preset seed: 50.",
    )
    decisions: int | None = Field(
        default=1,
        ge=1,
        description="Decisions of the policy that a suggestion is compared with, until one follows "
        "it. More pay nearly any policy for waiting and tell it less. Preset seed: every one, each "
        "paid, until the next suggestion.",
    )
    expiry_steps: int | None = Field(
        default=20_000,
        ge=1,
        description="Decision steps after the question at which a suggestion is forgotten: 20,000 "
        "are 22 minutes in the game and seconds of training. More give a slower model a say, about "
        "a moment longer ago. Preset seed: never.",
    )
    reach_tiles: int | None = Field(
        default=1,
        ge=0,
        description="How far from where the player stood when it was asked for, in the same room, "
        "a suggestion still counts. Preset seed: anywhere, in any room.",
    )
    most_an_episode: float | None = Field(
        default=1.0,
        gt=0,
        description="The most that an episode is paid for following. Keep it below what one "
        "milestone pays, 2 at least: more, and obeying is worth more than playing. Preset seed: no "
        "limit.",
    )

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
