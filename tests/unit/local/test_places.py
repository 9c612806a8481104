"""The data directory: one stack at a time, secrets of its owner, ports that are free."""

import errno
import json
import os
import socket
import stat
from contextlib import closing
from pathlib import Path

import pytest

from rlaif.local.places import (
    HOST,
    DamagedSecretsError,
    DataDirectory,
    DataDirectoryBusyError,
    Ports,
    disk_report,
)
from rlaif.testing.servers.nats_server import free_ports


@pytest.fixture
def home(tmp_path: Path) -> DataDirectory:
    return DataDirectory(tmp_path / "var")


def test_a_second_stack_is_refused_with_the_owner_of_the_directory(home):
    with home.lock(), pytest.raises(DataDirectoryBusyError, match=rf"pid {os.getpid()}\b") as busy:
        home.lock()
    assert "--data-dir" in str(busy.value)


def test_the_directory_is_free_again_when_its_stack_ended(home):
    home.lock().close()
    with home.lock() as lock:
        lock.seek(0)
        assert lock.read() == str(os.getpid())


def test_secrets_are_made_once_and_each_directory_has_its_own(home, tmp_path):
    home.lock().close()
    made = home.secrets()
    assert home.secrets() == made
    other = DataDirectory(tmp_path)
    assert {made.s3_secret_key, made.nats_token, made.api_token}.isdisjoint(
        {other.secrets().s3_secret_key, other.secrets().nats_token, other.secrets().api_token}
    )
    assert len({made.s3_secret_key, made.nats_token, made.api_token}) == 3


def test_only_the_owner_reads_the_secrets(home):
    home.lock().close()
    home.secrets()
    path = home.root / "secrets.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text())["s3_access_key"] == "local"


@pytest.fixture
def busy_port():
    with closing(socket.socket()) as listener:
        listener.bind((HOST, 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_preferred_port_in_use_is_not_assigned(busy_port):
    with Ports() as ports:
        assert ports.take(busy_port) != busy_port


def test_a_port_is_assigned_once_even_without_a_listener():
    with Ports() as ours, Ports() as theirs:
        first = ours.take(free_ports(1)[0])
        given = [first, ours.take(first), theirs.take(first), theirs.take(first)]
        assert len(set(given)) == 4


def test_ports_are_claimed_together_or_not_at_all(busy_port):
    (free,) = free_ports(1)
    with Ports() as ports:
        assert not ports.claim(free, busy_port)
        assert ports.claim(free)
        assert not ports.claim(free)


def test_a_port_is_free_again_when_its_stack_has_ended():
    (port,) = free_ports(1)
    with Ports() as ports:
        assert ports.claim(port)
    with Ports() as ports:
        assert ports.claim(port)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '"text"',
        '{"s3_access_key": "local"}',
        '{"s3_access_key": "local", "s3_secret_key": "a", "nats_token": 1, "api_token": "b"}',
        '{"s3_access_key": "local", "s3_secret_key": "", "nats_token": "a", "api_token": "b"}',
        '{"s3_access_key": "local", "s3_secret_key": "a", "nats_token": "b\\"", "api_token": "c"}',
    ],
)
def test_damaged_secrets_are_named_and_not_replaced(home, text):
    home.lock().close()
    path = home.root / "secrets.json"
    path.write_text(text)
    with pytest.raises(DamagedSecretsError, match=r"secrets\.json is damaged.*remove it"):
        home.secrets()
    assert path.read_text() == text


def test_a_start_that_is_cut_off_leaves_no_half_of_the_secrets(home, monkeypatch):
    home.lock().close()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        home.secrets()
    assert [path.name for path in home.root.iterdir()] == ["lock"]


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("part", ["", "s3", "nats/js"])
def test_what_another_user_left_is_found_at_the_start(home, part):
    folder = home.root / part
    folder.mkdir(parents=True)
    folder.chmod(0o500)
    with pytest.raises(PermissionError) as refused:
        home.check_access()
    folder.chmod(0o700)
    assert refused.value.filename == str(folder)


def test_a_disk_that_is_almost_full_is_reported_and_one_with_room_is_not(tmp_path):
    assert disk_report(tmp_path, least_free_bytes=0) == {}
    assert str(tmp_path) in disk_report(tmp_path, least_free_bytes=2**63)["disk"]
