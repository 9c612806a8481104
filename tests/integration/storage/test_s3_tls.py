"""S3 over TLS with an authority of one's own."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from rlaif.servers.seaweedfs import TlsFiles
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import StoreUnavailableError
from rlaif.storage.probe import probe_store
from rlaif.testing.servers.certificates import make_certificate
from rlaif.testing.servers.s3_server import running_s3_server

BUCKET = "s3://zelda-episodes"


@pytest.fixture(scope="module")
def secure_s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Credentials]:
    made = make_certificate(tmp_path_factory.mktemp("tls"))
    tls = TlsFiles(made.file, made.key_file, made.ca_file)
    with running_s3_server(tls=tls) as server:
        yield server.credentials


def test_a_server_of_our_own_authority_is_believed(secure_s3: S3Credentials) -> None:
    assert secure_s3.endpoint_url is not None
    assert secure_s3.endpoint_url.startswith("https://")
    probe_store(open_store(BUCKET, secure_s3))


@pytest.mark.parametrize(
    ("ca_file", "why"),
    [(None, r"certificate verify failed.*S3_CA_FILE"), ("/missing/ca.pem", "S3_CA_FILE")],
)
def test_without_the_file_of_authorities_it_is_an_outage_that_names_the_setting(
    secure_s3: S3Credentials, ca_file: str | None, why: str
) -> None:
    store = open_store(BUCKET, replace(secure_s3, ca_file=ca_file))
    with pytest.raises(StoreUnavailableError, match=why):
        store.get("a")
