"""The demo as a command, on data directories and in shells of other people.

Wrong options are refused in this process, before anything runs. The rest runs as a command: the
supervisor ends every child of its process, those of the tests included. A start that must succeed
has all hostile variables at once; unit tests try each alone (tests/unit/service/test_peers.py).
"""

import asyncio
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from rlaif.local.__main__ import main
from rlaif.local.child import Child
from rlaif.local.places import DataDirectory, Ports
from rlaif.local.stack import Options, plan
from rlaif.storage.open import S3Credentials, open_store

NOBODY = "http://127.0.0.1:9"
HOSTILE = {
    "HTTP_PROXY": NOBODY, "http_proxy": NOBODY, "HTTPS_PROXY": NOBODY, "https_proxy": NOBODY,
    "ALL_PROXY": "socks5://127.0.0.1:9", "all_proxy": "socks5://127.0.0.1:9",
    "NO_PROXY": "fe80::/10,10.0.0.0/8", "no_proxy": "fe80::/10,10.0.0.0/8",
    "SSL_CERT_FILE": "/no/such/file.pem", "SSL_CERT_DIR": "/no/such/folder",
    "TMPDIR": "/no/such/folder/for/temporary/files/of/anybody",
    "PYTHONIOENCODING": "iso-8859-1",
}  # fmt: skip
NAMES = ["plain", "it's", 'say "hi"', "a, b", "$HOME #1?%41", "é季"]


def demo(folder: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run it on a data directory until it ends by itself."""
    return subprocess.run(
        [sys.executable, "-m", "rlaif.local", "--data-dir", str(folder), *options],
        env=os.environ | {"PYTHONIOENCODING": "iso-8859-1"} | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="iso-8859-1",
        timeout=120,
        check=False,
    )


def a_file(var: Path) -> Path:
    var.write_text("")
    return var


def below_a_file(var: Path) -> Path:
    return a_file(var) / "var"


def a_file_for_the_logs(var: Path) -> Path:
    DataDirectory(var).lock().close()
    (var / "logs").write_text("")
    return var


def a_folder_for_the_secrets(var: Path) -> Path:
    (var / "secrets.json").mkdir(parents=True)
    return var


def empty_secrets(var: Path) -> Path:
    DataDirectory(var).lock().close()
    (var / "secrets.json").touch()
    return var


def a_loop(var: Path) -> Path:
    var.symlink_to(var)
    return var


def a_long_name(var: Path) -> Path:
    return var / ("x" * 300)


@pytest.mark.parametrize(
    "spoil",
    [
        a_file, below_a_file, a_file_for_the_logs, a_folder_for_the_secrets, empty_secrets, a_loop,
        a_long_name,
    ],
    ids=lambda spoil: spoil.__name__,
)  # fmt: skip
def test_a_data_directory_that_cannot_be_used_is_named(tmp_path, spoil: Callable[[Path], Path]):
    ended = demo(spoil(tmp_path / "var"))
    assert ended.returncode == 2
    assert "Traceback" not in ended.stdout
    assert str(tmp_path / "var") in ended.stdout


@pytest.mark.parametrize(
    "option",
    [
        *(f"--hud-port={number}" for number in ("99999", "0", "-1", "abc", "8086.5", "", "²")),
        *(f"--llm-base-url={url}" for url in ("", "llm:8000", "http://", "http://[::1")),
        "--llm-base-url=http://me:secret@h:0",
    ],
)
def test_an_invalid_port_or_address_is_refused_as_an_option(tmp_path, capsys, option):
    with pytest.raises(SystemExit) as ended:
        main(["--data-dir", str(tmp_path / "var"), option])
    assert ended.value.code == 2
    printed = capsys.readouterr().err
    assert option.partition("=")[0] in printed
    assert "secret" not in printed
    assert not (tmp_path / "var").exists()


def test_the_language_model_of_the_environment_is_used_and_an_invalid_one_is_refused(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("LLM_BASE_URL", "llm:8000")
    with pytest.raises(SystemExit):
        main(["--data-dir", str(tmp_path / "var")])
    assert "llm:8000" in capsys.readouterr().err


def test_a_port_that_is_in_use_is_named(tmp_path):
    with closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        number = listener.getsockname()[1]
        ended = demo(tmp_path / "var", f"--hud-port={number}")
    assert ended.returncode == 3
    assert f"port {number}" in ended.stdout


def test_a_setting_of_a_service_that_is_wrong_is_named(tmp_path):
    ended = demo(tmp_path / "var", JUDGE_VOTES='"3"')
    assert ended.returncode == 2
    assert "JUDGE_VOTES" in ended.stdout
    assert "Traceback" not in ended.stdout


@pytest.mark.parametrize("option", ["--loops=0", "--timeout=nan", "--timeout=0", "--timeout=5"])
def test_a_number_out_of_its_range_is_refused_as_an_option(tmp_path, capsys, option):
    with pytest.raises(SystemExit) as ended:
        main(["--data-dir", str(tmp_path / "var"), option])
    assert ended.value.code == 2
    assert option.partition("=")[0] in capsys.readouterr().err


def test_a_full_disk_is_named(tmp_path):
    """A limit of no bytes a file stands for it; the error, too, comes without a name."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limit[1]))
    try:
        ended = demo(tmp_path / "var")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert ended.returncode == 2, ended.stdout
    assert "Traceback" not in ended.stdout
    assert str(tmp_path / "var") in ended.stdout


@pytest.mark.parametrize("name", NAMES)
async def test_servers_and_page_start_in_a_hostile_environment(tmp_path, monkeypatch, name):
    for variable, value in HOSTILE.items():
        monkeypatch.setenv(variable, value)
    home = DataDirectory(tmp_path / name)
    home.lock().close()
    with Ports() as ports:
        stack = plan(Options(home.root), ports)
        wanted = {"nats"} if name != NAMES[-1] else {"nats", "hud"}
        children = [
            Child(spec, lambda child, reason: None)
            for spec in (*stack.servers, *stack.services)
            if spec.name in wanted
        ]
        try:
            for child in children:
                await child.start()
            assert (home.root / "nats" / "js").is_dir()
        finally:
            for child in children:
                await child.stop(seconds=5)


async def test_a_directory_that_has_its_objects_in_seaweedfs_finds_them_again(
    tmp_path, monkeypatch
):
    """As every directory of release 0.1.0 has."""
    monkeypatch.setenv("EPISODES_STORE", "s3://zelda-episodes")
    for _ in range(2):
        with Ports() as ports:
            stack = plan(Options(tmp_path), ports)
            [spec] = [each for each in stack.servers if each.name == "s3"]
            [exporter] = [each for each in stack.services if each.name == "exporter"]
            found = exporter.environment
            child = Child(spec, lambda child, reason: None)
            try:
                await child.start()
                keys = S3Credentials(spec.where, found["S3_ACCESS_KEY"], found["S3_SECRET_KEY"])
                store = open_store(found["EPISODES_STORE"], keys)
                created = await asyncio.to_thread(
                    store.put_once, "episode-1/segment-1/a.json", b"{}"
                )
                # The second time without the setting.
                assert created is ("EPISODES_STORE" in os.environ)
            finally:
                await child.stop(seconds=5)
        monkeypatch.delenv("EPISODES_STORE", raising=False)
