"""Builds the images of the compose stack on a Debian machine that reaches no image registry.

The base comes from debootstrap, everything else from wheels. The Containerfiles are the ones that
everybody builds from.
"""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WHEELS = HERE / "wheels"
BASE = "localhost/zelda-rlaif/debian-python:3.11"
SERVERS = "localhost/zelda-rlaif/servers:test"
PACKAGES = "python3,python3-venv,python3-pip,ca-certificates,busybox"

HELPERS = ("netavark", "aardvark-dns", "catatonit")
HELPER_FOLDERS = ("/usr/libexec/podman", "/usr/lib/podman", "/usr/sbin", "/sbin")
"""Where podman looks for its helpers, and what an ordinary user's PATH lacks."""

CONTAINERS_CONF = """\
[containers]
# Inherited ones may be higher than this machine lets anybody set.
default_ulimits = ["nofile=16384:16384", "nproc=8192:8192"]
[engine]
# crun refuses where version 1 and 2 of cgroups are mixed.
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
# Names of services are looked up by aardvark-dns, which comes with it.
network_backend = "netavark"
"""

Say = Callable[[str], None]


def missing() -> str | None:
    """One sentence on what images need here and how to get it; None when nothing is missing."""
    programs = ("podman", "runc", "iptables", "debootstrap", *HELPERS)
    path = os.pathsep.join((os.environ.get("PATH", ""), *HELPER_FOLDERS))
    absent = [each for each in programs if shutil.which(each, path=path) is None]
    if absent:
        return f"{', '.join(absent)} not found: on Debian 12, apt-get install {' '.join(programs)}"
    if os.geteuid() != 0:
        return "root is needed, because every container gets a user id of its own: use sudo"
    return None


def run(*command: str, environment: dict[str, str] | None = None, seconds: float = 1200) -> str:
    """Run a command to its end and give its output; RuntimeError with its end when it fails."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=seconds,
        cwd=ROOT,
        env=os.environ | (environment or {}),
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(
            f"{' '.join(command)[:200]} failed:\n{(done.stdout + done.stderr)[-3000:]}"
        )
    return done.stdout


def build(folder: Path, tags: dict[str, str], say: Say) -> None:
    """Build what is not built, or was built from something else; `tags` names image by part."""
    _base(folder, say)
    _wheels(folder, say)
    plans = {
        "service": ("Containerfile", []),
        "reward-model": ("Containerfile", ["--build-arg", "SERVICE=reward-model"]),
        "trainer": ("Containerfile.trainer", []),
        "servers": ("Containerfile.servers", []),
    }
    for part, (file, options) in plans.items():
        started = time.monotonic()
        run(
            *("podman", "build", "--quiet", "--isolation", "oci", "--network", "none"),
            *("--file", str(HERE / file), "--tag", tags[part]),
            *("--build-arg", f"BASE={BASE}", "--build-arg", "PIP_OPTIONS=--no-index"),
            *(*options, str(ROOT)),
            seconds=2400,
        )
        say(f"image {part}: {size(tags[part])} MB, {time.monotonic() - started:.0f} s")


def modules(image: str, *names: str) -> set[str]:
    """Which of these Python packages an image has."""
    ask = "import importlib.util as u, sys; print(*filter(u.find_spec, sys.argv[1:]))"
    told = run("podman", "run", "--rm", "--network", "none", image, "python", "-c", ask, *names)
    return set(told.split())


def size(image: str) -> int:
    """Size of an image in MB, its base included."""
    return int(json.loads(run("podman", "image", "inspect", image))[0]["Size"]) // 1_000_000


def _base(folder: Path, say: Say) -> None:
    if subprocess.run(["podman", "image", "exists", BASE], check=False).returncode == 0:
        return
    started = time.monotonic()
    tree = folder / "debian"
    shutil.rmtree(tree, ignore_errors=True)
    run("debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", str(tree))
    archive = folder / "debian.tar"
    run("tar", "-C", str(tree), "-cf", str(archive), ".")
    run("podman", "import", "--quiet", str(archive), BASE)
    archive.unlink()
    shutil.rmtree(tree)
    say(f"base image by debootstrap: {size(BASE)} MB, {time.monotonic() - started:.0f} s")


def _wheels(folder: Path, say: Say) -> None:
    """Download what the images install, with the pip of our own environment."""
    started = time.monotonic()
    fetch = (
        *(str(folder / "tools" / "bin" / "python"), "-m", "pip", "download", "--quiet"),
        *("--no-deps", "--dest", str(WHEELS), "--find-links", str(WHEELS)),
        *("--only-binary", ":all:", "--python-version", "3.11"),
    )
    locks = ("requirements.lock", "deploy/containers/ray-dashboard.lock")
    run(*fetch, "--require-hashes", *(each for lock in locks for each in ("-r", lock)))
    # PyTorch for CPUs, from its own index unless this machine already has the wheel.
    pins = (ROOT / "constraints.txt").read_text().splitlines()
    torch = next(line for line in pins if line.startswith("torch==")) + "+cpu"
    containerfile = (HERE / "Containerfile").read_text()
    (index,) = re.findall(r"^ARG TORCH_INDEX=(\S+)$", containerfile, re.MULTILINE)
    run(*fetch, "--retries", "0", "--timeout", "30", "--extra-index-url", index, torch)
    total = sum(each.stat().st_size for each in WHEELS.glob("*.whl"))
    say(f"wheels: {total // 1_000_000} MB, {time.monotonic() - started:.0f} s")
