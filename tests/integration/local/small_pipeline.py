"""`python small_pipeline.py FOLDER`: the supervisor on small programs.

`nats` is ready once FOLDER/nats-is-ready exists. `trainer` starts a program in a session of its own
that outlives it, as Ray does; with FOLDER/stubborn it does not end when asked. FOLDER/events lists
the events, FOLDER/left has the process id of that program. FOLDER/trainer-url, if it exists, is the
address of the trainer's REST interface.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path

from rich.console import Console

from rlaif.local.child import STOP_SECONDS, ChildSpec
from rlaif.local.display import Display
from rlaif.local.stack import Stack
from rlaif.local.supervisor import Supervisor

NOWHERE = "http://127.0.0.1:9"

PART = """
import os, signal, subprocess, sys, time
name, folder = sys.argv[1:]

def note(what):
    with open(f"{folder}/events", "a") as events:
        events.write(f"{name} {what}\\n")

def end(*_):
    note("ended")
    os._exit(0)

signal.signal(signal.SIGTERM, end)
if name == "trainer":
    if os.path.exists(f"{folder}/stubborn"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)"
    left = subprocess.Popen([sys.executable, "-c", deaf], start_new_session=True)
    with open(f"{folder}/left", "w") as file:
        file.write(str(left.pid))
note("started")
time.sleep(300)
"""


def part(name: str, folder: Path) -> ChildSpec:
    async def ready() -> bool:
        if name == "nats":
            return (folder / "nats-is-ready").exists()
        events = folder / "events"
        return events.exists() and f"{name} started" in events.read_text()

    return ChildSpec(
        name=name,
        command=(sys.executable, "-c", PART, name, str(folder)),
        environment=dict(os.environ),
        ready=ready,
        log=folder / f"{name}.log",
        directory=folder,
        where=NOWHERE,
        stop_seconds=60.0 if name == "trainer" else STOP_SECONDS,
    )


async def run(folder: Path) -> int:
    services = ("hud", "judge", "reward-model", "trainer")
    rest = folder / "trainer-url"
    stack = Stack(
        servers=(part("nats", folder),),
        services=tuple(part(name, folder) for name in services),
        urls=dict.fromkeys(services, NOWHERE)
        | ({"trainer": rest.read_text()} if rest.exists() else {}),
        api_token="",
        trainer_dir=folder / "trainer",
    )
    supervisor = Supervisor(stack, Display(Console(width=80)))
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, supervisor.ask_to_stop)
    return await supervisor.run(loops=None, seconds=None)


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1])))
