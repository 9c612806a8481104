"""Errors of the REST interface, all as RFC 9457 `application/problem+json`.

A handler raises `Problem`; other exceptions are converted to the same format. No stack trace
leaves the process: the trace id identifies it in the log.
"""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, TypeVar

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from rlaif.tracing.spans import current_trace_id

MEDIA_TYPE = "application/problem+json"
LONGEST_REASON = 300
"""Maximum characters of a store's error in an answer."""

T = TypeVar("T")


class FieldError(BaseModel):
    """One invalid part of the request."""

    location: str = Field(description="body, query, path, header or cookie.")
    pointer: str = Field(description="JSON pointer (RFC 6901) inside that part.")
    detail: str


class ProblemDocument(BaseModel):
    """The body of every error."""

    type: str = Field(
        description="Stable name of the kind of problem, such as /problems/not-found."
    )
    title: str
    status: int
    detail: str | None = None
    instance: str = Field(description="Path of the request.")
    trace_id: str | None = Field(default=None, description="Identifies the request in the log.")
    errors: list[FieldError] | None = None


class Problem(Exception):
    """An error with an answer for the client.

    `type` is a stable code such as `segment-not-found`; `title` is constant per type, `detail`
    describes this case and the fix.
    """

    def __init__(
        self,
        status: int,
        type: str,
        title: str,
        detail: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(f"{status} {type}: {detail or title}")
        self.status = status
        self.type = type
        self.title = title
        self.detail = detail
        self.headers = headers

    def response(self, path: str, errors: Sequence[FieldError] | None = None) -> JSONResponse:
        document = ProblemDocument(
            type=f"/problems/{self.type}",
            title=self.title,
            status=self.status,
            detail=self.detail,
            instance=path,
            trace_id=current_trace_id(),
            errors=list(errors) if errors is not None else None,
        )
        return JSONResponse(
            document.model_dump(exclude_none=True),
            status_code=self.status,
            headers=dict(self.headers or {}),
            media_type=MEDIA_TYPE,
        )


def not_found(what: str, id: str) -> Problem:
    """404 for an unknown id: `not_found("segment", id)`."""
    return Problem(404, f"{what}-not-found", f"No such {what}", f"There is no {what} {id!r}.")


def store_unavailable(why: str) -> Problem:
    """503 if the object store is unreachable or its data is invalid; `why` is the reason."""
    return Problem(
        503,
        "store-unavailable",
        "The object store cannot be read",
        why[:LONGEST_REASON],
        headers={"Retry-After": "5"},
    )


def reached(store: T | None) -> T:
    """The store; raises `Problem` (503) until it is connected."""
    if store is None:
        raise store_unavailable("S3 is not connected yet; see /readyz.")
    return store


def of_status(status: int, detail: str | None = None) -> Problem:
    """The general problem of an HTTP status."""
    phrase = HTTPStatus(status).phrase
    return Problem(status, phrase.lower().replace(" ", "-").replace("'", ""), phrase, detail)


def internal_error() -> Problem:
    """500 without the cause, which is logged."""
    return Problem(
        500,
        "internal-error",
        "Internal error",
        "The service failed on this request; its log has the cause under the trace id.",
    )


def install_problem_handlers(app: FastAPI) -> None:
    """Answer problems, HTTP errors and invalid requests as problem documents."""
    app.add_exception_handler(Problem, _on_problem)
    app.add_exception_handler(HTTPException, _on_http_error)
    app.add_exception_handler(RequestValidationError, _on_invalid_request)


async def _on_problem(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Problem)
    return error.response(request.url.path)


async def _on_http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    problem = of_status(error.status_code, error.detail)
    problem.headers = error.headers
    return problem.response(request.url.path)


async def _on_invalid_request(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    problem = Problem(
        422, "invalid-request", "Invalid request", "Some values are invalid; see `errors`."
    )
    return problem.response(request.url.path, [_field_error(e) for e in error.errors()])


def _field_error(error: dict[str, Any]) -> FieldError:
    location, *path = error["loc"]
    if error["type"] == "json_invalid":  # then the rest of loc is a byte offset, not a path
        return FieldError(location=location, pointer="", detail=f"not JSON: {error['msg']}")
    escaped = (str(part).replace("~", "~0").replace("/", "~1") for part in path)
    pointer = "".join(f"/{part}" for part in escaped)
    return FieldError(location=location, pointer=pointer, detail=error["msg"])
