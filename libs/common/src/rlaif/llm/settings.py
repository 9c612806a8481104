"""Blocks of settings for services that call language models; a service names them as it likes."""

from typing import Any, Literal

from pydantic import BaseModel, Field

SchemaMode = Literal["json_schema", "json_schema_subset", "json_object", "guided_json", "none"]


class DialectSettings(BaseModel, frozen=True, extra="forbid"):
    """What servers want to be told beside messages and sampling."""

    schema_mode: SchemaMode = Field(
        default="json_schema",
        description="How the shape of an answer is asked for. `json_schema`: response_format of "
        "vLLM, llama.cpp, Ollama; `json_schema_subset`: the same, with what OpenAI's strict mode "
        "takes; `json_object`: any JSON; `guided_json`: vLLM before 0.12; `none`: by the prompt "
        "alone. A server that refuses a form is asked by the next one of these.",
    )
    chat_template_kwargs: dict[str, Any] | None = Field(
        default=None,
        description="JSON object for the chat templates of the models, such as "
        '{"enable_thinking": false} for Qwen3; unset sends none.',
    )


PLAIN = DialectSettings()
"""What most servers understand."""


class CallSettings(BaseModel, frozen=True, extra="forbid"):
    """How long one call may take."""

    connect_seconds: float = Field(
        default=5.0, gt=0, description="Longest time to open a connection to a model, in seconds."
    )
    total_seconds: float = Field(
        default=90.0, gt=0, description="Longest time of one call, in seconds."
    )


class BreakerSettings(BaseModel, frozen=True, extra="forbid"):
    """When a failing route rests."""

    failures: int = Field(
        default=5, ge=1, description="Failures in a row after which a route rests."
    )
    pause_seconds: float = Field(
        default=3.0,
        gt=0,
        description="Rest of a failing route, in seconds; then one call tries it. Lower: more "
        "calls into an outage, earlier recovery.",
    )
