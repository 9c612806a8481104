"""Requests from the page: one that is invalid or fails does not stop the others."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from rlaif.contracts.telemetry.readings import WatchWish
from rlaif.trainer.run_folder.record import UnreadableRunError
from rlaif.trainer.service.runtime import handle_requests


async def requests(*payloads: bytes) -> AsyncIterator[tuple[str, bytes]]:
    for payload in payloads:
        yield WatchWish.SUBJECT, payload


def request(env: str) -> bytes:
    return WatchWish(at=datetime.now(UTC), env=env).model_dump_json().encode()


@pytest.mark.parametrize(
    "error", [OSError("full"), UnreadableRunError("damaged"), RuntimeError("unexpected")]
)
async def test_a_request_that_cannot_be_read_or_handled_is_skipped(caplog, error):
    handled = []

    async def handle(request: WatchWish) -> None:
        if request.env == "lost":
            raise error
        handled.append(request.env)

    await handle_requests(
        requests(b"no JSON", request("1-0"), b"{}", request("lost"), request("2-0")),
        WatchWish,
        handle,
    )
    assert handled == ["1-0", "2-0"]
    assert [record.kind for record in caplog.records] == [WatchWish.SUBJECT] * 3
