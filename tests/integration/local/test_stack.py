"""The parts of the demo as they are planned: when one is up, and the commands of the pages."""

import asyncio
import re
import shutil
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from rlaif.local.child import Child, ChildSpec
from rlaif.local.places import Ports
from rlaif.local.stack import Options, plan

ROOT = Path(__file__).parents[3]
BLOCK = re.compile(r"^```bash\n(.*?)^```", re.MULTILINE | re.DOTALL)


@asynccontextmanager
async def running(spec: ChildSpec) -> AsyncIterator[Child]:
    child = Child(spec, lambda child, code: None)
    try:
        await child.start()
        yield child
    finally:
        await child.stop(seconds=5)


async def test_a_part_that_is_not_ready_is_up(tmp_path):
    with Ports() as ports:
        services = plan(Options(tmp_path), ports).services
        [exporter] = [spec for spec in services if spec.name == "exporter"]
        async with running(exporter), httpx.AsyncClient() as client:
            assert (await client.get(f"{exporter.where}/readyz")).status_code == 503


@pytest.mark.skipif(
    shutil.which("curl") is None,
    reason="curl is not installed: on Debian, apt-get install curl",
)
async def test_the_documented_commands_break_and_mend_the_mock_in_a_demo(tmp_path):
    [commands] = BLOCK.findall((ROOT / "deploy/mock-llm/README.md").read_text())
    (tmp_path / "var").mkdir()
    with Ports() as ports:
        servers = plan(Options(tmp_path / "var"), ports).servers
        [mock] = [spec for spec in servers if spec.name == "mock-llm"]
        commands = commands.replace("127.0.0.1:8085", mock.where.removeprefix("http://"))
        async with running(mock), httpx.AsyncClient(base_url=mock.where) as client:
            assert (await client.put("/faults", json={"spec": ""})).status_code == 401
            shell = await asyncio.create_subprocess_exec(
                "bash", "-ec", commands, cwd=tmp_path, stdout=PIPE, stderr=PIPE
            )
            _, errors = await shell.communicate()
            assert (shell.returncode, errors) == (0, b"")


def test_every_documented_write_brings_its_token():
    pages = [page for page in ROOT.rglob("*.md") if ".venv" not in str(page)]
    curls = [
        command
        for page in pages
        for command in re.findall(r"curl [^\n]*(?:\\\n[^\n]*)*", page.read_text())
        if re.search(r"-X (POST|PUT|DELETE|PATCH)", command)
    ]
    assert len(curls) > 5
    assert [curl for curl in curls if "Authorization: Bearer $TOKEN" not in curl] == []
