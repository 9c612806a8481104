from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, suppress

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from hypothesis import given
from hypothesis import strategies as st

from rlaif.service.paging import Page, PageRequest, Paging, decode_cursor, encode_cursor
from rlaif.service.problems import Problem

Build = Callable[..., FastAPI]
Client = Callable[[FastAPI], AbstractAsyncContextManager[httpx.AsyncClient]]


@given(st.text(min_size=1, max_size=200).filter(str.isprintable))
def test_a_cursor_gives_its_key_back(key: str) -> None:
    cursor = encode_cursor(key)
    assert decode_cursor(cursor) == key
    assert "=" not in cursor


@given(st.text())
def test_a_made_up_cursor_is_a_problem_or_a_key_and_never_a_crash(text: str) -> None:
    with suppress(Problem):
        assert isinstance(decode_cursor(text), str)


@pytest.mark.parametrize("key", ["²", "-1", "1_0", " 1", "9" * 5_000, "x", "٣", "1.0"])
def test_an_invalid_number_is_a_problem_where_keys_are_numbers(key: str) -> None:
    with pytest.raises(Problem):
        PageRequest(after=key).after_number()


def test_numbers_come_back_as_numbers() -> None:
    assert PageRequest().after_number() is None
    assert PageRequest(after=decode_cursor(encode_cursor("12"))).after_number() == 12


@pytest.mark.parametrize("key", ["\0", "a\nb", "\u200b", "x" * 1_001])
def test_a_key_that_no_store_has_is_a_problem(key: str) -> None:
    with pytest.raises(Problem):
        decode_cursor(encode_cursor(key))


def test_no_more_is_read_than_one_past_the_page() -> None:
    def endless() -> Iterator[str]:
        for number in range(4):
            yield str(number)
        raise AssertionError("read too far")

    page = PageRequest(limit=3).take(endless(), key=lambda item: item)
    assert page.items == ["0", "1", "2"]
    assert page.next_cursor == encode_cursor("2")


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 6, 7])
async def test_following_the_cursors_gives_every_item_once(build, client, count):
    names = [f"s-{number}" for number in range(count)]
    router = APIRouter()

    @router.get("/api/v1/segments")
    async def segments(paging: Paging) -> Page[str]:
        later = (name for name in names if name > paging.after)
        return paging.take(later, key=lambda name: name)

    seen: list[str] = []
    async with client(build(router)) as http:
        cursor: str | None = ""
        while cursor is not None:
            asked = {"limit": 3} | ({"cursor": cursor} if cursor else {})
            page = (await http.get("/api/v1/segments", params=asked)).json()
            assert set(page) == {"items", "next_cursor", "damaged"}
            assert len(page["items"]) <= 3
            seen += page["items"]
            cursor = page["next_cursor"]
        assert seen == names
        for wrong in ({"limit": 0}, {"limit": 501}):
            assert (await http.get("/api/v1/segments", params=wrong)).status_code == 422
        answer = await http.get("/api/v1/segments", params={"cursor": "!"})
        assert (answer.status_code, answer.json()["type"]) == (400, "/problems/invalid-cursor")
