"""How a server is told what to answer: the body of a request, in the form that it understands.

Servers agree on messages and sampling, and differ in how the shape of the answer is asked for and
in what a chat template may be told. The shape stands in the prompt as well, and an answer is read
as strictly in all of them.
"""

from typing import Any

from rlaif.llm.ports import CompletionRequest
from rlaif.llm.settings import DialectSettings, SchemaMode

_OPENAI_REFUSES = frozenset({"maxLength", "minLength"})
"""What OpenAI's strict mode answers with 400, though it is JSON schema."""


def payload(request: CompletionRequest, dialect: DialectSettings) -> dict[str, Any]:
    """The JSON body of a chat completion."""
    body: dict[str, Any] = {
        "model": request.model,
        "messages": list(request.messages),
        "seed": request.seed,
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
        **_shape(request, dialect.schema_mode),
    }
    if dialect.chat_template_kwargs is not None:
        body["chat_template_kwargs"] = dialect.chat_template_kwargs
    return body


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
