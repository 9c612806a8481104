"""The planner: where the language models are that plan and suggest, and how they are asked."""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr

from rlaif.contracts.plans import Mode
from rlaif.llm.addresses import routed
from rlaif.llm.settings import BreakerSettings, CallSettings, DialectSettings


def _unset_when_blank(text: str | None) -> str | None:
    """A compose file passes unset variables on as empty ones."""
    return text.strip() or None if text is not None else None


def _no_blank_key(key: SecretStr | None) -> SecretStr | None:
    return key if key is not None and key.get_secret_value().strip() else None


Url = Annotated[str | None, AfterValidator(_unset_when_blank)]


class PlannerSettings(DialectSettings):
    """Language models that help while the agent plays; off unless `base_url` is set.

    It is a dialect too, so that all of a planner is set in one block.
    """

    base_url: Url = Field(
        default=None,
        description="OpenAI-compatible server that plans and suggests while the agent plays, with "
        "the routes /dialog, /puzzle and /vision or none. Unset: nobody does, and training is what "
        "it is without.",
    )
    dialog_url: Url = Field(
        default=None,
        description="URL of the model for texts instead of PLANNER_BASE_URL/dialog.",
    )
    puzzle_url: Url = Field(
        default=None,
        description="URL of the model for puzzles instead of PLANNER_BASE_URL/puzzle.",
    )
    vision_url: Url = Field(
        default=None,
        description="URL of the model for pictures instead of PLANNER_BASE_URL/vision.",
    )
    api_key: Annotated[SecretStr | None, AfterValidator(_no_blank_key)] = Field(
        default=None,
        description="Bearer token for the planner's language models; unset sends none.",
    )
    ca_file: Path | None = Field(
        default=None,
        description="PEM file of the authority behind the planner's certificates, on every machine "
        "that plays; unset trusts the public ones.",
    )
    dialog_model: str = Field(default="qwen25-7b", description="Model name of the route /dialog.")
    puzzle_model: str = Field(default="qwen25-32b", description="Model name of the route /puzzle.")
    vision_model: str = Field(
        default="qwen25-vl-32b",
        description="Model name of the route /vision; it must see pictures.",
    )
    plan_seconds: float = Field(
        default=30.0,
        gt=0,
        description="Longest time for a plan, in seconds. The policy plays on meanwhile; a plan "
        "for a room that was left is dropped. Longer: slower models get through, and a hanging one "
        "holds its places longer.",
    )
    text_seconds: float = Field(
        default=15.0,
        gt=0,
        description="Longest time for the suggestion of a button by text, in seconds.",
    )
    vision_seconds: float = Field(
        default=60.0,
        gt=0,
        description="Longest time for the suggestion of a button by picture, in seconds.",
    )
    connect_seconds: float = Field(
        default=5.0, gt=0, description="Longest time to open a connection, in seconds."
    )
    in_flight: int = Field(
        default=4,
        ge=1,
        le=64,
        description="Questions under way at once on each route, of one runner. What comes beyond "
        "is not asked. More: more help, more load on the models.",
    )
    in_flight_total: int = Field(
        default=8,
        ge=1,
        le=192,
        description="Questions under way at once on all routes together, of one runner.",
    )
    calls_per_second: float = Field(
        default=1.0,
        gt=0,
        description="Calls a second of one runner in the long run, on all routes together; what "
        "comes beyond is not asked. A question costs the runner 2 to 9 ms of processor time and "
        "the models some 4,000 tokens: more help costs training speed and money.",
    )
    cached_answers: int = Field(
        default=256,
        ge=0,
        description="Good answers that a runner keeps for equal situations, about 1 kB each; 0 "
        "keeps none.",
    )
    cache_seconds: float = Field(
        default=600.0,
        gt=0,
        description="How long an answer is kept, in seconds. Longer: fewer calls, and what does "
        "not help is tried longer.",
    )
    temperature: float = Field(
        default=0.2,
        ge=0,
        le=2,
        description="Sampling temperature of the planner. Higher: other answers to the same "
        "question, more of them useless.",
    )
    max_tokens: int = Field(
        default=768,
        ge=64,
        le=4096,
        description="Longest answer in tokens; too low cuts plans off, which are then invalid.",
    )
    failures: int = Field(
        default=5, ge=1, description="Failures in a row after which a route of the planner rests."
    )
    pause_seconds: float = Field(
        default=15.0,
        gt=0,
        description="Rest of a failing route of the planner, in seconds; then one question tries "
        "it. Lower: more calls into an outage, earlier recovery.",
    )

    @property
    def is_on(self) -> bool:
        """Whether anybody plans at all."""
        return self.base_url is not None

    def address(self, mode: Mode) -> tuple[str, str | None]:
        """(URL of the route of a mode, URL to ask where a server has no such route).

        Raises:
            ValueError: The planner is off, or `base_url` is not a URL.
        """
        if self.base_url is None:
            raise ValueError("no planner: PLANNER_BASE_URL is not set")
        own = {"dialog": self.dialog_url, "puzzle": self.puzzle_url, "vision": self.vision_url}
        return (own[mode] or "", None) if own[mode] else routed(self.base_url, f"/{mode}")

    def url(self, mode: Mode) -> str:
        """The URL of the route of a mode."""
        return self.address(mode)[0]

    def model(self, mode: Mode) -> str:
        """The name of the model of a mode."""
        return {
            "dialog": self.dialog_model,
            "puzzle": self.puzzle_model,
            "vision": self.vision_model,
        }[mode]

    @property
    def calls(self) -> CallSettings:
        """How long a call may take at most, whatever its deadline."""
        longest = max(self.plan_seconds, self.text_seconds, self.vision_seconds)
        return CallSettings(connect_seconds=self.connect_seconds, total_seconds=longest)

    @property
    def breaker(self) -> BreakerSettings:
        """When a route rests."""
        return BreakerSettings(failures=self.failures, pause_seconds=self.pause_seconds)
