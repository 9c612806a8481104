"""The settings of the judge, and the parameters of its parts."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, SecretStr, field_validator
from pydantic_settings import SettingsConfigDict

from rlaif.bus.ports import WorkerSettings
from rlaif.judge.rubric.votes import COMPUTED
from rlaif.llm.route import RouteLimits
from rlaif.llm.settings import SCHEMA_MODE, CallSettings, DialectSettings, ModelName, SchemaMode
from rlaif.service.settings import INTERNAL, ServiceSettings

_CALLS_PER_VOTE = 2
"""An answer that cannot be parsed is requested once more."""
_MAX_SEGMENT_SECONDS = 86400.0


class VoteSettings(BaseModel, frozen=True, extra="forbid"):
    """Parameters of the votes of a judge; part of the identity of its scores."""

    votes: int = 3
    temperature: float = 0.4
    seed: int = 0
    max_tokens: int = 256
    thinking_tokens: int = 0

    @property
    def answer_tokens(self) -> int:
        """Maximum generated tokens: reasoning and answer."""
        return self.thinking_tokens + self.max_tokens


class JudgeSettings(ServiceSettings):
    """Settings of the judges, their language models and rates."""

    model_config = SettingsConfigDict(env_prefix="JUDGE_")

    port: int = Field(default=8083, ge=0, le=65535, description="TCP port to listen on.")

    llm_base_url: str = Field(
        default="http://127.0.0.1:8085",
        validation_alias="LLM_BASE_URL",
        description="OpenAI-compatible server, with or without /v1. Its routes /dialog, /puzzle "
        "and /vision are used if they exist. Otherwise all judges use the server itself, and its "
        "only model if it does not have the configured one.",
    )
    llm_state_url: str | None = Field(
        default=None,
        validation_alias="LLM_STATE_URL",
        description="URL of the state judge's model instead of LLM_BASE_URL/dialog.",
    )
    llm_puzzle_url: str | None = Field(
        default=None,
        validation_alias="LLM_PUZZLE_URL",
        description="URL of the puzzle judge's model instead of LLM_BASE_URL/puzzle.",
    )
    llm_vision_url: str | None = Field(
        default=None,
        validation_alias="LLM_VISION_URL",
        description="URL of the vision judge's model instead of LLM_BASE_URL/vision.",
    )
    llm_api_key: SecretStr | None = Field(
        default=None,
        validation_alias="LLM_API_KEY",
        description="Bearer token for the language models. Unset: no token is sent.",
    )
    llm_ca_file: Path | None = Field(
        default=None,
        validation_alias="LLM_CA_FILE",
        description="PEM file with the certificate authorities of the language models. Unset: the "
        "public ones.",
    )
    llm_use_direct: bool = Field(
        default=False,
        validation_alias="LLM_USE_DIRECT",
        description="Call each model's own workload service in LLM_NAMESPACE instead of the "
        "gateway at LLM_BASE_URL.",
    )
    llm_namespace: str = Field(
        default="zelda-rl",
        validation_alias="LLM_NAMESPACE",
        description="Namespace of the workload services that LLM_USE_DIRECT calls.",
    )
    panel_file: Path | None = Field(
        default=None,
        description="JSON file that defines the judges (models, routes, prompts, rubric) and "
        "replaces the built-in ones; JUDGE_STATE_MODEL and the others then have no effect.",
    )
    state_model: ModelName = Field(
        default="qwen25-7b", description="Model name of the state judge."
    )
    puzzle_model: ModelName = Field(
        default="qwen25-32b", description="Model name of the puzzle judge."
    )
    vision_model: ModelName = Field(
        default="qwen25-vl-32b",
        description="Model name of the vision judge; it must accept images.",
    )
    computed: str = Field(
        default=",".join(COMPUTED),
        description="Comma-separated criteria that are computed from RAM instead of judged: "
        + ", ".join(COMPUTED)
        + ". Empty: none, as in the original pipeline.",
    )
    audit_share: float = Field(default=0.2, ge=0, le=1, json_schema_extra=INTERNAL)
    """Share of segments whose computed criteria are also judged, to compare judges with RAM."""

    votes: int = Field(
        default=3,
        ge=1,
        le=11,
        description="Votes per judge and segment. More votes give steadier scores; calls grow in "
        "proportion.",
    )
    temperature: float = Field(
        default=0.4,
        ge=0,
        le=2,
        description="Sampling temperature. At 0, votes differ only in wording.",
    )
    max_tokens: int = Field(
        default=256,
        ge=64,
        le=4096,
        description="Maximum answer length in tokens. Values that are too low truncate answers.",
    )
    thinking_tokens: int = Field(
        default=0,
        ge=0,
        le=16384,
        description="Additional tokens for a reasoning model before its answer, on top of "
        "JUDGE_MAX_TOKENS. Higher values truncate less reasoning but make votes slower and more "
        "expensive.",
    )
    schema_mode: SchemaMode = Field(default="json_schema", description=SCHEMA_MODE)
    chat_template_kwargs: dict[str, Any] | None = Field(
        default=None,
        description="JSON object passed to the models' chat templates, such as "
        '{"enable_thinking": false} for Qwen3. Unset: none.',
    )
    compare_share: float = Field(
        default=0.1,
        ge=0,
        le=1,
        description="Share of segments after which a pair is compared, in both orders (two calls). "
        "The reward model requests the pairs about which it is uncertain. 0 disables comparisons.",
    )
    canary_every: int = Field(
        default=50,
        ge=0,
        description="Segments between two rounds of control questions (questions with known "
        "answers); 0 disables them.",
    )
    worlds_dir: Path = Field(
        default=Path("var/worlds"),
        validation_alias="WORLDS_DIR",
        description="Folder of generated worlds, each with a guide such as `world-7-30/guide.md`; "
        "without one, judges use a general guide.",
    )
    concurrency: int = Field(default=4, ge=1, le=64, json_schema_extra=INTERNAL)
    """Segments judged concurrently by this process."""

    llm_concurrency: int = Field(
        default=RouteLimits().concurrency,
        ge=1,
        le=256,
        description="Concurrent language-model calls per route; each judge has one, also on a "
        "shared server.",
    )
    llm_calls_per_second: float | None = Field(
        default=None,
        gt=0,
        description="Maximum sustained language-model calls per second per route. Unset: no limit.",
    )
    call_timeout_seconds: float = Field(
        default=RouteLimits().total_seconds,
        gt=0,
        description="Maximum duration of one call, in seconds. Raise it for a slow model. Once "
        "answers have arrived, the deadline is four times the slowest of the last 20.",
    )
    cached_answers: int = Field(
        default=2000,
        ge=0,
        description="Answers cached in memory for identical requests, about 1 kB each; 0 disables "
        "the cache.",
    )
    tokens_per_day: int | None = Field(
        default=None,
        ge=1,
        description="Maximum prompt and completion tokens of all replicas together per UTC day. "
        "Once they are used up, segments wait for the next day. Unset: no limit.",
    )
    limits: RouteLimits = Field(default=RouteLimits(), json_schema_extra=INTERNAL)
    """Limits of a route that have no separate settings."""

    route_check_seconds: float = Field(default=5.0, gt=0, json_schema_extra=INTERNAL)
    """Pause between two probes of a failing route; it grows to 30 s."""

    patience_refused_seconds: float = Field(default=15.0, json_schema_extra=INTERNAL)
    """Time that segments wait for a route that rejects every call (wrong key, URL or model name) or
    whose answers cannot be parsed, before they are scored without it."""

    patience_outage_seconds: float = Field(default=600.0, json_schema_extra=INTERNAL)
    """Time that segments wait for a route that does not answer."""

    @property
    def voting(self) -> VoteSettings:
        return VoteSettings(
            votes=self.votes,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            thinking_tokens=self.thinking_tokens,
        )

    @property
    def dialect(self) -> DialectSettings:
        return DialectSettings(
            schema_mode=self.schema_mode, chat_template_kwargs=self.chat_template_kwargs
        )

    @property
    def calls(self) -> CallSettings:
        return CallSettings(total_seconds=self.call_timeout_seconds)

    @property
    def route_limits(self) -> RouteLimits:
        return replace(
            self.limits,
            concurrency=self.llm_concurrency,
            per_second=self.llm_calls_per_second,
            total_seconds=self.call_timeout_seconds,
        )

    @property
    def worker(self) -> WorkerSettings:
        """Of the queue of segments; a segment may wait for the slowest calls of all others."""
        calls = self.concurrency * self.votes * _CALLS_PER_VOTE
        rounds = -(-calls // self.llm_concurrency) * self.limits.attempts
        seconds = min(rounds * self.call_timeout_seconds, _MAX_SEGMENT_SECONDS)
        deadline = WorkerSettings().deadline + timedelta(seconds=seconds)
        return WorkerSettings(concurrency=self.concurrency, deadline=deadline)

    @field_validator("computed")
    @classmethod
    def _is_known(cls, value: str) -> str:
        unknown = _words(value) - set(COMPUTED)
        if unknown:
            raise ValueError(f"{sorted(unknown)} cannot be computed; known: {', '.join(COMPUTED)}")
        return value

    def computed_kinds(self) -> frozenset[str]:
        return _words(self.computed)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip() for word in text.split(",") if word.strip())
