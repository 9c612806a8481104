"""Requests to a language model, its answers, and the errors of a call.

ModelError
├── OutageError               no answer now; a later retry may succeed
│   ├── ThrottledError        HTTP 429; `retry_after` says how long
│   ├── UnavailableError      no connection, or a server error
│   ├── CallTimeoutError      no complete answer in time
│   └── RouteWaitsError       not called: the route is resting, or in an outage
├── FaultyReplyError          the server responds, but this call has no usable reply
│   ├── InvalidReplyError     not a chat completion, or too large
│   │   └── UnreadableAnswerError  a chat completion whose answer cannot be parsed
│   ├── RefusedError          the server rejects the request: any other status
│   └── FailedRequestError    the route answers other requests, but not this one
├── BrokenRouteError          the outage of the route has lasted too long to wait for its end
└── ClientSetupError          an unusable proxy or certificate file in the environment
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Modality = Literal["text", "pictures"]
"""Content of a request; a server may accept one and fail on the other."""


class ModelError(Exception):
    """Base class; `fault` is a stable code, `status` the HTTP status of the reply, if any."""

    fault: str = "error"

    def __init__(self, detail: str, status: int | None = None) -> None:
        super().__init__(detail)
        self.status = status


class OutageError(ModelError):
    """The route does not work now; `retry_after`: seconds, if the server names them."""

    def __init__(
        self, detail: str, retry_after: float | None = None, *, status: int | None = None
    ) -> None:
        super().__init__(detail, status)
        self.retry_after = retry_after


class ThrottledError(OutageError):
    """The server asks for fewer calls."""

    fault = "throttled"


class UnavailableError(OutageError):
    """No connection (then there is no `status`), or a server error."""

    def __init__(
        self, detail: str, retry_after: float | None = None, *, status: int | None = None
    ) -> None:
        super().__init__(detail, retry_after, status=status)
        self.fault = "unreachable" if status is None else "server_error"


class CallTimeoutError(OutageError):
    """A timeout expired; `is_slow`: the server answers other requests."""

    is_slow = False

    def __init__(self, detail: str, phase: Literal["connect", "total"] = "total") -> None:
        super().__init__(detail)
        self.fault = f"{phase}_timeout"


class RouteWaitsError(OutageError):
    """No call was made: the route is resting, or in an outage."""

    fault = "waits"


class FaultyReplyError(ModelError):
    """The server responds, but this call has no usable reply."""


class InvalidReplyError(FaultyReplyError):
    """The reply is not a chat completion, or too large."""

    fault = "no_completion"


class UnreadableAnswerError(InvalidReplyError):
    """The answer of a chat completion is missing or cannot be parsed."""

    fault = "unreadable"
    answer: "Answer | None" = None


class RefusedError(FaultyReplyError):
    """The server rejects the request; `message` is its error message."""

    fault = "refused"

    def __init__(self, detail: str, status: int | None = None, message: str = "") -> None:
        super().__init__(detail, status)
        self.message = message


class FailedRequestError(FaultyReplyError):
    """The route answers other requests, but not this one after several attempts."""

    fault = "request_failed"


BreakReason = Literal["route_refused", "route_blind", "route_unreadable", "route_down"]
"""`route_refused`: every request is rejected. `route_blind`: text is answered, pictures are not.
`route_unreadable`: answers cannot be parsed. `route_down`: nothing is answered."""


class BrokenRouteError(ModelError):
    """The outage of the route has lasted too long to wait for its end."""

    def __init__(self, detail: str, reason: BreakReason) -> None:
        super().__init__(detail)
        self.reason = self.fault = reason


class ClientSetupError(ModelError):
    """No call is possible because of an environment variable that the message names."""

    fault = "setup"


def _accept(answer: "Answer") -> None:
    """Accept every answer."""


@dataclass(frozen=True)
class CompletionRequest:
    """A chat completion with a JSON schema; `check` raises UnreadableAnswerError."""

    model: str
    messages: tuple[dict[str, Any], ...]
    schema_name: str
    schema: dict[str, Any]
    seed: int
    temperature: float
    max_tokens: int
    check: "Callable[[Answer], None]" = field(default=_accept, compare=False, repr=False)

    @property
    def modality(self) -> Modality:
        contents = (message.get("content") for message in self.messages)
        parts = (part for content in contents if isinstance(content, list) for part in content)
        return "pictures" if any(part.get("type") == "image_url" for part in parts) else "text"


@dataclass(frozen=True)
class Answer:
    """Text written by a model; other fields are None when the server does not report them.

    `model` is the server's only model if it was used instead of the requested one.
    """

    text: str
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    engine: str | None = None
    model: str | None = None


class LanguageModel(Protocol):
    """Completes chats."""

    async def complete(self, request: CompletionRequest) -> Answer: ...
