from pathlib import Path

import pytest
from pydantic import SecretStr

from rlaif.service.settings import ServiceSettings
from rlaif.storage.file import FileStore
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import StorageError
from rlaif.storage.s3 import S3Store

CREDENTIALS = S3Credentials("http://127.0.0.1:1", "key", "secret")


def test_an_s3_url_gives_a_bucket() -> None:
    store = open_store("s3://zelda-episodes", CREDENTIALS)
    assert isinstance(store, S3Store)
    assert store.url == "s3://zelda-episodes"


def test_a_file_url_gives_a_folder_and_may_have_escapes(tmp_path: Path) -> None:
    folder = tmp_path / "with space"
    store = open_store(folder.as_uri(), None)
    assert isinstance(store, FileStore)
    assert store.url == folder.as_uri()
    assert folder.is_dir()


@pytest.mark.parametrize(
    "url",
    [
        "zelda-episodes",
        "s3://",
        "s3://bucket/prefix",
        "file://host/x",
        "file:x",
        "http://x/y",
        "s3://[x",
    ],
)
def test_any_other_url_is_refused_with_the_fix(url: str) -> None:
    with pytest.raises(StorageError, match="use s3://bucket"):
        open_store(url, CREDENTIALS)


def test_credentials_come_from_the_settings_and_empty_means_the_platforms_own() -> None:
    given = ServiceSettings(
        s3_endpoint_url="http://s3:9000", s3_access_key="a", s3_secret_key=SecretStr("b")
    )
    assert S3Credentials.of(given) == S3Credentials("http://s3:9000", "a", "b", "us-east-1")
    cloud = ServiceSettings(s3_endpoint_url="", s3_region="eu-west-1")
    assert S3Credentials.of(cloud) == S3Credentials(None, None, None, "eu-west-1")


@pytest.mark.parametrize("name", ["plain", "a b", "é #1 (copy)", "50%41?", "Ada's", "a&b;c"])
def test_an_absolute_path_is_taken_as_it_is(tmp_path: Path, name: str) -> None:
    assert open_store(str(tmp_path / name), None).url == (tmp_path / name).as_uri()
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("url", ["file:///data/x#1", "file:///data/x?y=z"])
def test_a_file_url_that_would_be_cut_off_is_refused(url: str) -> None:
    with pytest.raises(StorageError, match="%3F or %23"):
        open_store(url, None)
