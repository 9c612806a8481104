"""Completes an OpenAPI document: summaries, descriptions and examples that FastAPI leaves out."""

from collections.abc import Iterator
from typing import Any

from rlaif.service.field_words import EXAMPLES, meaning

_BY_TYPE = {"boolean": True, "integer": 1, "number": 0.5, "string": "text"}
_BY_FORMAT = {"date-time": "2026-03-01T09:00:00Z"}


def complete(document: dict[str, Any]) -> None:
    """Give every operation, parameter and field of the document what it lacks, in place."""
    for operation in _operations(document):
        _complete_operation(operation)
    for schema in document.get("components", {}).get("schemas", {}).values():
        for name, field in schema.get("properties", {}).items():
            _complete_value(name, field, field)


def _operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for methods in document["paths"].values():
        yield from methods.values()


def _complete_operation(operation: dict[str, Any]) -> None:
    summary, text = operation.get("summary", ""), operation.get("description")
    if text and summary == str(operation.get("operationId", "")).replace("_", " ").title():
        operation["summary"] = text.split("\n")[0].split(". ")[0].split("; ")[0].rstrip(".")
    operation.setdefault("description", f"{summary}.")
    for each in operation.get("parameters", ()):
        _complete_value(each["name"], each, each.setdefault("schema", {"type": "string"}))


def _complete_value(name: str, described: dict[str, Any], schema: dict[str, Any]) -> None:
    """`described` is a field or parameter, `schema` its own schema; both may be one."""
    if "description" not in described and (text := meaning(name)):
        described["description"] = text
    if "examples" not in schema and "$ref" not in schema:
        found = example(name, schema)
        if found is not None:
            schema["examples"] = [found]


def example(name: str, schema: dict[str, Any]) -> Any:
    """An example of a scalar; None for objects and lists, which have those of their parts."""
    kinds = [schema, *schema.get("anyOf", ())]
    for kind in kinds:
        if "enum" in kind or "const" in kind:
            return kind.get("const", next(iter(kind.get("enum", ())), None))
    types = {kind.get("type"): kind for kind in kinds}
    given = EXAMPLES.get(name)
    if given is not None and _TYPES[type(given)] in types:
        return given
    for name_of_type, kind in types.items():
        if name_of_type in _BY_TYPE:
            usual = _BY_FORMAT.get(kind.get("format", ""), _BY_TYPE[name_of_type])
            return kind.get("minimum", usual) if name_of_type == "integer" else usual
    return None


_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}
