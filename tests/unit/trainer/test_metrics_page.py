"""What `rlaif train` shows of its run over HTTP."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from rlaif.service.cli import StartupError
from rlaif.service.health import Readiness
from rlaif.service.metrics import ServiceMetrics
from rlaif.trainer.service.runtime import metrics_page
from rlaif.trainer.settings import TrainerSettings


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
