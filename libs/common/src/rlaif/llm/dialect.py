"""How a server is told what to answer: the body of a request, in the form that it understands.

Servers agree on messages and differ in the parameters that they take. What a server refuses by name
is left out, renamed, or asked for in another form; `adapted` says how. The shape stands in the
prompt as well, and an answer is read alike in all of them.
"""

import re
from dataclasses import dataclass, replace
from typing import Any

from rlaif.llm.ports import CompletionRequest
from rlaif.llm.settings import DialectSettings, SchemaMode

_OPENAI_REFUSES = frozenset({"maxLength", "minLength"})
"""What OpenAI's strict mode answers with 400, though it is JSON schema."""

_LESS_STRICT: dict[SchemaMode, SchemaMode] = {
    "json_schema": "json_schema_subset",
    "json_schema_subset": "json_object",
    "guided_json": "json_object",
    "json_object": "none",
}
_OF_THE_SHAPE = re.compile(
    r"response_format|json_schema|json_object|guided_json|structured.output|grammar|\bschema\b"
)

_OF_THE_LIMIT = re.compile(
    r"max_completion_tokens|unsupported.{0,30}max_tokens|max_tokens.{0,30}not supported"
)


@dataclass(frozen=True)
class Dialect:
    """What one server understands.

    Attributes:
        left_out: Parameters that it refuses.
        max_tokens: What it calls the limit of an answer.
    """

    schema_mode: SchemaMode
    chat_template_kwargs: dict[str, Any] | None = None
    left_out: frozenset[str] = frozenset()
    max_tokens: str = "max_tokens"

    @classmethod
    def of(cls, settings: DialectSettings) -> "Dialect":
        """What the settings say, before the server was asked."""
        return cls(settings.schema_mode, settings.chat_template_kwargs)

    def adapted(self, refusal: str) -> "Dialect | None":
        """The dialect without what a refusal names; None when it names nothing of it."""
        said = refusal.lower()
        if self.max_tokens == "max_tokens" and _OF_THE_LIMIT.search(said):
            return replace(self, max_tokens="max_completion_tokens")
        for name in ("temperature", "seed"):
            if name not in self.left_out and re.search(rf"\b{name}\b", said):
                return replace(self, left_out=self.left_out | {name})
        mode = _LESS_STRICT.get(self.schema_mode)
        return replace(self, schema_mode=mode) if mode and _OF_THE_SHAPE.search(said) else None


def payload(request: CompletionRequest, dialect: Dialect) -> dict[str, Any]:
    """The JSON body of a chat completion."""
    body: dict[str, Any] = {
        "model": request.model,
        "messages": list(request.messages),
        "seed": request.seed,
        "temperature": request.temperature,
        dialect.max_tokens: request.max_tokens,
        **_shape(request, dialect.schema_mode),
    }
    if dialect.chat_template_kwargs is not None:
        body["chat_template_kwargs"] = dialect.chat_template_kwargs
    return {name: value for name, value in body.items() if name not in dialect.left_out}


def _shape(request: CompletionRequest, mode: SchemaMode) -> dict[str, Any]:
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
    """The same schema with a type beside each enum and without what OpenAI's strict mode refuses.

    That all keys are required and no others allowed, which it wants too, every schema here says.
    """
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            made[key] = {name: strict_subset(part) for name, part in value.items()}
        elif key not in _OPENAI_REFUSES:
            made[key] = value
    if "enum" in made and "type" not in made:
        kinds = {"string" if isinstance(value, str) else "integer" for value in made["enum"]}
        made = {"type": sorted(kinds) if len(kinds) > 1 else kinds.pop(), **made}
    return made
