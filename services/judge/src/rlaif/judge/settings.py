"""The settings of the judge, in the blocks that its rooms take as they are."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, SecretStr, field_validator
from pydantic_settings import SettingsConfigDict

from rlaif.judge.rubric.votes import COMPUTED
from rlaif.llm.settings import BreakerSettings, CallSettings, DialectSettings
from rlaif.service.settings import Block, ServiceSettings


class LlmSettings(BaseModel, frozen=True, extra="forbid"):
    """Where the language models are."""

    base_url: str = Field(
        default="http://127.0.0.1:8085",
        description="OpenAI-compatible server, with or without /v1. Routes /dialog, /puzzle and "
        "/vision below it are used where they exist; without them all judges ask the server "
        "itself, and its only model when it lacks the one that is set.",
    )
    state_url: str | None = Field(
        default=None, description="URL of the state judge's model instead of LLM_BASE_URL/dialog."
    )
    puzzle_url: str | None = Field(
        default=None, description="URL of the puzzle judge's model instead of LLM_BASE_URL/puzzle."
    )
    vision_url: str | None = Field(
        default=None, description="URL of the vision judge's model instead of LLM_BASE_URL/vision."
    )
    api_key: SecretStr | None = Field(
        default=None, description="Bearer token for the language models; unset sends none."
    )
    ca_file: Path | None = Field(
        default=None,
        description="PEM file of the authority behind the models' certificates; unset trusts the "
        "public ones.",
    )
    use_direct: bool = Field(
        default=False,
        description="Call each model's own workload service in LLM_NAMESPACE in place of the "
        "gateway at LLM_BASE_URL.",
    )
    namespace: str = Field(
        default="zelda-rl",
        description="Namespace of the workload services that LLM_USE_DIRECT calls.",
    )


class ModelSettings(BaseModel, frozen=True, extra="forbid"):
    """Names of the built-in judges' models."""

    state: str = Field(default="qwen25-7b", description="Model name of the state judge.")
    puzzle: str = Field(default="qwen25-32b", description="Model name of the puzzle judge.")
    vision: str = Field(
        default="qwen25-vl-32b", description="Model name of the vision judge; it must see pictures."
    )


class VoteSettings(BaseModel, frozen=True, extra="forbid"):
    """How votes are asked for."""

    votes: int = Field(
        default=3,
        ge=1,
        le=11,
        description="Votes a judge. More: steadier scores, as many times the calls.",
    )
    adaptive: bool = Field(
        default=False,
        description="Stop asking a judge when two of its votes agree: about a third fewer calls.",
    )
    temperature: float = Field(
        default=0.4,
        ge=0,
        le=2,
        description="Sampling temperature. At 0 votes differ by wording only.",
    )
    seed: int = Field(default=0, ge=0, description="Base of the sampling seeds.")
    max_tokens: int = Field(
        default=256, ge=64, le=4096, description="Longest answer in tokens; too low cuts it off."
    )
    thinking_tokens: int = Field(
        default=0,
        ge=0,
        le=16384,
        description="Tokens that a model may think before its answer, besides JUDGE_MAX_TOKENS. "
        "More: fewer thoughts that are cut off, slower and dearer votes.",
    )

    @property
    def answer_tokens(self) -> int:
        """Tokens that a model may write: its thoughts and its answer."""
        return self.thinking_tokens + self.max_tokens


class CompareSettings(BaseModel, frozen=True, extra="forbid"):
    """How often two segments are compared, which, and by whom."""

    share: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="Share of the segments after which a pair is compared, in both orders: two "
        "calls each. Pairs that the reward model is unsure of, pairs that the RAM ties and "
        "near-ties take turns. 0 never compares.",
    )
    margin: float = Field(
        default=0.05,
        ge=0,
        le=1,
        description="Segments nearly tie when their rises on the quest differ by at most this, in "
        "objectives (half a screen is 0.045), or their rubric means where no rise is known.",
    )
    judge: str = Field(
        default="puzzle",
        description="Judge that compares near-ties and pairs that the reward model is unsure of.",
    )
    pictures_judge: str | None = Field(
        default=None,
        description="Judge that compares what the RAM ties, with pictures of both segments: two in "
        "one prompt. Unset takes the first one that sees pictures; without any, such pairs are not "
        "compared.",
    )


class TrustSettings(BaseModel, frozen=True, extra="forbid"):
    """How often judges are asked what is known, and when they are believed."""

    every: int = Field(
        default=50,
        ge=0,
        description="Segments between two rounds of questions with known answers; 0 never asks.",
    )
    least_accuracy: float = Field(
        default=0.6,
        ge=0,
        le=1,
        description="Share of right answers to known questions below which, surely (95 %), a "
        "judge's votes on a criterion do not count.",
    )
    least_kappa: float = Field(
        default=0.2,
        ge=-1,
        le=1,
        description="Cohen's kappa of votes and RAM below which, surely (95 %), a judge's votes on "
        "a criterion do not count. Lower: only what is no better than chance is left out.",
    )

    @property
    def by_canaries(self) -> bool:
        """Whether questions with known answers are asked at all."""
        return self.every > 0


class RouteSettings(CallSettings, frozen=True, extra="forbid"):
    """How a model is called: how many at once, how long each, how often."""

    concurrency: int = Field(
        default=8, ge=1, le=256, description="Calls of language models at once on each route."
    )
    per_second: float | None = Field(
        default=None,
        gt=0,
        description="Calls a second on each route, in the long run; unset for no limit.",
    )
    total_seconds: float = Field(
        default=90.0,
        gt=0,
        description="Longest time of one call, in seconds; raise it for a slow model. Once answers "
        "came, a call gets four times the slowest of the last 20, at least "
        "JUDGE_LEAST_CALL_TIMEOUT_SECONDS.",
    )
    least_seconds: float = Field(
        default=5.0,
        gt=0,
        description="Least time that a call gets, in seconds. Lower: a hanging route is noticed "
        "sooner, a slow answer is lost sooner.",
    )
    attempts: int = Field(
        default=3,
        ge=1,
        le=10,
        description="Tries of one call after 429, 5xx or a timeout, before the event waits.",
    )


class PatienceSettings(BaseModel, frozen=True, extra="forbid"):
    """How long segments wait for a route in trouble before they are scored without it."""

    refused_seconds: float = Field(
        default=15.0,
        ge=0,
        description="How long segments wait for a route that refuses everything (wrong key, URL or "
        "model name) or whose answers cannot be read, in seconds; then they are scored without its "
        "criteria, provisionally where answers cannot be read.",
    )
    outage_seconds: float = Field(
        default=600.0,
        ge=0,
        description="How long segments wait for a route that answers nothing, in seconds; then "
        "they are scored without its criteria. Longer: fewer incomplete scores, and captures pause "
        "once TRAINER_JUDGE_BACKLOG segments wait.",
    )


class JudgeSettings(ServiceSettings):
    """Where the language models are, how they are asked, and how much at once."""

    model_config = SettingsConfigDict(env_prefix="JUDGE_")

    port: int = Field(default=8083, ge=0, le=65535, description="TCP port to listen on.")

    llm: Annotated[LlmSettings, Block(unprefixed=frozenset(LlmSettings.model_fields))] = (
        LlmSettings()
    )
    panel_file: Path | None = Field(
        default=None,
        description="JSON file with the judges (models, routes, prompts, rubric) in place of the "
        "built-in ones.",
    )
    models: Annotated[
        ModelSettings, Block(names={name: f"{name}_model" for name in ModelSettings.model_fields})
    ] = ModelSettings()
    computed: str = Field(
        default=",".join(COMPUTED),
        description="What is read off the RAM in place of being asked, of: "
        + ", ".join(COMPUTED)
        + ". Empty asks the judges everything, as the original pipeline does.",
    )
    audit_share: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="Share of the segments on which computed levels are asked as well, to hold "
        "the judges against the RAM. More: better figures, more calls.",
    )
    voting: Annotated[VoteSettings, Block(prefix="", names={"adaptive": "adaptive_votes"})] = (
        VoteSettings()
    )
    dialect: Annotated[DialectSettings, Block(prefix="")] = DialectSettings()
    compare: CompareSettings = CompareSettings()
    trust: Annotated[
        TrustSettings,
        Block(
            names={
                "every": "canary_every",
                "least_accuracy": "canary_least_accuracy",
                "least_kappa": "trust_least_kappa",
            }
        ),
    ] = TrustSettings()

    concurrency: int = Field(
        default=4, ge=1, le=64, description="Segments judged at once by this process."
    )
    calls: Annotated[
        RouteSettings,
        Block(
            names={
                "concurrency": "llm_concurrency",
                "per_second": "llm_calls_per_second",
                "connect_seconds": "connect_timeout_seconds",
                "total_seconds": "call_timeout_seconds",
                "least_seconds": "least_call_timeout_seconds",
                "attempts": "call_attempts",
            }
        ),
    ] = RouteSettings()
    cached_answers: int = Field(
        default=2000,
        ge=0,
        description="Answers kept in memory for equal requests, about 1 kB each; 0 keeps none.",
    )
    tokens_per_day: int | None = Field(
        default=None,
        ge=1,
        description="Tokens, read and written, that all replicas together may spend on a day of "
        "UTC; when they are spent, segments wait for the next day. Unset for no limit.",
    )
    breaker: BreakerSettings = BreakerSettings()
    route_check_seconds: float = Field(
        default=5.0,
        gt=0,
        description="Pause between two questions to a route in trouble, in seconds; it grows to "
        "30 s. Lower: a mended route is noticed sooner.",
    )
    patience: Annotated[
        PatienceSettings,
        Block(
            names={
                "refused_seconds": "refused_patience_seconds",
                "outage_seconds": "outage_patience_seconds",
            }
        ),
    ] = PatienceSettings()
    startup_retry_seconds: float = Field(
        default=2.0, gt=0, description="Pause between tries to reach NATS and S3 at the start."
    )

    @field_validator("computed")
    @classmethod
    def _is_known(cls, value: str) -> str:
        if "milestones" in _words(value):
            raise ValueError(
                "milestones no longer settle progress: a judge says where the player stands on the "
                "quest; leave the word out"
            )
        unknown = _words(value) - set(COMPUTED)
        if unknown:
            raise ValueError(f"{sorted(unknown)} cannot be computed; known: {', '.join(COMPUTED)}")
        return value

    def computed_kinds(self) -> frozenset[str]:
        """What is read off the RAM."""
        return _words(self.computed)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip() for word in text.split(",") if word.strip())
