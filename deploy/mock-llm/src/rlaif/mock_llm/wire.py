"""The part of the OpenAI chat API that the stand-in speaks."""

import hashlib
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

ROUTES: dict[str, str] = {
    "dialog": "qwen25-7b",
    "state": "qwen25-7b",
    "puzzle": "qwen25-32b",
    "vision": "qwen25-vl-32b",
}
"""Route → the model that it serves, as on the cluster."""


class ChatRequest(BaseModel):
    """A chat completion request; fields that the stand-in does not know are left alone."""

    model_config = ConfigDict(extra="ignore")

    model: str
    messages: list[dict[str, Any]] = Field(min_length=1)
    seed: int = 0
    temperature: float = Field(default=1.0, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    response_format: dict[str, Any] | None = None
    stream: bool = False

    def longest_answer(self) -> int:
        """Tokens that an answer may have."""
        return self.max_completion_tokens or self.max_tokens or 4096

    def has_pictures(self) -> bool:
        """Whether any message carries a picture."""
        contents = [message.get("content") for message in self.messages]
        parts = [part for content in contents if isinstance(content, list) for part in content]
        return any(isinstance(part, dict) and part.get("type") == "image_url" for part in parts)


def completion(
    request: ChatRequest,
    text: str,
    *,
    created: int,
    prompt_tokens: int,
    completion_tokens: int,
    finish_reason: str,
) -> dict[str, Any]:
    """A chat completion object; its id is a hash of request and answer."""
    digest = hashlib.sha256(f"{request.model_dump_json()}{text}".encode()).hexdigest()
    return {
        "id": f"chatcmpl-{digest[:24]}",
        "object": "chat.completion",
        "created": created,
        "model": request.model,
        "system_fingerprint": "rlaif-mock-llm",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": finish_reason,
            }
        ],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def error(message: str, kind: str) -> dict[str, Any]:
    """An error in the API's shape."""
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def model_list(route: str) -> dict[str, Any]:
    """The models of a route."""
    model = {"id": ROUTES[route], "object": "model", "created": 0, "owned_by": "rlaif-mock-llm"}
    return {"object": "list", "data": [model]}
