"""Helpers of the routes: caching of responses, and reads of stored objects."""

import asyncio
from collections.abc import Callable
from hashlib import sha256
from typing import TypeVar

from fastapi import Depends, Request, Response

from rlaif.hud.segment_objects import UnreadableObjectError
from rlaif.service.problems import Problem, not_found, store_unavailable
from rlaif.storage.ports import ObjectCorruptError, ObjectNotFoundError, StoreUnavailableError

T = TypeVar("T")

FOREVER = "public, max-age=31536000, immutable"
"""`Cache-Control` of immutable content."""


def _no_store(response: Response) -> None:
    response.headers["Cache-Control"] = "no-store"


NO_STORE = [Depends(_no_store)]
"""Dependencies of a router without cached responses, unless a route returns a `Response`."""


async def stored(what: str, id: str, read: Callable[[], T]) -> T:
    """Read from the store in a thread; its errors become problems."""
    try:
        return await asyncio.to_thread(read)
    except ObjectNotFoundError as error:
        raise not_found(what, id) from error
    except (UnreadableObjectError, ObjectCorruptError) as error:
        raise Problem(502, "unreadable-object", "An object is not readable", str(error)) from error
    except StoreUnavailableError as error:
        raise store_unavailable(str(error)) from error


def immutable(
    request: Request, body: bytes, media_type: str, *, file_name: str | None = None
) -> Response:
    """The body of an object that never changes, to be saved as `file_name` if given."""
    headers = {
        "ETag": f'"{sha256(body).hexdigest()[:32]}"',
        "Cache-Control": FOREVER,
    }
    if file_name is not None:
        headers["Content-Disposition"] = f'attachment; filename="{file_name}"'
    return unless_cached(request, body, media_type, headers)


def unless_cached(
    request: Request, body: bytes, media_type: str, headers: dict[str, str]
) -> Response:
    """The body, or 304 if the client has the version that `ETag` identifies."""
    known = request.headers.get("if-none-match", "")
    if headers["ETag"] in (tag.strip().removeprefix("W/") for tag in known.split(",")):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=media_type, headers=headers)
