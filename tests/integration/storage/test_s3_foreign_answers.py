"""Answers that no S3 server gives: something between us and the server answers in its place."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rlaif.storage.open import open_store
from rlaif.storage.ports import ObjectStore, StoreUnavailableError
from rlaif.storage.probe import probe_replacing, probe_store
from rlaif.storage.s3 import S3Store

HTML = {"Content-Type": "text/html; charset=utf-8"}
PAGE = b"<!DOCTYPE html><html><body>Please sign in<br></body></html>"
XHTML = b'<?xml version="1.0"?><html><body>Sign in</body></html>'

ENSURE_BUCKET = S3Store.ensure_bucket
USES: list[Callable[[S3Store], object]] = [
    lambda store: store.put("a", b"x"),
    lambda store: store.put_once("a", b"x"),
    lambda store: store.put_over("a", b"x", '"tag"'),
    lambda store: store.get("a"),
    lambda store: store.head("a"),
    lambda store: list(store.list()),
    lambda store: list(store.scan()),
    lambda store: store.delete_many(["a"]),
    ENSURE_BUCKET,
    probe_store,
    probe_replacing,
]
Refusals = Callable[..., list[str]]
OUTSIDE = "https://sso.example.com/login?state=hush"


@pytest.fixture
def refusals(s3_stub: Any) -> Refusals:
    """The sentence with which each use of the stub's bucket ends."""
    store = S3Store(
        "zelda-episodes", endpoint_url=s3_stub.url, access_key="k", secret_key="s", attempts=1
    )

    def found(uses: list[Callable[[S3Store], object]] = USES) -> list[str]:
        sentences = []
        for use in uses:
            with pytest.raises(StoreUnavailableError) as caught:
                use(store)
            sentences.append(str(caught.value))
        return sentences

    return found


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("body", [b"", PAGE])
def test_a_redirect_to_https_says_what_to_set(s3_stub, refusals, status, body):
    secure = s3_stub.url.replace("http:", "https:").rpartition(":")[0]
    s3_stub.answer = (status, {"Location": f"{secure}/zelda-episodes/a", **HTML}, body)
    for refusal in refusals():
        assert f"redirect to {secure}: set S3_ENDPOINT_URL to that" in refusal


@pytest.mark.parametrize("location", [OUTSIDE, "/login", ""])
def test_a_redirect_elsewhere_is_no_advice_to_go_there(s3_stub, refusals, location):
    s3_stub.answer = (302, {"Location": location} if location else {}, b"")
    for refusal in refusals():
        assert "S3_ENDPOINT_URL to the S3 server itself" in refusal
        assert "hush" not in refusal


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (HTML, PAGE),
        (HTML | {"ETag": '"1"', "Last-Modified": "Thu, 26 Nov 2026 12:00:00 GMT"}, PAGE),
        ({"Content-Type": "application/xhtml+xml"}, XHTML),
        ({"Content-Type": "application/json"}, b'{"login": true}'),
        ({}, b"ok"),
    ],
)
def test_a_page_instead_of_an_answer_is_never_taken_for_success(s3_stub, refusals, headers, body):
    s3_stub.answer = (200, headers, body)
    # Of the bucket alone S3 says nothing that a page could not say as well, if it is no HTML.
    uses = USES if headers == HTML else [use for use in USES if use is not ENSURE_BUCKET]
    for refusal in refusals(uses):
        assert "S3_ENDPOINT_URL" in refusal


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 407, 500, 502, 503, 504])
@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (HTML, PAGE),
        (HTML, XHTML),
        ({"Content-Type": "text/plain"}, b"404 page not found"),
        (HTML, b""),
    ],
)
def test_an_error_of_a_proxy_is_reported_as_such(s3_stub, refusals, status, headers, body):
    s3_stub.answer = (status, headers, body)
    for refusal in refusals():
        assert f"HTTP {status}" in refusal
        assert "S3_ENDPOINT_URL" in refusal


@pytest.mark.parametrize("status", [400, 403, 404, 500])
def test_an_error_without_any_body_is_no_missing_object(s3_stub, refusals, status):
    s3_stub.answer = (status, {}, b"")
    for refusal in refusals([USES[0], USES[1], USES[3], USES[5], USES[7], probe_store]):
        assert f"HTTP {status}" in refusal


@pytest.mark.parametrize(
    "body",
    [b"\xff\xfe\x00", b"<Error><Code>", b"<ListBucketResult><Contents><Key>a</Key></Contents>"],
)
def test_what_cannot_be_parsed_is_an_outage(s3_stub: Any, refusals: Refusals, body: bytes) -> None:
    for status in (200, 400, 503):
        s3_stub.answer = (status, {"Content-Type": "application/xml"}, body)
        refusals([lambda store: list(store.list()), probe_store])


def test_a_redirect_of_s3_to_another_region_is_followed(run_stub: Any, offered: Any) -> None:
    with run_stub(replace(offered["aws"], region="eu-west-1")) as stub:
        probe_store(open_store("s3://zelda-episodes", stub.credentials))


@pytest.mark.parametrize(
    ("conditions", "reason"), [("501", "NotImplemented"), ("ignored", "If-None-Match")]
)
def test_a_server_without_conditional_writes_is_refused_with_the_reason(
    run_stub, offered, conditions, reason
):
    with run_stub(replace(offered["noobaa"], conditions=conditions)) as stub:
        store: ObjectStore = open_store("s3://zelda-episodes", stub.credentials)
        with pytest.raises(StoreUnavailableError, match=reason):
            probe_store(store)
        assert stub.objects == {}, "the probe leaves nothing behind"


def test_a_wrong_region_names_the_setting(s3_stub: Any, refusals: Refusals) -> None:
    body = b"<Error><Code>AuthorizationHeaderMalformed</Code><Message>no</Message></Error>"
    s3_stub.answer = (400, {"Content-Type": "application/xml"}, body)
    for refusal in refusals([USES[0], USES[3], USES[5], probe_store]):
        assert "S3_REGION" in refusal


@pytest.mark.parametrize(
    ("code", "remedy"),
    [("ExpiredToken", "AWS_"), ("InvalidAccessKeyId", "S3_ACCESS_KEY"), ("AccessDenied", "lacks")],
)
def test_a_refusal_of_the_keys_has_a_remedy(
    s3_stub: Any, refusals: Refusals, code: str, remedy: str
) -> None:
    body = f"<Error><Code>{code}</Code><Message>no</Message></Error>".encode()
    s3_stub.answer = (403, {"Content-Type": "application/xml"}, body)
    for refusal in refusals([USES[0], USES[3], USES[5], probe_store]):
        assert remedy in refusal
    for refusal in refusals([USES[4], ENSURE_BUCKET]):  # the answer to a HEAD has no code
        assert "another account" in refusal
