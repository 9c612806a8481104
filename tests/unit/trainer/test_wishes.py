"""What people ask for on the page: one bad or impossible wish stops no other."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from rlaif.contracts.telemetry.readings import WatchWish
from rlaif.trainer.run_folder.record import UnreadableRunError
from rlaif.trainer.service.runtime import grant_wishes


async def wishes(*payloads: bytes) -> AsyncIterator[tuple[str, bytes]]:
    for payload in payloads:
        yield WatchWish.SUBJECT, payload


def wish(env: str) -> bytes:
    return WatchWish(at=datetime.now(UTC), env=env).model_dump_json().encode()


@pytest.mark.parametrize("error", [OSError("full"), UnreadableRunError("damaged")])
async def test_a_wish_that_cannot_be_read_or_granted_is_skipped(caplog, error):
    granted = []

    async def grant(wish: WatchWish) -> None:
        if wish.env == "lost":
            raise error
        granted.append(wish.env)

    await grant_wishes(
        wishes(b"no wish", wish("1-0"), b"{}", wish("lost"), wish("2-0")), WatchWish, grant
    )
    assert granted == ["1-0", "2-0"]
    assert [record.kind for record in caplog.records] == [WatchWish.SUBJECT] * 3
