"""Finds what a prompt says: the evidence it carries and the criteria it asks for.

The stand-in sees what a model would see, the messages and the answer's schema, and nothing else.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

_FENCE = re.compile(r"```json\n(.*?)\n```", re.DOTALL)

_INJECTION = re.compile(r"(?i)(ignore|obey|disregard|score 10|system:)[^\n`]{0,60}")

INSUFFICIENT = "insufficient_evidence"


class UnreadablePromptError(ValueError):
    """The prompt is not one that the stand-in can answer; the text says why."""


class Evidence:
    """The evidence of a prompt, read by path; unknown facts are None."""

    def __init__(self, facts: Mapping[str, Any], pictures: int = 0) -> None:
        """Read `facts`; the prompt also carried `pictures` pictures, which nobody looks at."""
        self._facts = facts
        self.pictures = pictures

    def part(self, name: str) -> "Evidence | None":
        """A section that is the evidence of a whole segment; None when it is not there."""
        found = self._facts.get(name)
        return Evidence(found, self.pictures) if isinstance(found, Mapping) else None

    def canonical(self) -> str:
        """The facts as JSON with sorted keys."""
        return json.dumps(self._facts, sort_keys=True)

    def value(self, section: str, name: str) -> Any:
        """A fact of any kind."""
        part = self._facts.get(section)
        return part.get(name) if isinstance(part, Mapping) else None

    def number(self, section: str, name: str) -> float | None:
        """A fact that is a finite number."""
        value = self.value(section, name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return float(value) if math.isfinite(value) else None


def evidence_of(messages: Sequence[Mapping[str, Any]]) -> Evidence:
    """The evidence in the last user message.

    Raises:
        UnreadablePromptError: No user message, no fenced JSON object in it, or several.
    """
    users = [message for message in messages if message.get("role") == "user"]
    if not users:
        raise UnreadablePromptError("the prompt has no user message")
    text, pictures = _content(users[-1].get("content"))
    blocks: list[str] = _FENCE.findall(text)
    if len(blocks) != 1:
        raise UnreadablePromptError(
            f"the last user message has {len(blocks)} ```json blocks; this stand-in answers judge "
            "prompts only, which carry their evidence in exactly one"
        )
    try:
        facts = json.loads(blocks[0])
    except (ValueError, RecursionError) as error:
        raise UnreadablePromptError(f"the ```json block is not JSON: {error}") from error
    if not isinstance(facts, dict):
        raise UnreadablePromptError("the ```json block is not a JSON object")
    return Evidence(facts, pictures)


def injected(messages: Sequence[Mapping[str, Any]]) -> str | None:
    """An instruction hidden in the user messages, such as "ignore the rubric"; None without one."""
    users = (message for message in messages if message.get("role") == "user")
    text = " ".join(_content(message.get("content"))[0] for message in users)
    match = _INJECTION.search(text)
    return match.group(0) if match else None


def criteria_of(
    response_format: Mapping[str, Any] | None, messages: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Criteria to answer: of the answer's schema, else those that the system message names.

    Raises:
        UnreadablePromptError: There is neither.
    """
    schema = answer_schema(response_format)
    if schema is not None:
        properties = schema.get("properties")
        names = list(properties) if isinstance(properties, Mapping) else []
        return [name for name in names if name != "rationale"]
    system = " ".join(
        _content(message.get("content"))[0] for message in messages if message["role"] == "system"
    )
    names = re.findall(r"^- ([a-z_]+): ", system, re.MULTILINE)
    if not names:
        raise UnreadablePromptError(
            "no criteria: give response_format json_schema, or a system message with rubric lines "
            "such as `- progress: ...`"
        )
    return list(dict.fromkeys(names))


def answer_schema(response_format: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The JSON schema of the answer; None when the request has none."""
    if not response_format or response_format.get("type") != "json_schema":
        return None
    wrapper = response_format.get("json_schema")
    schema = wrapper.get("schema") if isinstance(wrapper, Mapping) else None
    if not isinstance(schema, Mapping):
        raise UnreadablePromptError("response_format json_schema has no schema")
    return schema


def _content(content: Any) -> tuple[str, int]:
    """(text, pictures) of a message's content, in either form of the API."""
    if isinstance(content, str):
        return content, 0
    parts = [part for part in content or [] if isinstance(part, Mapping)]
    text = "\n".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")
    return text, sum(1 for part in parts if part.get("type") == "image_url")
