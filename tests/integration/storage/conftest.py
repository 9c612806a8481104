"""A small S3 server that behaves as the offered stores do where they differ, or misbehaves.

Real SeaweedFS is the fixture `episodes_store`. The others have no package here: what is known of
them is written down in `OFFERED`, from their documentation and source.
"""

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import pytest

from rlaif.storage.open import S3Credentials

BUCKET = "zelda-episodes"


@dataclass(frozen=True)
class Semantics:
    """Where stores that speak S3 differ."""

    server: str | None = None
    nested_keys: bool = True
    """Whether a key may begin another object's key; else the second is refused."""

    conditions: str = "kept"
    """What becomes of If-None-Match and If-Match: kept, ignored, or 501."""

    conflicts: bool = False
    """Whether the first conditional write of a key meets another one: 409."""

    quoted_tags: bool = True
    page: int = 1000
    error_body: str = "<Code>{code}</Code><Message>{message}</Message>"
    head_type: str | None = "application/xml"
    """Content type of a failed HEAD, which has no body."""

    region: str | None = None
    """The only region that signatures may name."""

    needs_md5: bool = False
    """Whether DeleteObjects without Content-MD5 is refused."""


OFFERED = {
    "aws": Semantics("AmazonS3", conflicts=True, page=7),
    "minio": Semantics("MinIO", nested_keys=False, needs_md5=True, head_type=None),
    "ceph": Semantics(
        None,
        error_body="<Code>{code}</Code><RequestId>tx0-default</RequestId><HostId>z</HostId>",
        needs_md5=True,
    ),
    "noobaa": Semantics(None, quoted_tags=False, page=5, head_type="application/xml"),
}


@dataclass
class Stub:
    """One running server; `answer`, when set, is given to every request instead of S3's own.

    Attributes:
        faults: What the next requests are answered, one each; an answer of fewer bytes than its
            Content-Length says ends in the middle.
    """

    url: str
    semantics: Semantics
    objects: dict[str, tuple[bytes, datetime, str]] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    answer: tuple[int, dict[str, str], bytes] | None = None
    answered_methods: frozenset[str] = frozenset({"GET", "HEAD", "PUT", "POST"})
    faults: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)
    met: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def credentials(self) -> S3Credentials:
        return S3Credentials(self.url, "key", "secret")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    stub: Stub

    def log_message(self, *_: object) -> None:
        pass

    def version_string(self) -> str:
        return self.stub.semantics.server or ""

    def do_GET(self) -> None:
        self._handle()

    do_HEAD = do_PUT = do_POST = do_DELETE = do_GET

    def _handle(self) -> None:
        stub, body = self.stub, self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = urlsplit(self.path)
        bucket, _, key = unquote(parts.path).lstrip("/").partition("/")
        with stub.lock:
            stub.requests.append((self.command, key))
            if stub.faults:
                self._send(*stub.faults.pop(0))
                return
            if stub.answer and self.command in stub.answered_methods:
                self._send(*stub.answer)
                return
            region = stub.semantics.region
            if region and f"/{region}/s3/" not in self.headers.get("Authorization", ""):
                self._error(400, "AuthorizationHeaderMalformed", f"<Region>{region}</Region>")
            elif bucket != BUCKET:
                self._error(404, "NoSuchBucket")
            elif key:
                getattr(self, f"_{self.command.lower()}_object")(key, body)
            elif self.command == "POST":
                self._delete_objects(body)
            else:
                self._list({name: each[0] for name, each in parse_qs(parts.query, True).items()})

    def _put_object(self, key: str, body: bytes) -> None:
        stub, semantics = self.stub, self.stub.semantics
        found = stub.objects.get(key)
        wanted = self.headers.get("If-Match")
        if wanted or self.headers.get("If-None-Match"):
            if semantics.conditions == "501":
                self._error(501, "NotImplemented")
                return
            if semantics.conflicts and key not in stub.met:
                stub.met.add(key)
                self._error(409, "ConditionalRequestConflict")
                return
            if semantics.conditions == "kept":
                if wanted and found is None:
                    self._error(404, "NoSuchKey")
                    return
                if found is not None and wanted != self._tag(found[0]):
                    self._error(412, "PreconditionFailed")
                    return
        parents = [key[:place] for place, char in enumerate(key) if char == "/"]
        if not semantics.nested_keys and (
            any(each in stub.objects for each in parents)
            or any(each.startswith(f"{key}/") for each in stub.objects)
        ):
            self._error(400, "XMinioParentIsObject")
            return
        kind = self.headers.get("Content-Type", "binary/octet-stream")
        stub.objects[key] = (body, datetime.now(UTC), kind)
        self._send(200, {"ETag": self._tag(body)}, b"")

    def _get_object(self, key: str, _body: bytes) -> None:
        found = self.stub.objects.get(key)
        if found is None:
            self._error(404, "NoSuchKey")
            return
        data, written, kind = found
        when = format_datetime(written, usegmt=True)
        self._send(
            200, {"ETag": self._tag(data), "Last-Modified": when, "Content-Type": kind}, data
        )

    _head_object = _get_object

    def _list(self, query: dict[str, str]) -> None:
        stub = self.stub
        after = query.get("continuation-token") or query.get("start-after", "")
        prefix = query.get("prefix", "")
        keys = sorted(each for each in stub.objects if each.startswith(prefix) and each > after)
        size = min(stub.semantics.page, int(query.get("max-keys", 1000)))
        page, cut = keys[:size], len(keys) > size
        rows = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(stub.objects[key][0])}</Size>"
            f"<LastModified>{stub.objects[key][1]:%Y-%m-%dT%H:%M:%S.000Z}</LastModified>"
            f"<ETag>{escape(self._tag(stub.objects[key][0]))}</ETag></Contents>"
            for key in page
        )
        token = f"<NextContinuationToken>{escape(page[-1])}</NextContinuationToken>" if cut else ""
        self._xml(
            f"<ListBucketResult><IsTruncated>{str(cut).lower()}</IsTruncated>{token}{rows}"
            "</ListBucketResult>"
        )

    def _delete_objects(self, body: bytes) -> None:
        if self.stub.semantics.needs_md5 and "Content-MD5" not in self.headers:
            self._error(400, "MissingContentMD5")
            return
        for each in ElementTree.fromstring(body).iter():
            if each.tag.endswith("Key"):
                self.stub.objects.pop(each.text or "", None)
        self._xml("<DeleteResult></DeleteResult>")

    def _tag(self, data: bytes) -> str:
        digest = hashlib.md5(data, usedforsecurity=False).hexdigest()
        return f'"{digest}"' if self.stub.semantics.quoted_tags else digest

    def _error(self, status: int, code: str, more: str = "") -> None:
        fields = self.stub.semantics.error_body.format(code=code, message="refused") + more
        kind = {"Content-Type": self.stub.semantics.head_type} if self.command == "HEAD" else {}
        body = f'<?xml version="1.0"?><Error>{fields}</Error>'.encode()
        self._send(status, {"Content-Type": "application/xml", **kind}, body)

    def _xml(self, text: str) -> None:
        body = f'<?xml version="1.0" encoding="UTF-8"?>{text}'.encode()
        self._send(200, {"Content-Type": "application/xml"}, body)

    def _send(self, status: int, headers: dict[str, Any], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if value is not None:
                self.send_header(name, value)
        self.send_header("x-amz-request-id", "1")
        if "Content-Length" in headers:
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


RunStub = Callable[[Semantics], AbstractContextManager[Stub]]


@contextmanager
def _running(semantics: Semantics) -> Iterator[Stub]:
    handler = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    stub = Stub(f"http://127.0.0.1:{server.server_port}", semantics)
    handler.stub = stub  # type: ignore[attr-defined]  # declared in the base
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def offered() -> dict[str, Semantics]:
    """Name of an offered store → how it behaves."""
    return OFFERED


@pytest.fixture
def run_stub() -> RunStub:
    """Runs a server of the given behaviour."""
    return _running


@pytest.fixture
def s3_stub() -> Iterator[Stub]:
    """A server without peculiarities."""
    with _running(Semantics("Stub")) as stub:
        yield stub
