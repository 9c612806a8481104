"""An S3 bucket as an object store; works with AWS, SeaweedFS, Ceph, MinIO and others.

The server must honour `If-None-Match: *` on PUT atomically; `rlaif.storage.probe` checks it. With
keys in the settings, the client reads neither profiles nor `AWS_*` variables; without keys, it uses
boto3's standard chain (role, web identity, profile).
"""

import base64
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

import boto3
import botocore.session
from boto3.exceptions import Boto3Error
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    InvalidRegionError,
    NoCredentialsError,
    PartialCredentialsError,
    ProxyConnectionError,
    SSLError,
)
from botocore.utils import parse_timestamp
from urllib3.exceptions import HTTPError

from rlaif.network.addresses import is_own_address, without_credentials
from rlaif.storage.bounds import check_size
from rlaif.storage.keys import check_key
from rlaif.storage.ports import (
    BINARY,
    ObjectCorruptError,
    ObjectInfo,
    ObjectNotFoundError,
    StorageError,
    StoreUnavailableError,
)

T = TypeVar("T")

DELETE_BATCH = 1000
"""Maximum keys of one DeleteObjects request in S3."""

_FAILURES = (
    BotoCoreError, ClientError, Boto3Error, HTTPError, OSError, ValueError, KeyError, TypeError,
    RecursionError,
)  # fmt: skip
"""Exceptions of boto3 for faults of settings, credentials, network or server.

Not only its own errors: an unreadable token file raises OSError, a malformed endpoint ValueError,
and an answer without an expected header KeyError.
"""

_CONFLICT_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.4, 0.4)
"""Pauses in seconds after each conflict of a conditional write with another one."""

_BODY_TRIES = 3

_HINTS = {
    "NoSuchBucket": "; create the bucket, or correct its name in the settings",
    "InvalidAccessKeyId": "; correct S3_ACCESS_KEY, or for temporary keys set the AWS_ variables",
    "ExpiredToken": "; renew the AWS_ variables and start again, or use a role",
    "SignatureDoesNotMatch": "; correct S3_SECRET_KEY",
    "PreconditionFailed": ", but there is no such object; is the key a prefix of another one?",
    "AccessDenied": "; the key lacks the permission, or is wrong",
    "403": "; the key is wrong or lacks the permission, or the bucket is of another account",
    "BucketAlreadyExists": "; it is of another account: choose another name",
    "InvalidLocationConstraint": "; correct S3_REGION, or create the bucket by other means",
    "NotImplemented": "; use another server",
    "MethodNotAllowed": "; use another server",
    "AuthorizationHeaderMalformed": "; correct S3_REGION",
    "RequestTimeTooSkewed": "; set the clock of this machine",
}
_BOTH_KEYS = "; set S3_ACCESS_KEY and S3_SECRET_KEY"
_HINTS_OF_KINDS: tuple[tuple[type[Exception], str], ...] = (
    (SSLError, "; set S3_CA_FILE to the certificate of this server's authority"),
    (ProxyConnectionError, "; it is set in HTTP_PROXY or HTTPS_PROXY, NO_PROXY has exceptions"),
    (NoCredentialsError, f"{_BOTH_KEYS}, or assign a role to the process"),
    (PartialCredentialsError, _BOTH_KEYS),
    (InvalidRegionError, "; correct S3_REGION"),
)


class S3Store:
    """One bucket. Thread-safe. None as an argument: see `rlaif.storage.open.S3Credentials`.

    A call takes at most about `attempts` times (2 s to connect + 10 s to read) plus back-off.
    """

    def __init__(
        self,
        bucket: str,
        *,
        endpoint_url: str | None,
        access_key: str | None,
        secret_key: str | None,
        region: str = "us-east-1",
        ca_file: str | None = None,
        attempts: int = 5,
    ) -> None:
        self._bucket = bucket
        self._region = region
        self._by_folder: bool | None = None  # known after the first listing
        self._server = without_credentials(endpoint_url or "AWS")
        own = endpoint_url is not None and is_own_address(endpoint_url)
        isolated = access_key is not None or secret_key is not None
        # Variables that the client reads; botocore's errors do not name them.
        bundles = () if own or ca_file else ("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE")
        self._variables: tuple[str, ...] = bundles if isolated else ("AWS_", *bundles)
        try:
            # Own session: creating clients from boto3's shared one is not thread-safe.
            session = boto3.session.Session(botocore_session=_core_session(isolated=isolated))
            self._client: Any = session.client(
                "s3",
                endpoint_url=endpoint_url,
                aws_access_key_id=access_key,
                aws_secret_access_key=secret_key,
                region_name=region,
                config=_config(attempts, isolated=isolated, own=own),
                # None uses AWS_CA_BUNDLE, which a corporate proxy may need.
                verify=ca_file or (True if own else None),
            )
        except _FAILURES as error:
            raise StorageError(f"{self.url}: no client for it: {self._reason(error)}") from error
        self._client.meta.events.register("before-call.s3.DeleteObjects", _add_md5)
        self._client.meta.events.register("before-parse.s3", self._check_origin)

    @property
    def url(self) -> str:
        return f"s3://{self._bucket}"

    def put_once(self, key: str, data: bytes, *, content_type: str = BINARY) -> bool:
        """Create the object atomically unless it exists; returns False if it existed.

        After a lost answer and a repeated request, the result may be False although this call has
        stored the object.
        """
        # A rejection needs an existing object: SeaweedFS also answers 412 for a folder.
        return self._put_if(
            key, data, content_type, lambda: self.head(key) is not None, IfNoneMatch="*"
        )

    def put_over(self, key: str, data: bytes, tag: str, *, content_type: str = BINARY) -> bool:
        return self._put_if(key, data, content_type, lambda: True, IfMatch=tag)

    def _put_if(
        self,
        key: str,
        data: bytes,
        content_type: str,
        believed: Callable[[], bool],
        **condition: str,
    ) -> bool:
        """Put under a condition; False when it does not hold and the refusal is `believed`."""
        check_key(key)
        for pause in _CONFLICT_PAUSES:
            try:
                self._put(key, data, content_type, **condition)
                return True
            except _FAILURES as error:
                gone = "IfMatch" in condition and _is_missing(error)
                if gone or (_status(error) == 412 and believed()):
                    return False
                # 409: a concurrent conditional write of this key; AWS recommends a retry.
                if _status(error) not in (409, 412):
                    raise self._unavailable("put", key, error) from error
                failure = error
            time.sleep(pause)
        raise self._unavailable("put", key, failure) from failure

    def put(self, key: str, data: bytes, *, content_type: str = BINARY) -> None:
        check_key(key)
        self._call("put", key, lambda: self._put(key, data, content_type))

    def get(self, key: str, max_bytes: int | None = None) -> bytes:
        return self._get(key, max_bytes)[0]

    def get_tagged(self, key: str) -> tuple[bytes, str]:
        return self._get(key, None)

    def _get(self, key: str, max_bytes: int | None) -> tuple[bytes, str]:
        check_key(key)
        for tried in range(_BODY_TRIES):
            answer = self._call(
                "get", key, lambda: self._client.get_object(Bucket=self._bucket, Key=key)
            )
            try:
                check_size(key, answer["ContentLength"], max_bytes)
                body: bytes = answer["Body"].read()
                return body, answer["ETag"]
            except ObjectCorruptError:
                answer["Body"].close()
                raise
            except _FAILURES as error:
                # The connection broke within the body; boto3 does not retry this.
                if tried == _BODY_TRIES - 1:
                    raise self._unavailable("get", key, error) from error
        raise AssertionError("unreachable")

    def head(self, key: str) -> ObjectInfo | None:
        check_key(key)
        try:
            answer = self._call(
                "head", key, lambda: self._client.head_object(Bucket=self._bucket, Key=key)
            )
        except ObjectNotFoundError:
            return None
        # The tag of a multipart or server-side encrypted upload is not an MD5 digest.
        tag = answer.get("ETag", "").strip('"')
        md5 = tag if len(tag) == 32 else None
        return ObjectInfo(key, answer["ContentLength"], answer["LastModified"], md5)

    def list(self, prefix: str = "", *, after: str = "") -> Iterator[ObjectInfo]:
        """Objects with this prefix and a key greater than `after`, in key order.

        SeaweedFS lists folder by folder ("a/x" before "a-b"), and its `StartAfter` omits keys:
        there each folder is read and sorted. For other servers, a wrong order is an error.
        """
        if self._by_folder is None:
            self._by_folder = self._lists_by_folder(prefix)
        if self._by_folder:
            yield from self._walk(prefix, after)
            return
        last = after
        for info in self._pages(prefix, after):
            if info.key <= last:
                raise StoreUnavailableError(
                    f"{self.url} does not list in key order: {info.key!r} came after {last!r}"
                )
            last = info.key
            yield info

    def scan(self, prefix: str = "") -> Iterator[ObjectInfo]:
        return self._pages(prefix)

    def delete_many(self, keys: Sequence[str]) -> None:
        for key in keys:
            check_key(key)
        for start in range(0, len(keys), DELETE_BATCH):
            batch = keys[start : start + DELETE_BATCH]
            answer = self._call("delete", batch[0], partial(self._delete, batch))
            errors = answer.get("Errors", [])
            if errors:
                first = errors[0]
                raise StoreUnavailableError(
                    f"{self.url}: {len(errors)} of {len(batch)} keys were not deleted; first "
                    f"{first.get('Key')!r}: {first.get('Code')} {first.get('Message')}"
                )

    def ensure_bucket(self) -> bool:
        try:
            self._call("head", "", lambda: self._client.head_bucket(Bucket=self._bucket))
        except ObjectNotFoundError:
            self._call("make", "", self._create_bucket)
            return True
        return False

    def _put(self, key: str, data: bytes, content_type: str, **condition: str) -> None:
        self._client.put_object(
            Bucket=self._bucket,
            Key=key,
            Body=data,
            ContentType=content_type,
            # The server rejects a damaged body; all servers support MD5.
            ContentMD5=_md5(data),
            **condition,
        )

    def _lists_by_folder(self, prefix: str) -> bool:
        answer = self._call("list", prefix, lambda: self._list_page(prefix, {"MaxKeys": 1}))
        server = answer["ResponseMetadata"]["HTTPHeaders"].get("server", "")
        return bool(server.startswith("SeaweedFS"))

    def _walk(self, prefix: str, after: str) -> Iterator[ObjectInfo]:
        """Objects with this prefix in key order; only folders that are reached are listed."""
        pages = list(self._raw_pages(prefix, {"Delimiter": "/"}))
        found: dict[str, ObjectInfo | None] = {
            row["Prefix"]: None for page in pages for row in page.get("CommonPrefixes", ())
        }
        found |= {info.key: info for page in pages for info in _objects(page)}
        for key, info in sorted(found.items()):
            if info is not None:
                if key > after:
                    yield info
            # All keys inside begin with `key`, so they are greater than `after` or it is inside.
            elif key > after or after.startswith(key):
                yield from self._walk(key, after)

    def _pages(self, prefix: str, after: str = "") -> Iterator[ObjectInfo]:
        start = {"StartAfter": after} if after else {}
        return (info for page in self._raw_pages(prefix, start) for info in _objects(page))

    def _raw_pages(self, prefix: str, options: dict[str, Any]) -> Iterator[Any]:
        more: dict[str, Any] = {}
        while True:
            page = self._call("list", prefix, partial(self._list_page, prefix, options | more))
            yield page
            if not page.get("IsTruncated"):
                return
            more = {"ContinuationToken": page["NextContinuationToken"]}

    def _list_page(self, prefix: str, more: dict[str, Any]) -> Any:
        page = self._client.list_objects_v2(Bucket=self._bucket, Prefix=prefix, **more)
        if page.get("IsTruncated") and not page.get("NextContinuationToken"):
            raise _ForeignAnswerError(why="the server lacks ListObjectsV2; use another one")
        return page

    def _delete(self, keys: Sequence[str]) -> Any:
        objects = [{"Key": key} for key in keys]
        return self._client.delete_objects(
            Bucket=self._bucket, Delete={"Objects": objects, "Quiet": True}
        )

    def _create_bucket(self) -> None:
        place = {}
        if self._region not in ("", "us-east-1"):  # AWS rejects its default region here
            place = {"CreateBucketConfiguration": {"LocationConstraint": self._region}}
        try:
            self._client.create_bucket(Bucket=self._bucket, **place)
        except ClientError as error:
            if _code(error) != "BucketAlreadyOwnedByYou":  # another process was faster
                raise

    def _call(self, verb: str, key: str, request: Callable[[], T]) -> T:
        try:
            return request()
        except _FAILURES as error:
            if _is_missing(error):
                raise ObjectNotFoundError(f"{self.url} has no object {key!r}") from error
            raise self._unavailable(verb, key, error) from error

    def _unavailable(self, verb: str, key: str, error: Exception) -> StoreUnavailableError:
        return StoreUnavailableError(f"{self.url}: cannot {verb} {key!r}: {self._reason(error)}")

    def _reason(self, error: Exception) -> str:
        text = without_credentials(str(error)) or type(error).__name__
        if isinstance(error, ClientError):
            if _is_foreign(error):
                content = _content_type(error) or "no content type"
                return (
                    f"{self._server} answers HTTP {_status(error)} ({content}) instead of an S3 "
                    "error: is a proxy (407: it needs a password) or a sign-in page in between? "
                    "Check S3_ENDPOINT_URL"
                )
            if error.operation_name.startswith("AssumeRole"):
                return f"{text}; check AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE"
            return text + _HINTS.get(_code(error), "")
        if isinstance(error, _ForeignAnswerError):
            return f"{self._server} answers with {text}"
        hint = next((hint for kind, hint in _HINTS_OF_KINDS if isinstance(error, kind)), "")
        # With an own endpoint and keys the client reads none of them.
        names = sorted(name for name in os.environ if name.startswith(self._variables))
        return text + hint + (f"; check {', '.join(names)}" if names else "")

    def _check_origin(
        self, *, operation_model: Any, response_dict: dict[str, Any], **_: object
    ) -> None:
        """Raise for an answer of a proxy, an ingress or a sign-in page.

        Runs before botocore parses the answer: it would treat any redirect as one to another
        region.
        """
        status, headers = response_dict["status_code"], response_dict["headers"]
        body = response_dict["body"]
        if 300 <= status < 400 and not ("x-amz-bucket-region" in headers or b"<Code>" in body):
            raise _ForeignAnswerError(why=self._redirect(headers.get("location", "")))
        if status < 300 and not _is_s3(operation_model.name, headers, body):
            if operation_model.has_streaming_output:
                body.close()
            kind = headers.get("content-type", "no content type")
            raise _ForeignAnswerError(
                why=f"HTTP {status} and {kind}, which is not an S3 response: is a sign-in page or "
                "a proxy in between? Check S3_ENDPOINT_URL"
            )

    def _redirect(self, location: str) -> str:
        target, asked = urlsplit(location), urlsplit(self._client.meta.endpoint_url)
        origin = f"{target.scheme}://{target.netloc.rpartition('@')[2]}"
        if target.netloc and target.hostname == asked.hostname:
            return f"a redirect to {origin}: set S3_ENDPOINT_URL to that"
        where = f" to {origin}" if target.netloc else ""
        return (
            f"a redirect{where}, as sign-in pages and proxies do: set S3_ENDPOINT_URL to the S3 "
            "server itself"
        )


class _ForeignAnswerError(BotoCoreError):  # type: ignore[misc]  # botocore has no types
    """An answer that is not from an S3 server; `why` describes it."""

    fmt = "{why}"


def _is_s3(operation: str, headers: Any, body: Any) -> bool:
    if headers.get("content-type", "").startswith("text/html"):
        return False
    match operation:
        case "PutObject" | "GetObject":
            return "etag" in headers
        case "HeadObject":
            return "etag" in headers and "last-modified" in headers
        case "ListObjectsV2":
            return b"ListBucketResult" in body
        case "DeleteObjects":
            return not body or b"DeleteResult" in body
    return True


def _core_session(*, isolated: bool) -> Any:
    """A botocore session with a faster time parser; the default one takes 60 % of a listing.

    If `isolated`, it reads no files and no variables of the user except AWS_CA_BUNDLE.
    """
    variables = {
        name: (None, None, default, convert)
        for name, (_, _, default, convert) in botocore.session.Session.SESSION_VARIABLES.items()
        if name != "ca_bundle"
    }
    nothing = {name: (None, None, os.devnull, None) for name in ("config_file", "credentials_file")}
    session = botocore.session.get_session({**variables, **nothing} if isolated else None)
    factory = session.get_component("response_parser_factory")
    factory.set_parser_defaults(timestamp_parser=_moment)
    return session


def _moment(value: Any) -> datetime:
    """Parse ISO 8601 times of listings and RFC 9110 times of headers; botocore parses others."""
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            found = read(value)
        except (TypeError, ValueError):
            continue
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    moment: datetime = parse_timestamp(value)
    return moment


def _config(attempts: int, *, isolated: bool, own: bool) -> Any:
    return Config(
        proxies={} if own else None,  # None uses HTTP_PROXY, HTTPS_PROXY and NO_PROXY
        ignore_configured_endpoint_urls=True if isolated else None,
        # Without it boto3 signs URLs for other servers with the old version 2.
        signature_version="s3v4",
        connect_timeout=2,
        read_timeout=10,
        retries={"mode": "standard", "total_max_attempts": attempts},
        s3={"addressing_style": "path"},
        max_pool_connections=32,
        # The default reveals the environment, and is built for each request.
        user_agent="rlaif",
        # Newer boto3 adds checksum trailers by default, which many servers do not support.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )


def _objects(page: Any) -> Iterator[ObjectInfo]:
    for row in page.get("Contents", ()):
        if not row["Key"].endswith("/"):  # SeaweedFS lists folders that became empty
            yield ObjectInfo(row["Key"], row["Size"], row["LastModified"])


def _md5(data: bytes) -> str:
    return base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()


def _add_md5(params: dict[str, Any], **_: object) -> None:
    # boto3 sends a CRC32 here, but older servers require an MD5 digest.
    params["headers"]["Content-MD5"] = _md5(params["body"])


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _status(error: Exception) -> int:
    response: Any = error.response if isinstance(error, ClientError) else {}
    return int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def _content_type(error: ClientError) -> str:
    headers: Any = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    return str(headers.get("content-type", "")).partition(";")[0]


def _is_missing(error: Exception) -> bool:
    """Whether S3 itself reports a missing object, unlike a proxy's 404."""
    if not isinstance(error, ClientError) or _is_foreign(error):
        return False
    return _code(error) in ("NoSuchKey", "NotFound", "404")


def _is_foreign(error: ClientError) -> bool:
    """Whether an error is not from S3: no code in its body; of a HEAD, by its content type."""
    if _code(error) not in ("", str(_status(error))):
        return False
    return not error.operation_name.startswith("Head") or _content_type(error).startswith("text/")
