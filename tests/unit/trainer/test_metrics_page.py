"""What `rlaif-train` shows of its run over HTTP."""

import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from rlaif.service.cli import StartupError
from rlaif.service.health import Readiness
from rlaif.service.metrics import ServiceMetrics
from rlaif.testing.nats_server import free_ports
from rlaif.trainer.service.app import create_app
from rlaif.trainer.service.metrics import TrainerMetrics
from rlaif.trainer.service.runtime import metrics_page
from rlaif.trainer.settings import TrainerSettings


async def _names(client: httpx.AsyncClient, url: str) -> set[str]:
    """Of the metrics that are shown."""
    lines = (await client.get(url)).text.splitlines()
    return {line.split()[2] for line in lines if line.startswith("# TYPE rlaif_")}


async def test_it_shows_what_the_service_shows(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    settings = TrainerSettings.model_validate(
        {"metrics_port": port, "data_dir": tmp_path, "autostart": False}
    )
    metrics = ServiceMetrics("trainer")
    TrainerMetrics(metrics)
    readiness = Readiness()
    readiness.add("run", lambda: "it failed")
    service = httpx.ASGITransport(create_app(settings))
    async with (
        metrics_page(settings, readiness, metrics),
        httpx.AsyncClient() as client,
        httpx.AsyncClient(transport=service, base_url="http://trainer") as of_the_service,
    ):
        url = f"http://127.0.0.1:{port}"
        names = await _names(client, f"{url}/metrics")
        assert (
            'rlaif_trainer_check_ok{check="run"} 0.0' in (await client.get(f"{url}/metrics")).text
        )
        assert (await client.get(f"{url}/readyz")).json()["checks"]["run"]["detail"] == "it failed"
        assert (await client.post(f"{url}/api/v1/runs", json={})).status_code == 404
        assert names == await _names(of_the_service, "/metrics")
    assert "rlaif_trainer_env_steps" in names


async def test_a_port_that_is_taken_is_named_with_its_setting(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        settings = TrainerSettings.model_validate({"metrics_port": port, "data_dir": tmp_path})
        with pytest.raises(StartupError, match="--metrics-port or TRAINER_METRICS_PORT"):
            async with metrics_page(settings, Readiness(), ServiceMetrics("trainer")):
                pass


def test_a_command_that_shows_nothing_loads_no_web_server() -> None:
    code = """
import asyncio, sys
import rlaif.trainer.service.cli
from rlaif.service.health import Readiness
from rlaif.service.metrics import ServiceMetrics
from rlaif.trainer.service.runtime import metrics_page
from rlaif.trainer.settings import TrainerSettings

async def look():
    async with metrics_page(TrainerSettings(), Readiness(), ServiceMetrics("trainer")):
        print({"fastapi", "uvicorn"} & sys.modules.keys())

asyncio.run(look())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
