"""A real training process on a Ray cluster of several nodes; runners and nodes are killed."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import ray
from ray.cluster_utils import Cluster

from rlaif.testing.waiting import eventually
from rlaif.trainer.run_folder.protocol import GrantCaptures, IterationDone, Message, Started
from rlaif.trainer.run_folder.spool import Spool
from rlaif.trainer.service.runs.supervisor import RunSupervisor
from rlaif.trainer.settings import TrainerSettings

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # Ray's own, on every start
    pytest.mark.timeout(600),  # a minute on two free cores
]

BATCH, RUNNERS, ENVS = 256, 2, 2
SEGMENT_FRAMES = 40
SECONDS = 240.0
QUICK_TO_NOTICE = {"health_check_period_ms": 500, "health_check_failure_threshold": 4}


@dataclass
class Ledger:
    """Reports of a run.

    Attributes:
        sizes: Environment steps of each iteration.
        news: Set after each.
    """

    sizes: list[int] = field(default_factory=list)
    steps: int = 0
    starts: int = 0
    captured: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, message: Message) -> None:
        if isinstance(message, Started):
            self.starts += 1
        if isinstance(message, IterationDone):
            self.sizes.append(message.env_steps - self.steps)
            self.steps = message.env_steps
            self.captured = message.segments_captured
            self.news.set()


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """A head without CPUs for the driver, and two nodes with one CPU each for the runners."""
    started = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 0,
            "include_dashboard": False,
            "_system_config": QUICK_TO_NOTICE,
        },
    )
    for _ in range(RUNNERS):
        started.add_node(num_cpus=1, include_dashboard=False)
    yield started
    ray.shutdown()
    started.shutdown()


@pytest.fixture
def settings(tmp_path: Path, cluster: Cluster) -> TrainerSettings:
    return TrainerSettings.model_validate(
        {
            "data_dir": tmp_path,
            "ray_address": cluster.address,
            "ray_workers": RUNNERS,
            "envs_per_worker": ENVS,
            "batch_size": BATCH,
            "minibatch_size": 128,
            "epochs": 1,
            "hidden": 16,
            "episode_length": 60,
            "capture": {"segment_frames": SEGMENT_FRAMES},
            "stop_seconds": 60,
        }
    )


async def test_training_outlives_a_killed_runner_and_a_killed_node(
    settings: TrainerSettings, cluster: Cluster
):
    reported = Ledger()
    run = RunSupervisor(settings, "r-scale", reported.take)
    spool = Spool(run.directory / "spool")

    async def until(what: str, condition: Any) -> None:
        await eventually(condition, what, seconds=SECONDS)

    async def keep_granting() -> None:
        while await reported.news.wait():
            reported.news.clear()
            await run.send(GrantCaptures(segments=4))

    run.start()
    granting = asyncio.create_task(keep_granting())
    await until("both runners capture", lambda: len(names(spool)) == RUNNERS)
    assert set(reported.sizes) == {BATCH}
    nodes = {node: runners_below(node) for node in cluster.worker_nodes}
    assert sorted(map(len, nodes.values())) == [1, 1], "one runner a node"

    # A runner dies while it plays.
    spooled, at = on_disk(spool), len(reported.sizes)
    (lost,) = next(iter(nodes.values()))
    os.kill(lost, signal.SIGKILL)
    await until("another one captures, under a name of its own", lambda: len(names(spool)) == 3)
    assert counted_once(reported.sizes[at:])
    assert spooled <= on_disk(spool), "what was spooled stays"

    # A whole node dies: there is no place for its runner until another node comes.
    spooled, at = on_disk(spool), len(reported.sizes)
    gone = next(node for node in nodes if lost not in nodes[node])
    cluster.remove_node(gone, allow_graceful=False)
    await until("training continues with the other one", lambda: len(reported.sizes) >= at + 5)
    assert len(all_runners(cluster)) == 1
    assert reported.sizes[-1] == BATCH, "which plays whole batches now"
    cluster.add_node(num_cpus=1, include_dashboard=False)
    await until("a third one captures on the new node", lambda: len(names(spool)) == 4)
    assert len(all_runners(cluster)) == RUNNERS
    assert counted_once(reported.sizes[at:])
    assert spooled <= on_disk(spool)

    granting.cancel()
    await run.stop()
    assert run.state.status == "stopped"
    assert reported.starts == 1, "the training process itself was never started again"
    assert len(on_disk(spool)) == reported.captured, (
        "each captured segment is there, under its own id"
    )
    assert run.state.env_steps == sum(reported.sizes)


def counted_once(sizes: list[int]) -> bool:
    """Whether each iteration counted what runners play at once: their share, or a whole batch."""
    share = BATCH // RUNNERS
    return set(sizes) <= {0, share, BATCH, BATCH + share}


def on_disk(spool: Spool) -> set[str]:
    return {path.name for path in spool.waiting()}


def names(spool: Spool) -> set[str]:
    """Names of the runners that have captured: ids of segments without game, episode and index."""
    return {name.rsplit("-", 3)[0] for name in on_disk(spool)}


def all_runners(cluster: Cluster) -> set[int]:
    return {pid for node in cluster.worker_nodes for pid in runners_below(node)}


def runners_below(node: Any) -> list[int]:
    """Runner processes that a node started."""
    (raylet,) = node.all_processes["raylet"]
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
            name = (entry / "cmdline").read_bytes()
            if int(stat[1]) == raylet.process.pid and name.startswith(b"ray::RunnerActor"):
                found.append(int(entry.name))
    return found
