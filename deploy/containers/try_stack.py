"""Runs docker-compose.yml in real containers and verifies it: `make containers-test`.

Each container runs as a user that no image knows, with a read-only root. Verified are:
the loop closes; a judge, the trainer and NATS come back after a kill; `down` and `up` lose nothing.

podman stands in for Docker. Version 4.3 does neither run health checks nor wait for them without
systemd: this asks them itself, and the services wait for what they need anyhow.
"""

import argparse
import os
import platform
import signal
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path

import offline_images
from podman_stack import (
    FOLDER,
    ROOT,
    SAID,
    USER_ID,
    FailedError,
    Json,
    Stack,
    free_ports,
    say,
    wait_until,
)

FRONT_END = "podman-compose==1.6.0"
SERVICES = ("trainer", "exporter", "judge", "reward-model", "hud", "mock-llm")
SERVERS = ("nats", "s3")
PORTS = (*SERVICES, *SERVERS, "nats-monitor")
PATIENCE = 1200.0  # seconds for one step on a busy machine; a passing run needs a fraction of it
UNWANTED = {
    "service": ("pip", "av", "torch", "ray"),
    "reward-model": ("pip", "av", "ray"),
    "trainer": ("pip", "av"),
}
"""Packages that an image is not to have. PyAV's wheel brings codecs under the GPL."""


def up(stack: Stack) -> None:
    """Start everything in the order of depends_on, and wait until every health check passes.

    Step by step and without podman-compose's dependencies: podman 4.3 starts no
    container that needs one which has ended, such as `init`, and waits for no health check.
    """
    started = time.monotonic()
    for once, then in (("volumes", (*SERVERS, "mock-llm")), ("init", SERVICES)):
        _start(stack, once)
        wait_until(f"{once} ended", PATIENCE, partial(ended, stack, once))
        _start(stack, *then)
        waiting = set(then)

        def healthy(waiting: set[str] = waiting) -> bool:
            waiting.difference_update([name for name in waiting if stack.healthy(name)])
            return not waiting

        try:
            wait_until("every health check", PATIENCE, healthy)
        except FailedError as error:
            raise FailedError(f"{error}; unhealthy: {', '.join(sorted(waiting))}") from None
    count = len({*SERVERS, *SERVICES})
    say(f"up: {count} containers healthy after {time.monotonic() - started:.0f} s")


def _start(stack: Stack, *services: str) -> None:
    stack.compose("up", "--detach", "--no-build", "--no-deps", *services)


def ended(stack: Stack, service: str) -> bool:
    """Whether a container that runs once has ended well."""
    state = stack.container(service)["State"]
    if state["Running"] or state["Status"] in ("created", "configured"):
        return False
    if state["ExitCode"] != 0:
        raise FailedError(f"{service} ended with {state['ExitCode']}")
    return True


def confined(stack: Stack) -> None:
    """Check that every container is unprivileged and read-only."""
    for service in (*SERVERS, *SERVICES):
        told = stack.container(service)
        lines = Path(f"/proc/{told['State']['Pid']}/status").read_text().splitlines()
        status = {name: value.split() for name, _, value in (line.partition(":") for line in lines)}
        asked = subprocess.run(
            ["podman", "exec", told["Id"], "sh", "-c", "id -u; id -g; touch /usr/probe /probe"],
            capture_output=True,
            text=True,
            check=False,
        )
        wrong = [
            what
            for what, holds in {
                "user": status["Uid"] == [str(USER_ID)] * 4 and status["Gid"] == ["0"] * 4,
                "user of an exec": asked.stdout.split() == [str(USER_ID), "0"],
                "capabilities": int(status["CapEff"][0], 16) == int(status["CapBnd"][0], 16) == 0,
                "new privileges": status["NoNewPrivs"] == ["1"],
                "root file system": asked.stderr.count("Read-only file system") == 2,
            }.items()
            if not holds
        ]
        if wrong:
            raise FailedError(f"{service} is not confined: {', '.join(wrong)} {asked.stderr}")
    say(f"each runs as {USER_ID}:0, without capabilities, on a root that cannot be written")


def loop_closed(stack: Stack, seconds: float) -> Json:
    """Wait until the trainer has loaded a model that came out of its own play."""
    said = ""

    def loaded() -> Json | None:
        nonlocal said
        run = stack.get("trainer", "/api/v1/runs/current")
        training = stack.get("reward-model", "/api/v1/training")
        line = (
            f"run {run.get('status')}, {run.get('env_steps') or 0:,} steps, "
            f"{run.get('segments_captured') or 0} captured, labels {training.get('labels')}"
        )
        if line.split(",")[0] != said.split(",")[0] or time.monotonic() - last[0] > 60:
            last[0] = time.monotonic()
            say(f"  {line}")
            said = line
        return run if run.get("reward_model_loaded_at_step") is not None else None

    last = [0.0]
    run: Json = wait_until("a reward model loaded by the trainer", seconds, loaded)
    version = run["reward_model_version"]
    model = stack.get("reward-model", f"/api/v1/reward-models/{version}")
    say(
        f"loop closed: reward model v{version} from {model.get('labels')} labels of "
        f"{model.get('episodes')} episodes, loaded at step {run['reward_model_loaded_at_step']:,}"
    )
    return run


def comes_back(stack: Stack, service: str, done: Callable[[], int]) -> None:
    """Kill a service's processes as a crash would, and wait until more is done than ever before."""
    before, state = done(), stack.container(service)["State"]
    os.kill(state["Pid"], signal.SIGKILL)
    killed = time.monotonic()
    wait_until(
        f"{service} started again",
        PATIENCE,
        lambda: stack.container(service)["State"]["Pid"] not in (0, state["Pid"]),
    )
    wait_until(f"{service} healthy again", PATIENCE, lambda: stack.healthy(service))
    healthy = time.monotonic() - killed
    most = max(before, done())
    wait_until(f"{service} works again", PATIENCE, lambda: done() > most)
    say(
        f"{service} killed: healthy again after {healthy:.0f} s, "
        f"processing after {time.monotonic() - killed:.0f} s"
    )


def kill_some(stack: Stack) -> None:
    """A judge, the bus, and the trainer."""

    def scored() -> int:
        return int(stack.streams().get("SCORES", 0))

    def trained() -> int:
        return int(stack.get("trainer", "/api/v1/runs/current").get("env_steps") or 0)

    say(f"  streams: {stack.streams()}")
    comes_back(stack, "judge", scored)
    comes_back(stack, "nats", scored)
    comes_back(stack, "trainer", trained)


def nothing_lost(stack: Stack) -> None:
    """Take everything down and up again, and compare what there was with what there is."""
    run = stack.get("trainer", "/api/v1/runs/current")
    champion = stack.get("reward-model", "/api/v1/reward-models/champion")
    objects, streams = stack.objects(), stack.streams()
    started = time.monotonic()
    stack.compose("down")
    say(f"down after {time.monotonic() - started:.0f} s; volumes stay")
    up(stack)
    again: Json = wait_until(
        "the run continues",
        PATIENCE,
        lambda: (
            (now := stack.get("trainer", "/api/v1/runs/current")).get("status") == "training"
            and (now.get("env_steps") or 0) > (run.get("env_steps") or 0)
            and now
        ),
    )
    champion_now = stack.get("reward-model", "/api/v1/reward-models/champion")
    objects_now, streams_now = stack.objects(), stack.streams()
    permanent = {key: size for key, size in objects.items() if "/checkpoints/" not in key}
    gone = [key for key in permanent if key not in objects_now]
    wrong = [
        what
        for what, holds in {
            "another run": again["run_id"] == run["run_id"],
            "an older champion": champion_now.get("version", 0) >= champion.get("version", 1),
            f"{len(gone)} objects gone, such as {gone[:3]}": not gone,
            f"events gone: {streams} became {streams_now}": all(
                streams_now.get(name, -1) >= newest for name, newest in streams.items()
            ),
        }.items()
        if not holds
    ]
    if wrong:
        raise FailedError(f"after down and up: {'; '.join(wrong)}")
    say(
        f"nothing lost: run {run['run_id']} resumes from step {run['env_steps']:,}, champion "
        f"v{champion_now['version']}, {len(permanent)} objects and {sum(streams.values())} events"
    )


def record(page: Path = offline_images.HERE / "RESULTS.md") -> None:
    """Write the page that holds the output of the last passed run."""
    versions = [offline_images.run(tool, "--version").split("\n")[0] for tool in ("podman", "runc")]
    machine = (
        platform.freedesktop_os_release()["PRETTY_NAME"],
        *versions,
        FRONT_END.replace("==", " "),
        f"{os.cpu_count()} cores with a load average of {os.getloadavg()[2]:.0f}",
    )
    page.write_text(
        "# The last recorded run of `make containers-test`\n\n"
        f"{date.today():%B %d, %Y}, {', '.join(machine)}.\n"
        "Written by `make containers-test CONTAINERS_ARGS=--record`;"
        " [README.md](README.md#the-test) explains the lines.\n\n"
        f"```\n{''.join(SAID)}```\n"
    )


def prepared(*, build: bool) -> Stack:
    """Images, secrets and the front end; the stack, not started yet."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "containers.conf").write_text(offline_images.CONTAINERS_CONF)
    os.environ["CONTAINERS_CONF"] = str(FOLDER / "containers.conf")
    tools = FOLDER / "tools"
    if not (tools / "bin" / "podman-compose").exists():
        venv.create(tools, with_pip=True)
        offline_images.run(str(tools / "bin" / "python"), "-m", "pip", "install", "-q", FRONT_END)
    secrets = FOLDER / "secrets.env"
    offline_images.run(sys.executable, str(offline_images.HERE / "make_secrets.py"), str(secrets))
    if build:
        version = (ROOT / "VERSION").read_text().strip()
        tags = {
            part: f"localhost/zelda-rlaif/{part}:{version}"
            for part in ("service", "reward-model", "trainer")
        }
        offline_images.build(FOLDER, tags | {"servers": offline_images.SERVERS}, say)
        found = {part: offline_images.modules(tag, *UNWANTED[part]) for part, tag in tags.items()}
        if any(found.values()):
            raise FailedError(f"packages that an image is not to have: {found}")
        # OpenShift AI runs these two in the trainer's image, before Ray starts there.
        wanted = "command -v bash && command -v openssl"
        offline_images.run(
            "podman", "run", "--rm", "--network", "none", tags["trainer"], "sh", "-c", wanted
        )
        say("no image has pip or PyAV; that of the services has no PyTorch and no Ray")
    return Stack(tools / "bin" / "podman-compose", free_ports(PORTS))


def main() -> int:
    """Run from the command line; 0 when all held, 1 when not, 2 when it cannot run here."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=25, help="for the loop to close (25)")
    parser.add_argument("--keep", action="store_true", help="leave the stack running at the end")
    parser.add_argument("--as-built", action="store_true", help="with the images that are there")
    parser.add_argument("--record", action="store_true", help="write RESULTS.md when it has passed")
    options = parser.parse_args()
    reason = offline_images.missing()
    if reason is not None:
        sys.stderr.write(f"containers-test cannot run here: {reason}\n")
        return 2
    stack = None
    try:
        stack = prepared(build=not options.as_built)
        stack.compose("down", "--volumes")
        up(stack)
        confined(stack)
        loop_closed(stack, options.minutes * 60)
        say(f"  memory: {stack.memory()}")
        kill_some(stack)
        nothing_lost(stack)
        say("passed")
        if options.record:
            record()
        return 0
    except (FailedError, RuntimeError, subprocess.TimeoutExpired) as error:
        say(f"FAILED: {error}")
        if stack is not None:
            (FOLDER / "logs.txt").write_text(stack.compose("logs", "--tail", "200"))
            say(f"the containers' last lines are in {FOLDER / 'logs.txt'}")
        return 1
    finally:
        if stack is not None and not options.keep:
            stack.compose("down", "--volumes")


if __name__ == "__main__":
    sys.exit(main())
