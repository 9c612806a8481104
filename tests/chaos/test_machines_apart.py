"""Two machines train one run and share no disk: they explore, show screens, learn along
demonstrations; one is cut off, another one takes its place.

A machine is a network namespace with a cable to a bridge and a `/tmp` of its own. The driver's is
this one, with NATS and S3.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import ray
from ray.cluster_utils import Cluster

from rlaif.hud.app import create_app
from rlaif.hud.settings import HudSettings
from rlaif.storage.ports import ObjectStore
from rlaif.testing.servers.http_server import serve
from rlaif.testing.servers.nats_server import NatsServer
from rlaif.testing.servers.s3_server import S3Server
from rlaif.testing.waiting import eventually
from rlaif.trainer.run_folder.live_files import SCREENS
from rlaif.trainer.run_folder.quest_record import SEARCH_FOLDER
from rlaif.trainer.search.opening import TREE
from rlaif.trainer.search.tree import TreeError, read_tree
from rlaif.trainer.service.live import RunnerScreens

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # Ray's own, on every start
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        os.geteuid() != 0 or shutil.which("ip") is None,
        reason="no network namespaces: run as root, with iproute2 installed",
    ),
]

RUNNERS = (1, 2)
EXPLORING = 3
"""Environment of each runner that explores."""

SECONDS = 300.0
NETWORK = "10.213.77"
HEAD = f"{NETWORK}.1"
QUICK_TO_NOTICE = {"health_check_period_ms": 500, "health_check_failure_threshold": 4}
RUN = "r-apart"
NOOK = Path(__file__).parents[1] / "data/nook/nook.gbc"
QUEST = {
    "TRAINER_MODE": "quest", "TRAINER_QUEST_MINUTES": 60, "TRAINER_QUEST_SEARCH_MINUTES": 0.25,
    "TRAINER_CURRICULUM_WARM_START": 20, "ENVS_PER_WORKER": 2,
    "BATCH_SIZE": 128, "TRAINER_PPO_MINIBATCH_SIZE": 64,
}  # fmt: skip


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


class Machine:
    """A namespace with a Ray node of one CPU."""

    def __init__(self, number: int, bridge: str, address: str, logs: Path) -> None:
        self.name = f"rlaif-{os.getpid()}-{number}"
        self.cable = f"rl{os.getpid() % 100_000}v{number}"
        self._log = (logs / f"machine-{number}.log").open("wb")
        own = f"{NETWORK}.{number + 1}"
        ip("netns", "add", self.name)
        ip("link", "add", self.cable, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        ip("link", "set", self.cable, "master", bridge, "up")
        for command in (["addr", "add", f"{own}/24", "dev", "eth0"], ["link", "set", "eth0", "up"],
                        ["link", "set", "lo", "up"]):  # fmt: skip
            ip("-n", self.name, *command)
        node = [
            sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--num-cpus=1",
            f"--address={address}", f"--node-ip-address={own}", "--object-store-memory=100000000",
            "--disable-usage-stats",
        ]  # fmt: skip
        # `ip netns exec` gives it mounts of its own, too.
        # Ray gives a node 30 s to start, which a busy machine may not.
        again = 'mount -t tmpfs none /tmp; for _ in 1 2 3 4 5; do "$@" && exit; done'
        apart = ["sh", "-c", again, "sh", *node]
        self._process = subprocess.Popen(
            ["ip", "netns", "exec", self.name, *apart],
            stdout=self._log, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip

    def cut(self) -> None:
        """Disconnect the machine: its processes keep running without a network."""
        ip("link", "set", self.cable, "down")

    def end(self) -> None:
        found = subprocess.run(
            ["ip", "netns", "pids", self.name], check=False, capture_output=True, text=True
        )
        for pid in map(int, found.stdout.split()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait(timeout=30)
        self._log.close()
        ip("link", "del", self.cable)  # the kernel takes its time to do so with the namespace
        ip("netns", "del", self.name)


class Machines:
    """The driver's Ray node on one end of the bridge, and what is plugged into it."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self.bridge = f"rl{os.getpid() % 100_000}br"
        self.plugged: list[Machine] = []
        ip("link", "add", self.bridge, "type", "bridge")
        ip("addr", "add", f"{HEAD}/24", "dev", self.bridge)
        ip("link", "set", self.bridge, "up")
        try:
            self._head = Cluster(
                initialize_head=True,
                head_node_args={
                    "num_cpus": 0,
                    "node_ip_address": HEAD,
                    "include_dashboard": False,
                    "_system_config": QUICK_TO_NOTICE,
                },
            )
        except Exception:
            ip("link", "del", self.bridge)  # or the next test's machines would reach this one
            raise

    @property
    def address(self) -> str:
        return str(self._head.address)

    def plug_in(self) -> Machine:
        machine = Machine(len(self.plugged) + 1, self.bridge, self.address, self._logs)
        self.plugged.append(machine)
        return machine

    def end(self) -> None:
        for machine in self.plugged:
            machine.end()
        self._head.shutdown()
        ray.shutdown()
        ip("link", "del", self.bridge)


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    started = Machines(tmp_path)
    yield started
    started.end()


class Training:
    """`rlaif train` on the driver's machine, and what the run's directory shows of it."""

    def __init__(self, directory: Path, environment: dict[str, str]) -> None:
        self.run = directory / "trainer" / "runs" / environment["TRAINER_RUN_ID"]
        self._said = directory / "messages.jsonl"
        command = [sys.executable, "-m", "rlaif.trainer.service.cli", "--messages"]
        with self._said.open("wb") as out, (directory / "train.log").open("wb") as log:
            self.process = subprocess.Popen(
                command, env=os.environ | environment, stdout=out, stderr=log
            )

    def reports(self, kind: str) -> list[dict[str, Any]]:
        lines = self._said.read_text().split("\n")[:-1]
        return [each for each in map(json.loads, lines) if each["kind"] == kind]

    @property
    def iterations(self) -> list[int]:
        """Environment steps of the run after each iteration."""
        return [each["env_steps"] for each in self.reports("iteration_done")]

    def found(self) -> int:
        """Number of states that the search has stored."""
        with suppress(TreeError), read_tree(self.run / SEARCH_FOLDER / TREE) as tree:
            return len(tree)
        return 0

    def is_silent(self, runner: int) -> bool:
        """Whether a runner gave no sign of life for as long as a page waits for its screen."""
        screens = RunnerScreens()
        screens.update(self.run / SCREENS)
        reading = screens.environments(RUN, datetime.now(UTC))
        assert reading is not None
        return any(each.runner == runner and each.silent_seconds > 10 for each in reading.runners)


Train = Callable[..., Training]


@pytest.fixture
def train(
    tmp_path: Path, machines: Machines, nats_server: NatsServer, s3_server: S3Server
) -> Iterator[Train]:
    """Starts `rlaif train` with a data directory of its own, and with some other settings."""
    settings = {
        "TRAINER_RUN_ID": RUN,
        "RAY_ADDRESS": machines.address, "RAY_WORKERS": len(RUNNERS), "ENVS_PER_WORKER": 4,
        "NATS_URL": nats_server.url, "S3_ENDPOINT_URL": s3_server.credentials.endpoint_url,
        "S3_ACCESS_KEY": s3_server.credentials.access_key,
        "S3_SECRET_KEY": s3_server.credentials.secret_key,
        "BATCH_SIZE": 2048, "MINIBATCH_SIZE": 512, "EPOCHS": 1, "HIDDEN": 16,
        "EPISODE_LENGTH": 200,
        "OMP_NUM_THREADS": 1, "OPENBLAS_NUM_THREADS": 1,
    }  # fmt: skip
    started: list[Training] = []

    def start(**more: object) -> Training:
        directory = tmp_path / f"disk-{len(started)}"
        directory.mkdir()
        environment = settings | more | {"TRAINER_DATA_DIR": directory / "trainer"}
        started.append(Training(directory, {name: str(v) for name, v in environment.items()}))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
            each.process.wait()


async def until(what: str, condition: Callable[[], bool]) -> None:
    await eventually(condition, what, seconds=SECONDS)


async def test_two_machines_explore_and_what_a_lost_one_found_is_kept(
    machines: Machines,
    train: Train,
    episodes_store: ObjectStore,
    models_store: ObjectStore,
    tmp_path: Path,
):
    training = train()
    machines.plug_in()
    lost = machines.plug_in()
    await until("captures of both are stored", lambda: captured_by(episodes_store) == set(RUNNERS))
    await until("both explore", lambda: captured_by(episodes_store, env=EXPLORING) == set(RUNNERS))

    found, at = training.found(), len(training.iterations)
    lost.cut()
    await until("training goes on", lambda: len(training.iterations) >= at + 10)
    await until("the machine that is left explores on", lambda: training.found() > found)
    await until("a screen is free for the other's", lambda: any(map(training.is_silent, RUNNERS)))
    (gone,) = filter(training.is_silent, RUNNERS)

    machines.plug_in()
    await until("another runner replaces it", lambda: not training.is_silent(gone))
    found = training.found()

    training.process.send_signal(signal.SIGTERM)
    assert training.process.wait(timeout=120) == 0
    assert len(training.reports("started")) == 1, "the training process was never started again"
    assert found <= in_checkpoint(models_store, tmp_path / "copy.sqlite")


async def test_two_machines_go_on_a_quest_show_their_screens_and_evaluate_from_the_store(
    machines: Machines,
    train: Train,
    nats_server: NatsServer,
    episodes_store: ObjectStore,
    models_store: ObjectStore,
    tmp_path: Path,
):
    machines.plug_in()
    machines.plug_in()
    game = shutil.copy(NOOK, tmp_path / "nook.gbc")  # on the driver's machine alone
    training = train(**QUEST, ROM_PATH=game)
    app = create_app(HudSettings(nats_url=nats_server.url), store=episodes_store)
    async with serve(app) as hud, httpx.AsyncClient(base_url=f"{hud}/api/v1") as page:

        async def players() -> bool:
            listed = (await page.get("/environments")).json()["environments"]
            return [each["env"] for each in listed] == ["1-0", "1-1", "2-0", "2-1"]

        async def is_selected(env: str) -> bool:
            # 404 while the runners of the search are replaced by those of the policy.
            return (await page.post("/watched", json={"env": env})).status_code == 200

        async def is_shown(env: str) -> bool:
            return bool((await page.get("/watched")).json()["env"] == env)

        await eventually(players, "the players of both machines are on the map", seconds=SECONDS)
        await until("the policy is trained", partial(has_phases, training, {"search", "policy"}))
        await eventually(
            players, "the players of both machines are on the map again", seconds=SECONDS
        )
        assert training.reports("search_report")[-1]["workers"] == len(RUNNERS), (
            "the head has no CPU"
        )
        for env in ("1-1", "2-1"):
            await eventually(partial(is_selected, env), f"{env} can be selected", seconds=SECONDS)
            await eventually(partial(is_shown, env), f"a picture of {env}", seconds=SECONDS)

    await until(
        "it learns along the demonstrations", lambda: bool(training.reports("curriculum_report"))
    )
    training.process.send_signal(signal.SIGTERM)
    assert training.process.wait(timeout=120) == 0
    evaluation = train(
        TRAINER_MODE="evaluation", TRAINER_CHECKPOINT=RUN, TRAINER_RUN_ID="r-evaluation",
        TRAINER_EVAL_EPISODES=2, EPISODE_LENGTH=200, ROM_PATH=game,
    )  # fmt: skip
    assert evaluation.process.wait(timeout=SECONDS) == 0
    (done,) = evaluation.reports("evaluation_done")
    stored = json.loads(models_store.get("evaluations/r-evaluation/r-evaluation.json"))
    assert (stored["run_id"], stored["iteration"]) == (RUN, done["iteration"])


def has_phases(training: Training, phases: set[str]) -> bool:
    return {each["phase"] for each in training.reports("phase_report")} >= phases


def captured_by(store: ObjectStore, env: int | None = None) -> set[int]:
    """Runners whose captures, of one environment or any, are in the store.

    Keys have `RUN-ATTEMPT-RUNNER-ENV-…`.
    """
    keys = [each.key for each in store.list("captures/")]
    names = [key.partition(f"/{RUN}-")[2].split("-") for key in keys]
    return {
        int(runner.partition("x")[0])
        for _, runner, number, *_ in names
        if env is None or number == str(env)
    }


def in_checkpoint(store: ObjectStore, copy: Path) -> int:
    """Number of states of the search in the newest checkpoint in the store."""
    keys = [each.key for each in store.list(f"checkpoints/{RUN}/")]
    trees = [key for key in keys if key.endswith(f"/{TREE}")]
    newest = max(trees, key=lambda key: int(key.split("iteration_")[1].partition("-")[0]))
    copy.write_bytes(store.get(newest))
    with read_tree(copy) as tree:
        return len(tree)
