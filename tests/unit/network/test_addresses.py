import pytest

from rlaif.network.addresses import is_own_address, without_credentials


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:9000", "http://127.0.0.1", "http://127.8.8.8:1/x", "http://[::1]:9000",
        "http://0.0.0.0:1", "https://ada.localhost", "http://s3:9000", "http://minio:9000/",
        "http://s3.zelda-rlaif.svc:9000", "https://s3.openshift-storage.svc.cluster.local",
        "http://host.containers.internal:11434", "http://user:pw@s3:9000", "s3:9000",
    ],
)  # fmt: skip
def test_this_machine_and_the_services_beside_us_are_our_own(url: str) -> None:
    assert is_own_address(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://s3.eu-west-1.amazonaws.com", "http://192.168.1.5:9000", "http://llm.example.com",
        "https://s3.svc.example.com", "http://[fe80::1]", "", "http://", "http://[::1", "https://8.8.8.8",
    ],
)  # fmt: skip
def test_everything_else_may_need_the_proxy(url: str) -> None:
    assert not is_own_address(url)


@pytest.mark.parametrize("secret", ["pw", "p/w", "p@w", "p w", "p//w", "p#?w", "p:w"])
def test_no_part_of_a_password_is_left(secret: str) -> None:
    shown = without_credentials(f"cannot reach http://ada:{secret}@host:1/x")
    assert shown == "cannot reach http://***@host:1/x"


def test_an_address_without_credentials_stays_as_it_is() -> None:
    assert without_credentials("http://host:1/x") == "http://host:1/x"
