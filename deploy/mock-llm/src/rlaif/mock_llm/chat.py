"""The supported part of the OpenAI chat API, and the contents of prompts."""

import hashlib
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rlaif.contracts.judging.evidence import Evidence, EvidencePair
from rlaif.contracts.planning.briefing import Briefing
from rlaif.contracts.planning.placements import States

C = TypeVar("C", Evidence, EvidencePair, Briefing, States)

ROUTES: dict[str, str] = {
    "dialog": "qwen25-7b",
    "state": "qwen25-7b",
    "puzzle": "qwen25-32b",
    "vision": "qwen25-vl-32b",
}
"""Route → its model, as in the cluster."""

_CHARACTERS_PER_TOKEN = 4
_PICTURE_TOKENS = 256
_FENCE = re.compile(r"```json\n(.*?)\n```", re.DOTALL)
_INJECTION = re.compile(r"(?i)(ignore|obey|disregard|score 10|system:)[^\n`]{0,60}")


class UnreadablePromptError(ValueError):
    """The prompt cannot be answered; the message has the reason."""


class ChatRequest(BaseModel):
    """A chat completion request; unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore")

    model: str
    messages: list[dict[str, Any]] = Field(min_length=1)
    seed: int = 0
    temperature: float = Field(default=1.0, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    response_format: dict[str, Any] | None = None
    stream: bool = False

    def has_pictures(self) -> bool:
        return any(part.get("type") == "image_url" for _, part in self._parts())

    def prompt_tokens(self) -> int:
        """Estimated number of tokens."""
        characters = pictures = 0
        for _, part in self._parts():
            characters += len(str(part.get("text", "")))
            pictures += part.get("type") == "image_url"
        return characters // _CHARACTERS_PER_TOKEN + pictures * _PICTURE_TOKENS

    def cut(self, text: str) -> tuple[str, int, str]:
        """(text within the token limit, its tokens, finish reason) of an answer."""
        tokens = len(text) // _CHARACTERS_PER_TOKEN + 1
        limit = self.max_completion_tokens or self.max_tokens or 4096
        if tokens <= limit:
            return text, tokens, "stop"
        return text[: limit * _CHARACTERS_PER_TOKEN], limit, "length"

    def evidence(self, kind: type[C]) -> C:
        """Parse the evidence or the briefings in the last user message as `kind`.

        Raises:
            UnreadablePromptError: There is no user message, or not exactly one fenced JSON object.
        """
        users = [message for message in self.messages if message.get("role") == "user"]
        if not users:
            raise UnreadablePromptError("the prompt has no user message")
        blocks: list[str] = _FENCE.findall(_text(users[-1].get("content")))
        if len(blocks) != 1:
            raise UnreadablePromptError(
                f"the last user message has {len(blocks)} ```json blocks; this mock LLM answers "
                "prompts of judges and planners, which have their evidence in exactly one"
            )
        try:
            return kind.model_validate_json(blocks[0])
        except ValidationError as error:
            message = error.errors()[0]["msg"]
            raise UnreadablePromptError(f"the ```json block is invalid: {message}") from error

    def injected(self) -> str | None:
        """An instruction hidden in the user messages, such as "ignore the rubric"."""
        match = _INJECTION.search(self._texts("user"))
        return match.group(0) if match else None

    def asked(self) -> dict[str, list[Any]]:
        """Key of the answer → its allowed values, in order; empty if they are not specified.

        The keys are those of the answer's schema, else the criteria in the system message.
        """
        schema = self._answer_schema()
        if schema is not None:
            properties = schema.get("properties")
            fields = properties if isinstance(properties, Mapping) else {}
            return {
                name: _values_of(field) for name, field in fields.items() if name != "rationale"
            }
        names = re.findall(r"^- ([a-z_]+): ", self._texts("system"), re.MULTILINE)
        if not names:
            raise UnreadablePromptError(
                "no criteria: send response_format json_schema, or a system message with rubric "
                "lines such as `- progress: ...`"
            )
        return {name: [] for name in names}

    def _answer_schema(self) -> Mapping[str, Any] | None:
        if not self.response_format or self.response_format.get("type") != "json_schema":
            return None
        wrapper = self.response_format.get("json_schema")
        schema = wrapper.get("schema") if isinstance(wrapper, Mapping) else None
        if not isinstance(schema, Mapping):
            raise UnreadablePromptError("response_format json_schema has no schema")
        return schema

    def _parts(self) -> Iterator[tuple[Any, Mapping[str, Any]]]:
        """(role, part) of all messages."""
        for message in self.messages:
            for part in _parts_of(message.get("content")):
                yield message.get("role"), part

    def _texts(self, role: str) -> str:
        same = (message for message in self.messages if message.get("role") == role)
        return " ".join(_text(message.get("content")) for message in same)


def _parts_of(content: Any) -> list[Mapping[str, Any]]:
    """The parts of a message's content, which may be a plain string in the API."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [part for part in content or [] if isinstance(part, Mapping)]


def _text(content: Any) -> str:
    texts = (part for part in _parts_of(content) if part.get("type") == "text")
    return "\n".join(str(part.get("text", "")) for part in texts)


def _values_of(field: Any) -> list[Any]:
    values = field.get("enum") if isinstance(field, Mapping) else None
    return list(values) if isinstance(values, Sequence) and not isinstance(values, str) else []


def completion(request: ChatRequest, text: str, tokens: int, finish_reason: str) -> dict[str, Any]:
    """A chat completion; its id is a hash of request and answer."""
    digest = hashlib.sha256(f"{request.model_dump_json()}{text}".encode()).hexdigest()
    prompt_tokens = request.prompt_tokens()
    message = {"role": "assistant", "content": text}
    return {
        "id": f"chatcmpl-{digest[:24]}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": request.model,
        "system_fingerprint": "rlaif-mock-llm",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": tokens,
            "total_tokens": prompt_tokens + tokens,
        },
    }


def error(message: str, kind: str) -> dict[str, Any]:
    """An error in the format of the API."""
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def model_list(route: str) -> dict[str, Any]:
    """The models of a route."""
    model = {"id": ROUTES[route], "object": "model", "created": 0, "owned_by": "rlaif-mock-llm"}
    return {"object": "list", "data": [model]}
