"""An app that is served beside the work of a process."""

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator

import httpx
import pytest
from fastapi import FastAPI

from rlaif.service.lifecycle import serving

Build = Callable[..., FastAPI]


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


def _url(listener: socket.socket) -> str:
    return f"http://127.0.0.1:{listener.getsockname()[1]}/livez"


async def test_it_answers_while_the_work_continues_and_not_after_it(build, listener):
    url = _url(listener)
    async with httpx.AsyncClient() as client:
        async with serving(build(), listener):
            assert (await client.get(url)).json() == {"status": "alive"}
        with pytest.raises(httpx.ConnectError):
            await client.get(url)


async def test_work_that_fails_ends_it_as_well(build: Build, listener: socket.socket) -> None:
    with pytest.raises(ValueError, match="the work"):
        async with serving(build(), listener):
            raise ValueError("the work broke")
    assert listener.fileno() == -1


async def test_signals_stay_with_the_work(build: Build, listener: socket.socket) -> None:
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    async with serving(build(), listener), httpx.AsyncClient() as client:
        await client.get(_url(listener))
        assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before


async def test_serving_that_breaks_is_said_and_leaves_the_work_alone(build, listener, caplog):
    listener.close()  # what it would answer on is gone
    async with serving(build(), listener):
        await asyncio.sleep(0)
    assert "the web server failed" in caplog.text
