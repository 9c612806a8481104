import json
import socket
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rlaif.servers import seaweedfs
from rlaif.servers.seaweedfs import SeaweedFS, SeaweedPorts, find_weed, seaweed_port_is_free
from rlaif.storage.ports import StorageError, StoreUnavailableError


@pytest.fixture
def recipe(tmp_path: Path) -> SeaweedFS:
    ports = SeaweedPorts(s3=20000, master=20001, volume=20002, filer=20003, admin=20004)
    return SeaweedFS(tmp_path / "data", ports, "key", "very-secret")


def test_ports_leave_room_for_grpc_above_them() -> None:
    ports = SeaweedPorts.find_free()
    assert all(seaweed_port_is_free(port) for port in vars(ports).values())
    assert all(port + 10_000 <= 65535 for port in vars(ports).values())
    with pytest.raises(ValueError, match="below 55536"):
        SeaweedPorts(s3=55_536, master=2, volume=3, filer=4, admin=5)
    with pytest.raises(ValueError, match="distinct, also with 10000 added"):
        SeaweedPorts(s3=20_000, master=30_000, volume=3, filer=4, admin=5)


def test_a_port_whose_grpc_port_is_taken_is_not_chosen() -> None:
    with socket.socket() as taken:
        first = SeaweedPorts.find_free(first=23_000).s3
        taken.bind(("127.0.0.1", first + 10_000))
        taken.listen()
        ports = SeaweedPorts.find_free(first=first)
        assert first not in vars(ports).values()


def test_a_certain_s3_port_is_kept_where_it_is_free() -> None:
    first = next(filter(seaweed_port_is_free, range(24_000, 30_000)))
    assert SeaweedPorts.find_free(s3=first, first=20_000).s3 == first
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", first))
        taken.listen()
        assert SeaweedPorts.find_free(s3=first, first=20_000).s3 != first


@pytest.fixture
def sockets(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], list[Path]]]:
    """Sockets of SeaweedFS in a folder of the test's, instead of /tmp.

    The path of a socket has at most 107 bytes, and `tmp_path` may need more.
    """
    real = seaweedfs.sockets_of
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:

        def moved(port: int) -> list[Path]:
            return [Path(folder) / path.name for path in real(port)]

        monkeypatch.setattr(seaweedfs, "sockets_of", moved)
        yield moved


def test_a_port_whose_socket_a_live_server_listens_on_is_not_free(sockets) -> None:
    first = SeaweedPorts.find_free(first=25_000).s3
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(sockets(first + 10_000)[3]))
        other.listen()
        assert not seaweed_port_is_free(first)
        assert sockets(first + 10_000)[3].exists()


def test_a_socket_left_by_a_killed_server_of_this_user_blocks_no_one(sockets) -> None:
    first = SeaweedPorts.find_free(first=26_000).s3
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(sockets(first + 10_000)[0]))
    assert seaweed_port_is_free(first)


def test_a_socket_that_another_user_left_makes_its_port_unusable(sockets, monkeypatch) -> None:
    first = SeaweedPorts.find_free(first=27_000).s3
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(sockets(first + 10_000)[4]))
    monkeypatch.setattr("os.getuid", lambda: 2**31)
    assert not seaweed_port_is_free(first)
    assert SeaweedPorts.find_free(first=first).s3 != first


def test_the_secret_is_in_one_file_of_the_owner_and_nowhere_else(recipe: SeaweedFS) -> None:
    recipe.write_files()
    recipe.write_files()
    config = recipe.data_dir / "s3.json"
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert stat.S_IMODE(recipe.data_dir.stat().st_mode) == 0o700
    identity = json.loads(config.read_text())["identities"][0]
    assert identity["credentials"] == [{"accessKey": "key", "secretKey": "very-secret"}]
    others = [repr(recipe), *recipe.command(Path("weed")), *recipe.environment().values()]
    assert not [text for text in others if "very-secret" in text]


def test_nothing_listens_beyond_loopback_and_nothing_is_reported_home(recipe: SeaweedFS) -> None:
    command = recipe.command(Path("/bin/weed"))
    assert {"-ip=127.0.0.1", "-ip.bind=127.0.0.1"} <= set(command)
    assert {"-disableHttp", "-master.telemetry=false", "-webdav=false"} <= set(command)


def test_waiting_ends_at_once_when_the_process_is_gone(recipe: SeaweedFS) -> None:
    with pytest.raises(StoreUnavailableError, match="process ended"):
        recipe.wait_ready(seconds=30, alive=lambda: False)


def test_waiting_ends_at_the_deadline(recipe: SeaweedFS) -> None:
    with pytest.raises(StoreUnavailableError, match="not ready"):
        recipe.wait_ready(seconds=0, alive=lambda: True)


def test_the_program_is_taken_from_weed_bin(tmp_path, monkeypatch):
    program = tmp_path / "weed"
    program.write_text("")
    monkeypatch.setenv("WEED_BIN", str(program))
    with pytest.raises(StorageError, match="correct or unset"):
        find_weed()
    program.chmod(0o755)
    assert find_weed() == program


def test_a_relative_folder_is_refused_because_the_server_runs_inside_it() -> None:
    ports = SeaweedPorts(s3=20000, master=20001, volume=20002, filer=20003, admin=20004)
    with pytest.raises(ValueError, match="must be absolute"):
        SeaweedFS(Path("var/s3"), ports, "key", "secret")
