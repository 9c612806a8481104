"""The settings of the judge."""

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from rlaif.service.settings import ServiceSettings


class JudgeSettings(ServiceSettings):
    """Where the language models are, how they are asked, and how much at once."""

    model_config = SettingsConfigDict(env_prefix="JUDGE_")

    port: int = Field(default=8083, ge=0, le=65535, description="TCP port to listen on.")

    llm_base_url: str = Field(
        default="http://127.0.0.1:8085",
        validation_alias="LLM_BASE_URL",
        description="Server of the routes /dialog, /puzzle and /vision (OpenAI API).",
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
        description="Bearer token for the language models; unset sends none.",
    )

    state_model: str = Field(default="qwen25-7b", description="Model name of the state judge.")
    puzzle_model: str = Field(default="qwen25-32b", description="Model name of the puzzle judge.")
    vision_model: str = Field(
        default="qwen25-vl-32b", description="Model name of the vision judge; it must see pictures."
    )

    votes: int = Field(
        default=3,
        ge=1,
        le=11,
        description="Votes a judge. More: steadier scores, as many times the calls.",
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

    concurrency: int = Field(
        default=4, ge=1, le=64, description="Segments judged at once by this process."
    )
    llm_concurrency: int = Field(
        default=8,
        ge=1,
        le=256,
        description="Calls of language models at once, all routes together.",
    )
    connect_timeout_seconds: float = Field(
        default=5.0, gt=0, description="Longest time to open a connection to a model, in seconds."
    )
    read_timeout_seconds: float = Field(
        default=60.0, gt=0, description="Longest silence within an answer, in seconds."
    )
    call_timeout_seconds: float = Field(
        default=90.0, gt=0, description="Longest time of one call, in seconds."
    )
    call_attempts: int = Field(
        default=3,
        ge=1,
        le=10,
        description="Tries of one call after 429, 5xx or a timeout, before the event waits.",
    )
    breaker_failures: int = Field(
        default=5, ge=1, description="Failures in a row after which a route rests."
    )
    breaker_pause_seconds: float = Field(
        default=15.0, gt=0, description="Rest of a failing route, in seconds."
    )
    startup_retry_seconds: float = Field(
        default=2.0, gt=0, description="Pause between tries to reach NATS and S3 at the start."
    )
