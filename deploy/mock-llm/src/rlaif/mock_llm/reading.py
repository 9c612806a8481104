"""Finds what a prompt says: the evidence it carries and what it asks for.

The stand-in sees what a model would see, the messages and the answer's schema, and nothing else.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from rlaif.contracts.judging.evidence import Evidence, EvidencePair
from rlaif.contracts.planning.briefing import Briefing

C = TypeVar("C", Evidence, EvidencePair, Briefing)

_FENCE = re.compile(r"```json\n(.*?)\n```", re.DOTALL)

_INJECTION = re.compile(r"(?i)(ignore|obey|disregard|score 10|system:)[^\n`]{0,60}")

INSUFFICIENT = "insufficient_evidence"


class UnreadablePromptError(ValueError):
    """The prompt is not one that the stand-in can answer; the text says why."""


def read_evidence(kind: type[C], messages: Sequence[Mapping[str, Any]]) -> C:
    """The evidence of one segment or of two, or a planner's briefing, in the last user message.

    Raises:
        UnreadablePromptError: No user message, no fenced JSON object in it, or several.
    """
    users = [message for message in messages if message.get("role") == "user"]
    if not users:
        raise UnreadablePromptError("the prompt has no user message")
    blocks: list[str] = _FENCE.findall(_text(users[-1].get("content")))
    if len(blocks) != 1:
        raise UnreadablePromptError(
            f"the last user message has {len(blocks)} ```json blocks; this stand-in answers "
            "prompts of judges and planners, which carry their evidence in exactly one"
        )
    try:
        return kind.model_validate_json(blocks[0])
    except ValidationError as error:
        message = error.errors()[0]["msg"]
        raise UnreadablePromptError(f"the ```json block is no evidence: {message}") from error


def injected(messages: Sequence[Mapping[str, Any]]) -> str | None:
    """An instruction hidden in the user messages, such as "ignore the rubric"; None without one."""
    users = (message for message in messages if message.get("role") == "user")
    text = " ".join(_text(message.get("content")) for message in users)
    match = _INJECTION.search(text)
    return match.group(0) if match else None


def asked_of(
    response_format: Mapping[str, Any] | None, messages: Sequence[Mapping[str, Any]]
) -> dict[str, list[Any]]:
    """What to answer, in order, each with the values that may stand there; none when untold.

    It is in the answer's schema, else criteria are those that the system message names.
    """
    schema = _answer_schema(response_format)
    if schema is not None:
        properties = schema.get("properties")
        fields = properties if isinstance(properties, Mapping) else {}
        return {name: _values_of(field) for name, field in fields.items() if name != "rationale"}
    system = " ".join(
        _text(message.get("content")) for message in messages if message["role"] == "system"
    )
    names = re.findall(r"^- ([a-z_]+): ", system, re.MULTILINE)
    if not names:
        raise UnreadablePromptError(
            "no criteria: give response_format json_schema, or a system message with rubric lines "
            "such as `- progress: ...`"
        )
    return {name: [] for name in names}


def _values_of(field: Any) -> list[Any]:
    values = field.get("enum") if isinstance(field, Mapping) else None
    return list(values) if isinstance(values, Sequence) and not isinstance(values, str) else []


def _answer_schema(response_format: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    if not response_format or response_format.get("type") != "json_schema":
        return None
    wrapper = response_format.get("json_schema")
    schema = wrapper.get("schema") if isinstance(wrapper, Mapping) else None
    if not isinstance(schema, Mapping):
        raise UnreadablePromptError("response_format json_schema has no schema")
    return schema


def _text(content: Any) -> str:
    """The text of a message's content, in either form of the API; nobody looks at pictures."""
    if isinstance(content, str):
        return content
    parts = [part for part in content or [] if isinstance(part, Mapping)]
    return "\n".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")
