"""Parameters of clients of language models."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints

ModelName = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]

SchemaMode = Literal["json_schema", "json_schema_subset", "json_object", "guided_json", "none"]

SCHEMA_MODE = (
    "Kind of request for the answer schema: `json_schema` (vLLM, llama.cpp, Ollama), "
    "`json_schema_subset` (OpenAI's strict mode), `json_object` (any JSON), `guided_json` (vLLM "
    "before 0.12), `none` (the prompt alone). If a server rejects one, the next one is used."
)
"""Description of a setting of this type."""


class DialectSettings(BaseModel, frozen=True, extra="forbid"):
    """Server-specific parameters besides messages and sampling."""

    schema_mode: SchemaMode = "json_schema"
    chat_template_kwargs: dict[str, Any] | None = None


PLAIN = DialectSettings()
"""Accepted by most servers."""


class CallSettings(BaseModel, frozen=True, extra="forbid"):
    """Maximum seconds to open a connection, and for one whole call."""

    connect_seconds: float = Field(default=5.0, gt=0)
    total_seconds: float = Field(default=90.0, gt=0)
