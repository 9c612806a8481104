"""The compose project in podman, as seen from outside: containers, ports, objects and events."""

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import offline_images

ROOT = offline_images.ROOT
FOLDER = ROOT / "var" / "containers"
PROJECT = "rlaif-containers-test"
USER_ID = 1_000_730_000  # such as OpenShift gives
LIST_OBJECTS = """
import json
from rlaif.bootstrap.settings import BootstrapSettings
from rlaif.storage.open import S3Credentials, open_store
settings = BootstrapSettings()
keys = S3Credentials.of(settings)
print(json.dumps({
    f"{url}/{each.key}": each.size_bytes
    for url in (settings.episodes_store, settings.models_store)
    for each in open_store(url, keys).list()
}))
"""

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""For the published ports of this machine, whatever proxies the environment names."""

Json = dict[str, Any]
STARTED = time.monotonic()
SAID: list[str] = []


class FailedError(Exception):
    """What did not hold."""


def say(line: str) -> None:
    """Print one line with the seconds since the start, and keep it for RESULTS.md."""
    SAID.append(f"[{time.monotonic() - STARTED:5.0f} s] {line}\n")
    sys.stdout.write(SAID[-1])
    sys.stdout.flush()


def wait_until(what: str, seconds: float, true: Callable[[], object]) -> Any:
    """Ask every two seconds until there is an answer, which is given; else FailedError."""
    end = time.monotonic() + seconds
    while True:
        answer = true()
        if answer:
            return answer
        if time.monotonic() > end:
            raise FailedError(f"not within {seconds:.0f} s: {what}")
        time.sleep(2)


def free_ports(names: Iterable[str]) -> dict[str, int]:
    """A port for each that is free on loopback: a demo may run beside this."""
    held = [socket.socket() for _ in names]
    for each in held:
        each.bind(("127.0.0.1", 0))
    ports = {name: each.getsockname()[1] for name, each in zip(names, held, strict=True)}
    for each in held:
        each.close()
    return ports


class Stack:
    """The compose project, by way of podman."""

    def __init__(self, front_end: Path, ports: dict[str, int]) -> None:
        self._front_end = front_end
        self.ports = ports
        self._environment = {"CONTAINERS_CONF": str(FOLDER / "containers.conf")}
        chosen = {"RLAIF_UID": USER_ID}
        chosen |= {f"PORT_{name.upper().replace('-', '_')}": port for name, port in ports.items()}
        secrets = (FOLDER / "secrets.env").read_text()
        self._env_file = FOLDER / "test.env"
        self._env_file.write_text(
            secrets + "".join(f"{name}={value}\n" for name, value in chosen.items())
        )
        self._env_file.chmod(0o600)

    def compose(self, *arguments: str) -> str:
        """podman-compose with both files; its output."""
        files = (ROOT / "docker-compose.yml", offline_images.HERE / "compose.offline.yaml")
        return offline_images.run(
            *(str(self._front_end), "--project-name", PROJECT),
            *("--env-file", str(self._env_file)),
            *(part for file in files for part in ("--file", str(file))),
            *arguments,
            environment=self._environment,
        )

    def container(self, service: str) -> Json:
        """What podman says of a service's container."""
        label = f"label=com.docker.compose.service={service}"
        project = f"label=io.podman.compose.project={PROJECT}"
        found = self.podman("ps", "--all", "--quiet", "--filter", label, "--filter", project)
        if not found.split():
            raise FailedError(f"{service} has no container")
        told: list[Json] = json.loads(self.podman("inspect", found.split()[0]))
        return told[0]

    def podman(self, *arguments: str) -> str:
        """Podman with the settings of this stack; its output."""
        return offline_images.run("podman", *arguments, environment=self._environment)

    def memory(self) -> str:
        """What each running container uses, and its limit."""
        usage = self.podman("stats", "--no-stream", "--format", "{{.Name}} {{.MemUsage}}")
        lines = [line for line in sorted(usage.splitlines()) if " 0B " not in line]
        ours = [line.removeprefix(f"{PROJECT}_") for line in lines if line.startswith(PROJECT)]
        return ", ".join(line.replace("_1 ", " ") for line in ours)

    def healthy(self, service: str) -> bool:
        """Run the health check of the compose file once."""
        state = self.container(service)
        if not state["State"]["Running"]:
            return False
        asked = subprocess.run(
            ["podman", "healthcheck", "run", state["Id"]],
            capture_output=True,
            env=os.environ | self._environment,
            check=False,
        )
        return asked.returncode == 0

    def get(self, service: str, path: str) -> Json:
        """The answer of a service on its published port; empty while there is none."""
        url = f"http://127.0.0.1:{self.ports[service]}{path}"
        try:
            with DIRECT.open(url, timeout=5) as answer:
                body: Json = json.load(answer)
                return body
        except (urllib.error.URLError, OSError, ValueError):
            return {}

    def objects(self) -> dict[str, int]:
        """Key → size of everything in both buckets, listed as the administrator of S3."""
        name = self.container("exporter")["Id"]
        lines = self._env_file.read_text().splitlines()
        keys = [line for line in lines if re.match("S3_(ACCESS|SECRET)_KEY=", line)]
        options = [word for line in keys for word in ("--env", line)]
        said = self.podman("exec", *options, name, "python", "-c", LIST_OBJECTS)
        listed: dict[str, int] = json.loads(said)
        return listed

    def streams(self) -> dict[str, int]:
        """Stream → number of the newest event."""
        told = self.get("nats-monitor", "/jsz?streams=true&accounts=true")
        return {
            stream["name"]: stream["state"]["last_seq"]
            for account in told.get("account_details", [])
            for stream in account.get("stream_detail", [])
        }
