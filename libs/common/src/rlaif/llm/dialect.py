"""The body of a request in the form accepted by a server.

A parameter that a server rejects by name is omitted, renamed, or replaced. The schema is also part
of the prompt.
"""

import re
from dataclasses import dataclass, replace
from typing import Any

from rlaif.llm.ports import CompletionRequest
from rlaif.llm.settings import DialectSettings, SchemaMode

_OPENAI_REJECTS = frozenset({"maxLength", "minLength"})
"""JSON schema keywords that OpenAI's strict mode rejects."""

_LESS_STRICT: dict[SchemaMode, SchemaMode] = {
    "json_schema": "json_schema_subset",
    "json_schema_subset": "json_object",
    "guided_json": "json_object",
    "json_object": "none",
}
_SCHEMA_ERROR = re.compile(
    r"response_format|json_schema|json_object|guided_json|structured.output|grammar|\bschema\b"
)

_LIMIT_ERROR = re.compile(
    r"max_completion_tokens|unsupported.{0,30}max_tokens|max_tokens.{0,30}not supported"
)


@dataclass(frozen=True)
class Dialect:
    """Parameters that one server accepts: without those `omitted`, its name of `max_tokens`."""

    schema_mode: SchemaMode
    chat_template_kwargs: dict[str, Any] | None = None
    omitted: frozenset[str] = frozenset()
    max_tokens: str = "max_tokens"

    @classmethod
    def of(cls, settings: DialectSettings) -> "Dialect":
        return cls(settings.schema_mode, settings.chat_template_kwargs)

    def adapted(self, message: str) -> "Dialect | None":
        """A dialect without the parameter that an error message names; None if it names none."""
        said = message.lower()
        if self.max_tokens == "max_tokens" and _LIMIT_ERROR.search(said):
            return replace(self, max_tokens="max_completion_tokens")
        for name in ("temperature", "seed"):
            if name not in self.omitted and re.search(rf"\b{name}\b", said):
                return replace(self, omitted=self.omitted | {name})
        mode = _LESS_STRICT.get(self.schema_mode)
        return replace(self, schema_mode=mode) if mode and _SCHEMA_ERROR.search(said) else None


def payload(request: CompletionRequest, dialect: Dialect) -> dict[str, Any]:
    """The JSON body of a chat completion."""
    body: dict[str, Any] = {
        "model": request.model,
        "messages": list(request.messages),
        "seed": request.seed,
        "temperature": request.temperature,
        dialect.max_tokens: request.max_tokens,
        **_schema_parameters(request, dialect.schema_mode),
    }
    if dialect.chat_template_kwargs is not None:
        body["chat_template_kwargs"] = dialect.chat_template_kwargs
    return {name: value for name, value in body.items() if name not in dialect.omitted}


def _schema_parameters(request: CompletionRequest, mode: SchemaMode) -> dict[str, Any]:
    match mode:
        case "json_schema":
            return _json_schema(request.schema_name, request.schema)
        case "json_schema_subset":
            return _json_schema(request.schema_name, strict_subset(request.schema))
        case "json_object":
            return {"response_format": {"type": "json_object"}}
        case "guided_json":
            return {"guided_json": request.schema}
        case "none":
            return {}


def _json_schema(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    wrapped = {"name": name, "schema": schema, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": wrapped}}


def strict_subset(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema for OpenAI's strict mode: a type for each enum, without rejected keywords."""
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            made[key] = {name: strict_subset(part) for name, part in value.items()}
        elif key not in _OPENAI_REJECTS:
            made[key] = value
    if "enum" in made and "type" not in made:
        kinds = {"string" if isinstance(value, str) else "integer" for value in made["enum"]}
        made = {"type": sorted(kinds) if len(kinds) > 1 else kinds.pop(), **made}
    return made
