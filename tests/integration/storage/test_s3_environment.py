"""What a machine brings along for AWS or its network, and what our own keys make of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import StorageError
from rlaif.storage.probe import probe_store

BUCKET = "s3://zelda-episodes"
NOBODY = "http://127.0.0.1:1"

FOREIGN = {
    "AWS_PROFILE": "work",
    "AWS_DEFAULT_PROFILE": "work",
    "AWS_CONFIG_FILE": "{broken}",
    "AWS_SHARED_CREDENTIALS_FILE": "{broken}",
    "AWS_ENDPOINT_URL": NOBODY,
    "AWS_ENDPOINT_URL_S3": NOBODY,
    "AWS_CA_BUNDLE": "/gone/ca.pem",
    "REQUESTS_CA_BUNDLE": "/gone/ca.pem",
    "AWS_REQUEST_CHECKSUM_CALCULATION": "when_supported",
    "AWS_RESPONSE_CHECKSUM_VALIDATION": "nonsense",
    "AWS_DEFAULT_REGION": "not a region",
    "AWS_REGION": "not a region",
    "AWS_USE_FIPS_ENDPOINT": "true",
    "AWS_USE_DUALSTACK_ENDPOINT": "true",
    "AWS_MAX_ATTEMPTS": "many",
    "AWS_RETRY_MODE": "nonsense",
    "AWS_DEFAULTS_MODE": "nonsense",
    "AWS_METADATA_SERVICE_TIMEOUT": "soon",
    "AWS_METADATA_SERVICE_NUM_ATTEMPTS": "few",
    "AWS_EC2_METADATA_SERVICE_ENDPOINT": NOBODY,
    "AWS_EC2_METADATA_DISABLED": "perhaps",
    "AWS_SESSION_TOKEN": "stale",
    "AWS_ACCESS_KEY_ID": "other",
    "AWS_WEB_IDENTITY_TOKEN_FILE": "/gone/token",
    "AWS_ROLE_ARN": "arn:aws:iam::1:role/other",
    "AWS_AUTH_SCHEME_PREFERENCE": "nonsense",
    "AWS_S3_USE_ARN_REGION": "nonsense",
    "AWS_DATA_PATH": "/gone",
    "HTTP_PROXY": NOBODY,
    "http_proxy": NOBODY,
    "HTTPS_PROXY": "socks5://127.0.0.1:1",
    "ALL_PROXY": "socks5://127.0.0.1:1",
    "NO_PROXY": "fe80::/10",
}


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.startswith(("AWS_", "REQUESTS_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    # Without keys, no credential provider may be queried.
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def broken_file(tmp_path: Path) -> str:
    path = tmp_path / "config"
    path.write_text("this is [no profile\n=")
    return str(path)


def test_with_keys_of_our_own_nothing_of_the_users_is_read(s3_stub, broken_file, monkeypatch):
    for variable, value in FOREIGN.items():
        monkeypatch.setenv(variable, value.format(broken=broken_file))
    probe_store(open_store(BUCKET, s3_stub.credentials))


def test_a_server_outside_is_reached_through_the_proxy(s3_stub, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", s3_stub.url)
    probe_store(open_store(BUCKET, S3Credentials("http://s3.example.com", "key", "secret")))
    assert s3_stub.requests


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("AWS_PROFILE", "work"),
        ("AWS_DEFAULT_PROFILE", "work"),
        ("AWS_CONFIG_FILE", "{broken}"),
        ("AWS_SHARED_CREDENTIALS_FILE", "{broken}"),
        ("AWS_METADATA_SERVICE_TIMEOUT", "soon"),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", "/gone/token"),
    ],
)
def test_without_keys_the_standard_chain_names_the_variable_that_breaks_it(
    variable, value, broken_file, monkeypatch
):
    monkeypatch.setenv("AWS_ROLE_ARN", "arn:aws:iam::1:role/ours")
    monkeypatch.setenv(variable, value.format(broken=broken_file))
    with pytest.raises(StorageError, match=variable):
        open_store(BUCKET, S3Credentials(NOBODY, None, None)).head("a")


def test_outside_the_users_authorities_count_and_are_named(monkeypatch):
    monkeypatch.setenv("AWS_CA_BUNDLE", "/gone/ca.pem")
    with pytest.raises(StorageError, match="AWS_CA_BUNDLE"):
        open_store(BUCKET, S3Credentials("https://s3.example.com", "key", "secret")).head("a")


def test_the_standard_chain_takes_the_profile_that_the_user_names(s3_stub, tmp_path, monkeypatch):
    file = tmp_path / "credentials"
    file.write_text("[work]\naws_access_key_id = key\naws_secret_access_key = secret\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    monkeypatch.setenv("AWS_PROFILE", "work")
    probe_store(open_store(BUCKET, S3Credentials(s3_stub.url, None, None)))


@pytest.mark.parametrize(
    ("credentials", "setting"),
    [
        (S3Credentials(NOBODY, None, None), "S3_ACCESS_KEY"),
        (S3Credentials(NOBODY, "key", None), "S3_SECRET_KEY"),
        (S3Credentials(NOBODY, None, "secret"), "S3_ACCESS_KEY"),
        (S3Credentials(None, "key", "secret", region="not a region"), "S3_REGION"),
        (S3Credentials("127.0.0.1:9000", "key", "secret"), "S3_ENDPOINT_URL"),
        (S3Credentials("http://", "key", "secret"), "S3_ENDPOINT_URL"),
        (S3Credentials("http://[::1", "key", "secret"), "S3_ENDPOINT_URL"),
        (S3Credentials("http://127.0.0.1:99999", "key", "secret"), "S3_ENDPOINT_URL"),
    ],
)
def test_settings_that_cannot_work_are_refused_by_name(credentials, setting):
    with pytest.raises(StorageError, match=setting):
        open_store(BUCKET, credentials).head("a")


def test_credentials_inside_an_endpoint_are_never_shown() -> None:
    endpoint = "http://ada:se/cr#et@127.0.0.1:1"
    with pytest.raises(StorageError) as caught:
        open_store(BUCKET, S3Credentials(endpoint, "key", "hidden")).head("a")
    for part in ("ada", "se/cr", "#et", "hidden"):
        assert part not in str(caught.value)


@pytest.mark.parametrize(
    "command",
    [
        ["rlaif.bootstrap"],
        ["rlaif.judge.epoch", "--epoch", "0"],
        ["rlaif.hud"],
    ],
)
def test_every_command_reports_it_in_a_sentence(command, nats_url, tmp_path):
    ended = subprocess.run(
        [sys.executable, "-m", *command],
        env=os.environ | {"AWS_PROFILE": "work", "NATS_URL": nats_url, "HUD_PORT": "0"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 2
    assert "AWS_PROFILE" in ended.stderr.splitlines()[-1]
    assert "Traceback" not in ended.stderr
