from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from rlaif.network.nats_url import NatsAddress, parse_nats_url
from rlaif.service.cli import InvalidSettingsError, load_settings, masked_json
from rlaif.service.settings import ServiceSettings

ROOT = Path(__file__).parents[3]
PASSWORDS = [
    "secret", "se#cret", "se/cret", "se,cret", "se@cret", "se%cret", "se:cret", "se cret", "sécrët",
    "se?cret", "se[cret]", "se+cret", "se\"'cret", "//@:,", "100%", "%", "a@b,c", "tls://x", "\\",
]  # fmt: skip


@pytest.mark.parametrize("password", PASSWORDS)
def test_any_password_can_be_given_as_it_is_or_percent_encoded(password: str) -> None:
    expected = NatsAddress(("nats://nats:4222",), user="ada", password=password)
    for written in (password, quote(password, safe="")):
        assert parse_nats_url(f"nats://ada:{written}@nats:4222") == expected
        several = parse_nats_url(f"nats://ada:{written}@a:1,nats://ada:{written}@b")
        assert (several.servers, several.password) == (("nats://a:1", "nats://b:4222"), password)


@pytest.mark.parametrize("password", PASSWORDS)
def test_a_vaults_password_survives_the_template_of_its_secret(password: str) -> None:
    template = (ROOT / "deploy/components/secrets-external/nats.yaml").read_text()
    encoded = template.count('urlquery | replace "+" "%20" }}')
    assert encoded == template.count("NATS_URL: ") > 0
    written = quote_plus(password, safe="").replace("+", "%20")
    assert parse_nats_url(f"nats://{written}:{written}@nats:4222").password == password


@pytest.mark.parametrize("token", [each for each in PASSWORDS if ":" not in each])
def test_any_token_without_a_colon_can_be_given_as_it_is(token: str) -> None:
    assert parse_nats_url(f"nats://{token}@nats").token == token


def test_a_colon_in_a_user_or_token_is_percent_encoded() -> None:
    assert parse_nats_url("nats://a%3Ab@nats").token == "a:b"
    found = parse_nats_url("nats://a%3Ab:c:d@nats")
    assert (found.user, found.password) == ("a:b", "c:d")


@pytest.mark.parametrize(
    ("url", "servers"),
    [
        ("", ["nats://127.0.0.1:4222"]),
        ("  ", ["nats://127.0.0.1:4222"]),
        (",", ["nats://127.0.0.1:4222"]),
        ("nats://a:1,", ["nats://a:1"]),
        ("a", ["nats://a:4222"]),
        ("a:1, b:2", ["nats://a:1", "nats://b:2"]),
        ("nats://t@a:1,t@b:2", ["nats://a:1", "nats://b:2"]),
        ("nats://t@a:1,b:2", ["nats://a:1", "nats://b:2"]),
        ("nats://t@a:1, nats://b:2", ["nats://a:1", "nats://b:2"]),
        ("TLS://a", ["tls://a:4222"]),
        ("nats://[::1]:5000,tls://[fd00::2]", ["nats://[::1]:5000", "tls://[fd00::2]:4222"]),
        ("nats://a:1/", ["nats://a:1"]),
    ],
)
def test_servers_are_read_in_all_their_forms(url: str, servers: list[str]) -> None:
    assert list(parse_nats_url(url).servers) == servers


@pytest.mark.parametrize(
    "url",
    [
        "nats://ada:hush@nats:port", "nats://ada:hush@nats:99999", "nats://ada:hush@nats:0",
        "nats://ada:hush@::1:4222", "nats://ada:hush@", "http://ada:hush@nats",
        "nats://ada:hush@a b", "nats://ada:hush@a,nats://bob:hush@b", "nats://ada:hush@nats/hush?x#y",
    ],
)  # fmt: skip
def test_what_names_no_server_is_refused_and_nothing_of_it_is_shown(url, monkeypatch):
    monkeypatch.setenv("NATS_URL", url)
    with pytest.raises(InvalidSettingsError, match="NATS_URL") as caught:
        load_settings(ServiceSettings)
    assert "hush" not in str(caught.value)
    with pytest.raises(ValueError, match=r"nats_url|NATS_URL") as raw:
        ServiceSettings()
    assert "hush" not in str(raw.value)


@pytest.mark.parametrize("password", PASSWORDS)
def test_no_printed_setting_shows_a_part_of_it(password: str) -> None:
    url = f"nats://ada:x{password}x@nats"
    text = masked_json(ServiceSettings(nats_url=url)) + repr(ServiceSettings(nats_url=url))
    assert "ada" not in text
    for part in ("se", "cret", f"x{password}"):
        assert f"x{part}" not in text
    assert password not in repr(parse_nats_url(url))
