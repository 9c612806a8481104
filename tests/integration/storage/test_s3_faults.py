"""Errors that S3 servers give for a while, and answers that break off."""

from collections.abc import Callable
from typing import Any

import pytest

from rlaif.storage.ports import StoreUnavailableError
from rlaif.storage.s3 import S3Store

XML = {"Content-Type": "application/xml"}
Fault = tuple[int, dict[str, str], bytes]


def _error(status: int, code: str) -> Fault:
    text = f'<?xml version="1.0"?><Error><Code>{code}</Code><Message>no</Message></Error>'
    return status, XML, text.encode()


CUT: Fault = (200, {"ETag": '"1"', "Content-Type": "text/plain", "Content-Length": "1000"}, b"hal")
PASSING = [_error(503, "SlowDown"), _error(500, "InternalError"), _error(503, "ServiceUnavailable")]


@pytest.fixture
def store(s3_stub: Any) -> S3Store:
    return S3Store("zelda-episodes", endpoint_url=s3_stub.url, access_key="k", secret_key="s")


@pytest.mark.parametrize(
    "use",
    [
        lambda store: store.put("a", b"x"),
        lambda store: store.put_once("b", b"x"),
        lambda store: store.get("kept"),
        lambda store: list(store.list()),
    ],
    ids=["put", "put_once", "get", "list"],
)
def test_a_burst_of_errors_is_outlasted(
    s3_stub: Any, store: S3Store, use: Callable[[S3Store], object]
) -> None:
    store.put("kept", b"bytes")
    s3_stub.faults = list(PASSING)
    use(store)
    assert s3_stub.faults == []


def test_errors_without_an_end_are_an_outage_after_five_attempts(
    s3_stub: Any, store: S3Store
) -> None:
    s3_stub.answer = PASSING[0]
    with pytest.raises(StoreUnavailableError, match="SlowDown"):
        store.put("a", b"x")
    assert (len(s3_stub.requests), s3_stub.objects) == (5, {})


def test_an_answer_that_breaks_off_is_read_again_and_never_taken_for_whole(
    s3_stub: Any, store: S3Store
) -> None:
    store.put("kept", b"bytes")
    s3_stub.faults = [CUT]
    assert store.get("kept") == b"bytes"
    s3_stub.faults = [CUT] * 10
    with pytest.raises(StoreUnavailableError):
        store.get("kept")


def test_a_clock_that_the_server_refuses_is_named(s3_stub: Any, store: S3Store) -> None:
    s3_stub.answer = _error(403, "RequestTimeTooSkewed")
    with pytest.raises(StoreUnavailableError, match="set the clock of this machine"):
        store.get("kept")
