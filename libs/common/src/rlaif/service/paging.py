"""Cursor paging; an opaque cursor holds the key of the last item."""

import base64
import binascii
import logging
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Generic, TypeVar

from fastapi import Depends, Header, Path, Query
from pydantic import BaseModel, Field

from rlaif.contracts.judging.reviews import PAIR_PATTERN
from rlaif.service.problems import Problem

logger = logging.getLogger(__name__)

T = TypeVar("T")
U = TypeVar("U")

DEFAULT_LIMIT = 50
MAX_LIMIT = 500

_LONGEST_KEY = 1000
"""Characters; object keys have at most 900 bytes."""

_NUMBER = re.compile(r"[0-9]{1,18}")


class Page(BaseModel, Generic[T]):
    """A part of a collection."""

    items: list[T]
    damaged: int = Field(default=0, description="Number of omitted objects, which are damaged.")
    next_cursor: str | None = Field(
        default=None, description="`cursor` of the next page; null on the last page."
    )


def read_page(
    found: Page[T], read: Callable[[T], U], *, skip: tuple[type[Exception], ...]
) -> Page[U]:
    """The page with `read` applied to its items; those for which it raises `skip` are counted."""
    items: list[U] = []
    for each in found.items:
        try:
            items.append(read(each))
        except skip as error:
            logger.warning("omitted from a list: %s: %s", each, error)
    damaged = len(found.items) - len(items)
    return Page(items=items, next_cursor=found.next_cursor, damaged=damaged)


@dataclass(frozen=True)
class PageRequest:
    """The requested page: `limit` items after the key `after`, empty for the first page."""

    limit: int = DEFAULT_LIMIT
    after: str = ""

    def take(self, items: Iterable[T], key: Callable[[T], str]) -> Page[T]:
        """The page of `items`, which follow `after` in order of `key`; reads limit + 1 items."""
        taken = list(islice(items, self.limit + 1))
        page = taken[: self.limit]
        more = len(taken) > self.limit
        return Page(items=page, next_cursor=encode_cursor(key(page[-1])) if more else None)

    def after_number(self) -> int | None:
        """`after` as a number, or None for the first page; raises `Problem` (400)."""
        if not self.after:
            return None
        # Not `isdigit`, which accepts "²"; not `int` alone, which accepts " 1_0 ".
        if not _NUMBER.fullmatch(self.after):
            raise _invalid_cursor()
        return int(self.after)


def encode_cursor(key: str) -> str:
    """The cursor that continues after `key`."""
    return base64.urlsafe_b64encode(key.encode()).decode().rstrip("=")


def decode_cursor(cursor: str) -> str:
    """The key inside a cursor; raises `Problem` (400) for an invalid cursor."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        key = base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeError, ValueError) as error:
        raise _invalid_cursor() from error
    # A store may fail on keys that it could not contain.
    if not key.isprintable() or len(key) > _LONGEST_KEY:
        raise _invalid_cursor()
    return key


def _invalid_cursor() -> Problem:
    return Problem(
        400, "invalid-cursor", "Invalid cursor", "Use `next_cursor` of a page unchanged."
    )


def page_request(
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT, description="Maximum items.")] = DEFAULT_LIMIT,
    cursor: Annotated[str | None, Query(description="`next_cursor` of the previous page.")] = None,
) -> PageRequest:
    """FastAPI dependency that reads `limit` and `cursor`."""
    return PageRequest(limit=limit, after=decode_cursor(cursor) if cursor else "")


Paging = Annotated[PageRequest, Depends(page_request)]
"""Type of the page parameter of a route."""


PairId = Annotated[
    str,
    Path(pattern=PAIR_PATTERN, description="Both segments, the smaller id first: `one--other`."),
]
RequestId = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        max_length=128,
        description="Repeated requests with the same key count as one vote.",
    ),
]
