"""A running stack: every port that it opens, asked without credentials, and the doctor's visit."""

import json
import os
import re
import socket
from collections.abc import Collection, Iterator
from dataclasses import asdict
from pathlib import Path

import httpx
import pytest

from rlaif.local.doctor.__main__ import main
from rlaif.local.places import DataDirectory
from rlaif.servers.seaweedfs import GRPC_OFFSET
from rlaif.testing.pipeline import Pipeline
from rlaif.testing.waiting import eventually

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="no /proc: run on Linux"),
]

SERVICES = ("mock-llm", "hud", "exporter", "judge", "reward-model", "trainer")
WRITES = ("POST", "PUT", "PATCH", "DELETE")
LISTENS = "0A"
_LINKS = {"bus", "store"}


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipeline]:
    """A stack whose objects are in SeaweedFS, and that trains nothing."""
    stores = {"EPISODES_STORE": "s3://zelda-episodes", "MODELS_STORE": "s3://zelda-models"}
    settings = stores | {"TRAINER_AUTOSTART": "false"}
    pipeline = Pipeline(tmp_path_factory.mktemp("var"), environment=settings)
    try:
        pipeline.wait_for(re.compile("✓ trainer "), seconds=600)
        yield pipeline
    finally:
        pipeline.end()


@pytest.fixture(scope="module")
def listeners(pipeline: Pipeline) -> dict[int, str]:
    """Port → address of every listening TCP socket of its processes."""
    return _listeners(pipeline.family())


def _listeners(pids: Collection[int]) -> dict[int, str]:
    inodes = set()
    for pid in pids:
        for handle in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                inodes.add(os.readlink(handle).removeprefix("socket:[").rstrip("]"))
            except FileNotFoundError:
                continue
    found = {}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            row = line.split()
            if row[3] == LISTENS and row[9] in inodes:
                address, port = row[1].split(":")
                found[int(port, 16)] = address
    return found


def _port(pipeline: Pipeline, name: str) -> int:
    return int(pipeline.where(name).rsplit(":", 1)[1])


def _monitor(pipeline: Pipeline) -> int:
    found = re.search(r"http: 127.0.0.1:(\d+)", (pipeline.data_dir / "nats/nats.conf").read_text())
    assert found is not None
    return int(found[1])


def test_all_listen_on_this_machine_only_and_none_is_unknown(
    pipeline: Pipeline, listeners: dict[int, str]
) -> None:
    assert set(listeners.values()) == {"0100007F"}, listeners
    known = {_port(pipeline, name) for name in (*SERVICES, "nats", "s3")} | {_monitor(pipeline)}
    of_seaweed = set(listeners) - known
    grpc = {port for port in of_seaweed if port - GRPC_OFFSET in listeners}
    assert known <= set(listeners)
    assert len(of_seaweed - grpc) <= 4, "master, volume, filer and admin"
    assert len(grpc) <= 5, "without credentials, as SECURITY.md says"


@pytest.mark.parametrize("name", sorted(set(SERVICES) - {"mock-llm"}))
async def test_a_service_reaches_events_and_objects_with_its_own_identity(
    pipeline: Pipeline, name: str
) -> None:
    async with httpx.AsyncClient(base_url=pipeline.where(name), trust_env=False) as client:

        async def works() -> bool:
            checks = (await client.get("/readyz", timeout=30)).json()["checks"]
            # The trainer names its checks differently.
            asked = [checks[each]["ok"] for each in checks.keys() & _LINKS]
            return len(asked) == 2 and all(asked)

        await eventually(works, f"{name} has NATS and the stores")


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_refuses_writes_without_the_token_and_foreign_names(
    pipeline: Pipeline, name: str
) -> None:
    with httpx.Client(base_url=pipeline.where(name), trust_env=False) as client:
        paths = client.get("/openapi.json").json()["paths"]
        writes = {(method, path) for path in paths for method in paths[path]} - {
            (method, path) for path in paths for method in ("get", "head", "options", "parameters")
        }
        for method, path in {*writes, *((each, "/api/v1/anything") for each in WRITES)}:
            assert client.request(method, path).status_code == 401, (method, path)
        for path in ("/livez", "/metrics", "/openapi.json", "/api/v1/state"):
            assert client.get(path, headers={"Host": "evil.example"}).status_code == 421


def test_nats_rejects_a_client_without_a_password(pipeline: Pipeline) -> None:
    with socket.create_connection(("127.0.0.1", _port(pipeline, "nats")), timeout=30) as stream:
        answers = stream.makefile("rb")
        assert answers.readline().startswith(b"INFO ")
        stream.sendall(b'CONNECT {"verbose":false}\r\nPUB segment.captured 2\r\n{}\r\nPING\r\n')
        assert answers.readline().startswith(b"-ERR 'Authorization Violation'")
        answers.close()


def test_the_monitoring_of_nats_contains_no_secret(pipeline: Pipeline) -> None:
    address = f"http://127.0.0.1:{_monitor(pipeline)}"
    with httpx.Client(base_url=address, trust_env=False) as client:
        for path in ("/varz", "/connz?auth=1&subs=1", "/jsz?config=1&streams=1", "/subsz?subs=1"):
            shown = client.get(path).text
            for secret in _passwords(pipeline):
                assert secret not in shown


def test_no_port_of_the_object_store_gives_or_takes_objects(
    pipeline: Pipeline, listeners: dict[int, str]
) -> None:
    others = {_port(pipeline, name) for name in (*SERVICES, "nats")} | {_monitor(pipeline)}
    ports = set(listeners) - others
    for port in (port for port in ports if port - GRPC_OFFSET not in ports):
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
            for method in ("GET", "PUT", "DELETE"):
                for path in (
                    "/zelda-models/.ready",
                    "/buckets/zelda-models/.ready",
                    "/1,0163a1b2c3",
                ):
                    answer = client.request(method, path, content=b"x")
                    assert 400 <= answer.status_code < 500, (port, method, path)


def _passwords(pipeline: Pipeline) -> list[str]:
    secrets = DataDirectory(pipeline.data_dir).secrets()
    names = ("admin", *SERVICES)
    return [
        *(value for name, value in asdict(secrets).items() if name != "s3_access_key"),
        *(each(name) for each in (secrets.nats_password, secrets.s3_secret) for name in names),
    ]


def test_no_secret_is_on_a_command_line_or_in_another_process(pipeline: Pipeline) -> None:
    keys = set(_passwords(pipeline))
    secrets = DataDirectory(pipeline.data_dir).secrets()
    for pid in pipeline.family():
        line = Path(f"/proc/{pid}/cmdline").read_text()
        assert not any(key in line for key in keys), line
        environment = Path(f"/proc/{pid}/environ").read_text()
        if "rlaif.exporter.replay_process" in line or "nats-server" in line:
            assert not any(key in environment for key in keys), line
        assert secrets.nats_token not in environment
        assert secrets.s3_secret_key not in environment
        for name in SERVICES:
            own = f"rlaif.{name.replace('-', '_')}" in line
            assert own or secrets.nats_password(name) not in environment
            assert own or secrets.s3_secret(name) not in environment


def test_no_secret_is_in_a_log_an_event_or_an_object(pipeline: Pipeline) -> None:
    secrets = [each.encode() for each in _passwords(pipeline)]
    written = [*(pipeline.data_dir / "logs").iterdir()]
    # Both servers write what they store into files; JetStream does not compress.
    written += [*(pipeline.data_dir / "nats/js").rglob("*.blk")]
    written += [*(pipeline.data_dir / "s3").glob("*.dat")]
    assert len(written) > len(SERVICES)
    for path in written:
        data = path.read_bytes()
        assert not any(secret in data for secret in secrets), path
    assert not any(secret.decode() in line for secret in secrets for line in pipeline.lines)


def test_the_doctor_examines_it_while_it_runs(
    pipeline: Pipeline, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--data-dir", str(pipeline.data_dir), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["running"], report["findings"]) == (True, [])
