"""The planner: its language models, when it plays, which buttons it suggests."""

from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, Field, SecretStr, model_validator

from rlaif.contracts.planning.plans import Mode
from rlaif.llm.addresses import routed
from rlaif.llm.settings import SCHEMA_MODE, CallSettings, DialectSettings, ModelName, SchemaMode
from rlaif.service.settings import INTERNAL, PER_SERVICE


class PlannerSettings(DialectSettings):
    """Language models that help while the agent plays; off unless `base_url` is set.

    It is also a dialect, so that one block configures a planner.
    """

    base_url: str | None = Field(
        default=None,
        description="OpenAI-compatible server of the planner, with or without the routes /dialog, "
        "/puzzle and /vision. In mode quest it also rates the finds of the search by their "
        "position on the quest, to guide the search. Unset: no planner.",
        json_schema_extra=PER_SERVICE,
    )
    dialog_url: str | None = Field(
        default=None,
        description="URL of the text model instead of TRAINER_PLANNER_BASE_URL/dialog.",
        json_schema_extra=PER_SERVICE,
    )
    puzzle_url: str | None = Field(
        default=None,
        description="URL of the puzzle model instead of TRAINER_PLANNER_BASE_URL/puzzle.",
        json_schema_extra=PER_SERVICE,
    )
    vision_url: str | None = Field(
        default=None,
        description="URL of the vision model instead of TRAINER_PLANNER_BASE_URL/vision.",
        json_schema_extra=PER_SERVICE,
    )
    api_key: SecretStr | None = Field(
        default=None,
        description="Bearer token for the language models of the planner. Unset: no token is sent.",
        json_schema_extra=PER_SERVICE,
    )
    ca_file: Path | None = Field(
        default=None,
        description="PEM file with the certificate authorities of the planner, on every machine "
        "that plays. Unset: the public ones.",
        json_schema_extra=PER_SERVICE,
    )
    dialog_model: ModelName = Field(
        default="qwen25-7b", description="Model name of the route /dialog."
    )
    puzzle_model: ModelName = Field(
        default="qwen25-32b", description="Model name of the route /puzzle."
    )
    vision_model: ModelName = Field(
        default="qwen25-vl-32b",
        description="Model name of the route /vision; it must accept images.",
    )
    schema_mode: SchemaMode = Field(default="json_schema", description=SCHEMA_MODE)
    chat_template_kwargs: dict[str, Any] | None = Field(
        default=None,
        description="JSON object passed to the chat templates of the planner's models, such as "
        '{"enable_thinking": false} for Qwen3. Unset: none.',
    )
    plan_seconds: float = Field(
        default=30.0,
        gt=0,
        description="Deadline of a plan, in seconds. The policy continues meanwhile; plans for "
        "rooms that were left are dropped.",
    )
    text_seconds: float = Field(default=15.0, gt=0, json_schema_extra=INTERNAL)
    """Deadline of a button suggestion by text."""
    vision_seconds: float = Field(default=60.0, gt=0, json_schema_extra=INTERNAL)
    """Deadline of a button suggestion by picture."""
    in_flight: int = Field(default=4, ge=1, le=64, json_schema_extra=INTERNAL)
    """Concurrent requests of one runner per route; further ones are dropped."""
    in_flight_total: int = Field(default=8, ge=1, le=192, json_schema_extra=INTERNAL)
    """Concurrent requests of one runner on all routes."""
    calls_per_second: float = Field(default=1.0, gt=0, json_schema_extra=INTERNAL)
    """Requests per second of one runner in the long run, on all routes; a request costs it 2 to 9
    ms of CPU time and some 4,000 tokens."""
    cached_answers: int = Field(default=256, ge=0, json_schema_extra=INTERNAL)
    """Valid answers cached per runner for identical situations, about 1 kB each."""
    cache_seconds: float = Field(default=600.0, gt=0, json_schema_extra=INTERNAL)
    """Lifetime of a cached answer."""
    temperature: float = Field(default=0.2, ge=0, le=2, json_schema_extra=INTERNAL)
    max_tokens: int = Field(default=768, ge=64, le=4096, json_schema_extra=INTERNAL)
    failures: int = Field(default=5, ge=1, json_schema_extra=INTERNAL)
    """Consecutive failures that open the circuit breaker of a route."""
    pause_seconds: float = Field(default=15.0, gt=0, json_schema_extra=INTERNAL)
    """Pause of a failing route before the next attempt."""

    @property
    def is_on(self) -> bool:
        return self.base_url is not None

    def address(self, mode: Mode) -> tuple[str, str | None]:
        """(URL of a mode's route, URL for servers that have no such route).

        Raises:
            ValueError: The planner is off, or `base_url` is not a URL.
        """
        if self.base_url is None:
            raise ValueError("no planner: TRAINER_PLANNER_BASE_URL is not set")
        own = {"dialog": self.dialog_url, "puzzle": self.puzzle_url, "vision": self.vision_url}
        return (own[mode] or "", None) if own[mode] else routed(self.base_url, f"/{mode}")

    def url(self, mode: Mode) -> str:
        return self.address(mode)[0]

    def model(self, mode: Mode) -> str:
        return {
            "dialog": self.dialog_model,
            "puzzle": self.puzzle_model,
            "vision": self.vision_model,
        }[mode]

    @property
    def calls(self) -> CallSettings:
        """Maximum duration of any call, over all kinds."""
        longest = max(self.plan_seconds, self.text_seconds, self.vision_seconds)
        return CallSettings(total_seconds=longest)


class TakeoverSettings(BaseModel, frozen=True, extra="forbid"):
    """Limits of planner control; unused without a planner."""

    share: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="Maximum share of the steps of an episode that the planner may play. 0 "
        "disables planner control.",
    )
    max_steps: int = Field(default=400, ge=1, json_schema_extra=INTERNAL)
    """Maximum emulator steps of one takeover; 400 are 27 seconds of game time."""
    looks: int = Field(default=3, ge=1, json_schema_extra=INTERNAL)
    """Consecutive emulator steps that must show a dialog or a puzzle, or none, before that counts;
    fixed by the specification."""
    rest_steps: int = Field(default=300, ge=0, json_schema_extra=INTERNAL)
    """Emulator steps without a request after a takeover that failed or had no effect. They double
    with each consecutive one, up to 16 times (ADR 0023)."""
    patience_steps: int = Field(default=20_000, ge=1, json_schema_extra=INTERNAL)
    """Emulator steps after which an environment asks again although no answer arrived."""


PRESETS: dict[str, dict[str, float | None]] = {
    "default": {},
    "seed": {
        "rest_steps": 0, "most_waiting": None, "text_bonus": 5.0, "vision_bonus": 50.0,
        "decisions": None, "expiry_steps": None, "reach_tiles": None, "most_an_episode": None,
    },
}  # fmt: skip
"""Changes of a preset to the defaults below. Reasons and numbers: ADR 0024."""


class GuidanceSettings(BaseModel, frozen=True, extra="forbid"):
    """Button suggestions and the bonus for following them; unused without a planner."""

    preset: Literal["default", "seed"] = Field(
        default="default",
        description="Bonuses and limits that are not set individually. default: at most one "
        "milestone per episode; seed: the bonuses of the original specification, without limits, "
        "which outweigh the game (ADR 0024).",
    )
    text_chance: float = Field(
        default=0.02,
        ge=0,
        le=1,
        description="Probability per emulator step of asking a text model for a button, unless a "
        "request of the environment is pending. 0 disables it.",
    )
    vision_chance: float = Field(
        default=0.03,
        ge=0,
        le=1,
        description="The same for a vision model.",
    )
    rest_steps: int = Field(default=1_000, ge=0, json_schema_extra=INTERNAL)
    """Minimum emulator steps of an environment between two requests."""
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
    """Emulator steps after which a suggestion expires; 20,000 are 22 minutes of game time. None:
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
        return self.text_chance + self.vision_chance > 0
