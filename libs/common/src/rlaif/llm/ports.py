"""What a service needs of a language model, and how a call can fail.

ModelError
├── OutageError               no answer now: worth another try, later
│   ├── ThrottledError        429; `retry_after` says how long
│   ├── UnavailableError      no connection, or a server error
│   ├── CallTimeoutError      no whole answer in time; `fault` says which time was over
│   └── RouteWaitsError       not called: the route rests, or is known to be in trouble
├── FaultyReplyError          the server lives, this call gave nothing to read
│   ├── InvalidReplyError     not a chat completion, or too large
│   │   └── UnreadableAnswerError  a chat completion without an answer that can be read
│   └── RefusedError          the server does not take this request: any other status
└── ClientSetupError          no call can be made: a proxy or certificate file of the environment
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Modality = Literal["text", "pictures"]
"""What a request carries: a server may take one and fail on the other."""


class ModelError(Exception):
    """Base of what a language model call raises.

    Attributes:
        fault: Stable word for what went wrong, for records and metrics.
        status: HTTP status of the reply; None without one.
    """

    fault: str = "error"

    def __init__(self, detail: str, status: int | None = None) -> None:
        super().__init__(detail)
        self.status = status


class OutageError(ModelError):
    """The route does not work now; `retry_after` is in seconds, None when the server is silent."""

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


Phase = Literal["connect", "total"]
"""Which time was over: opening the connection, or the whole call."""


class CallTimeoutError(OutageError):
    """A time was over before the whole answer was there.

    Attributes:
        is_slow: The server answers other requests meanwhile: it is up and needs longer.
    """

    def __init__(self, detail: str, phase: Phase = "total", *, is_slow: bool = False) -> None:
        super().__init__(detail)
        self.fault = f"{phase}_timeout"
        self.is_slow = is_slow


class RouteWaitsError(OutageError):
    """No call was made: the route rests, or is in trouble that may pass."""

    fault = "waits"


class FaultyReplyError(ModelError):
    """The server lives, but this call gave nothing to read."""


class InvalidReplyError(FaultyReplyError):
    """The reply is not a chat completion, or larger than any answer can be."""

    fault = "no_completion"


class UnreadableAnswerError(InvalidReplyError):
    """A chat completion without an answer that can be read; `answer` is what came, if anything."""

    fault = "unreadable"
    answer: "Answer | None" = None


class RefusedError(FaultyReplyError):
    """The server does not take this request; `said` is all that is kept of its message."""

    fault = "refused"

    def __init__(self, detail: str, status: int | None = None, said: str = "") -> None:
        super().__init__(detail, status)
        self.said = said


class ClientSetupError(ModelError):
    """No call can be made, because of a variable of the environment that the text names."""

    fault = "setup"


def _anything(answer: "Answer") -> None:
    """Any answer can be read."""


@dataclass(frozen=True)
class CompletionRequest:
    """One chat completion, as the OpenAI API has it, with a JSON schema for its answer.

    `check` raises UnreadableAnswerError for an answer that whoever asks cannot read.
    """

    model: str
    messages: tuple[dict[str, Any], ...]
    schema_name: str
    schema: dict[str, Any]
    seed: int
    temperature: float
    max_tokens: int
    check: "Callable[[Answer], None]" = field(default=_anything, compare=False, repr=False)

    @property
    def modality(self) -> Modality:
        """Whether it carries pictures."""
        contents = (message.get("content") for message in self.messages)
        parts = (part for content in contents if isinstance(content, list) for part in content)
        return "pictures" if any(part.get("type") == "image_url" for part in parts) else "text"


@dataclass(frozen=True)
class Answer:
    """What the model wrote, not checked yet; None for what the server does not say.

    `cached_tokens` are those of the prompt that the server's prefix cache had; `engine` is what the
    server says it runs.
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
        """Ask once; fails with a ModelError of the tree above."""
        ...
