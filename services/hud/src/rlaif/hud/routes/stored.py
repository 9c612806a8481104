"""What routes have in common that answer with objects of the store."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from fastapi import Request, Response

from rlaif.hud.segment_objects import UnreadableObjectError
from rlaif.service.problems import Problem, not_found, store_unavailable
from rlaif.storage.ports import ObjectCorruptError, ObjectNotFoundError, StoreUnavailableError

T = TypeVar("T")

FOR_EVER = "public, max-age=31536000, immutable"
"""`Cache-Control` of what never changes."""


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


def unless_cached(
    request: Request, body: bytes, media_type: str, headers: dict[str, str]
) -> Response:
    """The body, or 304 when the client has what `ETag` names."""
    known = request.headers.get("if-none-match", "")
    if headers["ETag"] in (tag.strip().removeprefix("W/") for tag in known.split(",")):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=media_type, headers=headers)
