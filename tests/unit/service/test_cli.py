import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from pydantic import BaseModel, Field, SecretStr
from pydantic_settings import SettingsConfigDict

from rlaif.service.cli import StartupError, run
from rlaif.service.settings import ServiceSettings

SERVICE = """
import asyncio, sys
from contextlib import asynccontextmanager
from pydantic_settings import SettingsConfigDict
from rlaif.service.cli import run
from rlaif.service.settings import ServiceSettings

class Settings(ServiceSettings):
    model_config = SettingsConfigDict(env_prefix="JUDGE_")
    fail: bool = False

def create_app(settings):
    from fastapi import APIRouter
    from fastapi.responses import StreamingResponse
    from rlaif.service.app import build_app
    from rlaif.service.health import Readiness
    from rlaif.service.metrics import ServiceMetrics

    @asynccontextmanager
    async def lifespan(app):
        if settings.fail:
            raise RuntimeError("no cartridge")
        yield
        sys.stderr.write("CLOSED IN ORDER\\n")

    router = APIRouter()
    readiness = Readiness()

    @router.get("/watch")
    async def watch():
        async def lines():
            while True:
                report = await readiness.report()
                yield report.status + "\\n"
                if report.status == "stopping":
                    return
                await asyncio.sleep(0.02)
        return StreamingResponse(lines())

    return build_app(name="judge", title="Judge", settings=settings, lifespan=lifespan,
                     routers=[router], readiness=readiness, metrics=ServiceMetrics("judge"))

sys.exit(run(Settings, create_app, description="Judges."))
"""


class CacheSettings(BaseModel, frozen=True, extra="forbid"):
    answers: int = Field(default=2000, ge=0, description="Answers kept.")


class JudgeSettings(ServiceSettings):
    model_config = SettingsConfigDict(env_prefix="JUDGE_")

    port: int = Field(default=8083, ge=0, le=65535, description="TCP port.")
    share: float = Field(default=0.5, description="At most 100 % of calls.")
    key: SecretStr = Field(default=SecretStr("hunter2"), description="Key.")
    vision: bool = Field(default=True, description="Use pictures.")
    models: tuple[str, ...] = Field(default=("state",), description="Models.")
    cache: CacheSettings = CacheSettings()


def _never(settings: JudgeSettings) -> FastAPI:
    raise AssertionError("the app must not be made")


def _run(*argv: str) -> int:
    return run(JudgeSettings, _never, description="Judges segments.", argv=argv)


def test_help_shows_every_setting_with_variable_and_default_but_no_secret(capsys):
    with pytest.raises(SystemExit) as left:
        _run("--help")
    text = " ".join(capsys.readouterr().out.split())
    assert left.value.code == 0
    assert "Judges segments." in text
    assert "TCP port. (default: 8083) [env: JUDGE_PORT]" in text
    assert "At most 100 % of calls. (default: 0.5) [env: JUDGE_SHARE]" in text
    assert "(default: nats://127.0.0.1:4222) [env: NATS_URL | JUDGE_NATS_URL]" in text
    assert "Answers kept. (default: 2000) [env: JUDGE_CACHE_ANSWERS]" in text
    assert "--vision, --no-vision" in text
    assert "hunter2" not in text


def test_print_settings_prints_json_with_masked_secrets(capsys, monkeypatch):
    monkeypatch.setenv("JUDGE_SHARE", "0.25")
    url = "nats://user:se/cr@et@host:4222"
    options = ("--no-vision", "--port", "9", "--api-token", "t0k", "--nats-url", url)
    assert _run("--print-settings", *options) == 0
    out = capsys.readouterr().out
    printed = json.loads(out)
    assert (printed["share"], printed["vision"], printed["port"]) == (0.25, False, 9)
    assert printed["nats_url"] == "nats://***@host:4222"
    assert not any(secret in out for secret in ("hunter2", "t0k", "se/cr"))
    settings = JudgeSettings(nats_url=url, api_token=SecretStr("t0k"))
    assert not any(secret in repr(settings) for secret in ("hunter2", "t0k", "se/cr"))


@pytest.mark.parametrize(
    ("argv", "fix"),
    [
        (("--port", "99999"), "set --port or JUDGE_PORT"),
        (("--models", '["a'), "models"),
    ],
)
def test_a_wrong_value_is_one_line_and_exit_code_2(capsys, argv, fix):
    assert _run(*argv) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith("judge: error: ")
    assert fix in error


def _printed(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, Any]:
    assert _run("--print-settings", *argv) == 0
    printed: dict[str, Any] = json.loads(capsys.readouterr().out)
    return printed


@pytest.mark.parametrize(
    "argv", [("--models", '["a", "b"]'), ("--models", "a,b"), ("--models", "a", "--models", "b")]
)
def test_a_list_is_given_as_json_or_item_by_item(capsys, argv):
    assert _printed(capsys, *argv)["models"] == ["a", "b"]


def test_an_option_can_unset_what_the_environment_says(capsys, monkeypatch):
    monkeypatch.setenv("RLAIF_API_TOKEN", "t0k")
    assert _printed(capsys)["api_token"] is not None
    assert _printed(capsys, "--api-token", "null")["api_token"] is None


def test_an_option_of_a_block_wins_over_its_variable(capsys, monkeypatch):
    monkeypatch.setenv("JUDGE_CACHE_ANSWERS", "5")
    assert _printed(capsys)["cache_answers"] == 5
    assert _printed(capsys, "--cache.answers", "7")["cache_answers"] == 7
    assert _run("--cache.answers", "-1") == 2
    error = capsys.readouterr().err
    assert error.startswith("judge: error: cache_answers: ")
    assert "set --cache.answers or JUDGE_CACHE_ANSWERS" in error


def test_a_port_in_use_is_one_line_and_exit_code_3(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert _run("--port", str(port)) == 3
    error = capsys.readouterr().err.splitlines()[-1]
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in error
    assert "--port or JUDGE_PORT" in error


def test_an_app_that_lacks_something_reports_it_with_exit_code_3(capsys):
    def lacks(settings: JudgeSettings) -> FastAPI:
        raise StartupError("no cartridge; run make game")

    assert run(JudgeSettings, lacks, description="", argv=["--port", "0"]) == 3
    assert "no cartridge; run make game" in capsys.readouterr().err


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    script = tmp_path / "service.py"
    script.write_text(SERVICE)
    started: list[subprocess.Popen[str]] = []

    def go(*argv: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, str(script), "--port", "0", *argv],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONWARNINGS": "error"},
        )
        started.append(process)
        return process

    yield go
    for process in started:
        process.kill()
        process.communicate()


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    line = json.loads(process.stderr.readline())
    assert line["message"] == "listening"
    return f"http://{line['host']}:{line['port']}"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_service_in_order(start, number):
    process = start()
    url = _address(process)
    with urllib.request.urlopen(f"{url}/watch", timeout=60) as watch:
        assert watch.readline() == b"ready\n"
        process.send_signal(number)
        lines = watch.read().split(b"\n")
    assert lines[-2] == b"stopping"
    _, error = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "CLOSED IN ORDER" in error
    assert "Traceback" not in error


def test_the_command_line_does_not_import_the_web_framework() -> None:
    heavy = "{'fastapi', 'uvicorn', 'boto3', 'prometheus_client'}"
    code = f"import sys, rlaif.service.cli; print({heavy} & set(sys.modules))"
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert shown.stdout.strip() == "set()"
