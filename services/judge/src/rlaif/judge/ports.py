"""What the judge needs of a language model, and how a call can fail.

ModelError
├── OutageError               the route does not work now: the whole event is tried again later
│   ├── ThrottledError        429; `retry_after` says how long
│   ├── UnavailableError      no connection, 5xx, or a wrong key or model name
│   └── CallTimeoutError      no whole answer within the deadline
└── FaultyReplyError          the route works, this call does not
    ├── InvalidReplyError     not a chat completion, or too large
    └── RefusedError          the server does not take this request (400, 413, 422)
"""

from dataclasses import dataclass
from typing import Any, Protocol


class ModelError(Exception):
    """Base of what a language model call raises."""


class OutageError(ModelError):
    """The route does not work now.

    Attributes:
        retry_after: Seconds after which the server wants to be asked again; None when it is silent.
    """

    def __init__(self, detail: str, retry_after: float | None = None) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


class ThrottledError(OutageError):
    """The server asks for fewer calls."""


class UnavailableError(OutageError):
    """No connection, a server error, or a route that is set up wrongly."""


class CallTimeoutError(OutageError):
    """The deadline passed before the whole answer was there."""


class FaultyReplyError(ModelError):
    """The route works, but this call gave nothing to read."""


class InvalidReplyError(FaultyReplyError):
    """The reply is not a chat completion, or larger than a judge's answer can be."""


class RefusedError(FaultyReplyError):
    """The server does not take this request."""


@dataclass(frozen=True)
class CompletionRequest:
    """One chat completion with a schema for its answer.

    Attributes:
        model: Model name that the route serves.
        messages: Chat messages as the OpenAI API has them.
        schema_name: Name of the schema, for the server's cache.
        schema: JSON schema of the answer.
        seed: Sampling seed.
        temperature: 0 is greedy; votes need some.
        max_tokens: Longest answer.
    """

    model: str
    messages: tuple[dict[str, Any], ...]
    schema_name: str
    schema: dict[str, Any]
    seed: int
    temperature: float
    max_tokens: int


@dataclass(frozen=True)
class Answer:
    """What the model wrote.

    Attributes:
        text: Its message; meant to be JSON, not checked yet.
        finish_reason: Such as `stop` or `length`; None when the server does not say.
        prompt_tokens: Tokens read; None when the server does not say.
        completion_tokens: Tokens written; None when the server does not say.
        cached_tokens: Of the tokens read, those of the server's prefix cache; None when unknown.
        engine: What the server says it runs; None when it is silent.
    """

    text: str
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    engine: str | None = None


class LanguageModel(Protocol):
    """One route that completes chats."""

    async def complete(self, request: CompletionRequest) -> Answer:
        """Ask once.

        Raises:
            ModelError: As the tree above says.
        """
        ...
