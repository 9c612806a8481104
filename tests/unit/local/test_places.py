"""The data directory: one stack at a time, secrets of its owner, ports that are free."""

import itertools
import json
import os
import socket
import stat
from contextlib import closing
from pathlib import Path

import pytest

from rlaif.local.places import HOST, DataDirectory, DataDirectoryBusyError, free_port


@pytest.fixture
def home(tmp_path: Path) -> DataDirectory:
    return DataDirectory(tmp_path / "var")


def test_a_second_stack_is_told_who_has_the_directory(home):
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


def test_each_part_has_a_log_of_its_own(home):
    assert home.log("judge") == home.root / "logs" / "judge.log"


@pytest.fixture
def busy_port():
    with closing(socket.socket()) as listener:
        listener.bind((HOST, 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_preferred_port_that_somebody_listens_on_is_not_given(busy_port):
    taken: set[int] = set()
    given = free_port(busy_port, taken)
    assert given != busy_port
    assert taken == {given}


def test_a_port_is_given_once_although_nobody_listens_on_it_yet(busy_port):
    taken: set[int] = set()
    first = free_port(busy_port, taken)
    again = [free_port(first, taken) for _ in range(3)]
    assert len({first, *again}) == 4
    assert all(a != b for a, b in itertools.combinations(taken, 2))
