"""What docs/cluster.md says of backups, done to real servers."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from rlaif.bus.connection import connect
from rlaif.storage.open import S3Credentials
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.events import segment_captured
from rlaif.testing.deployment import commands
from rlaif.testing.servers.nats_server import NatsServer
from rlaif.testing.waiting import backlog_of

PAGE = Path(__file__).parents[3] / "docs/cluster.md"


def run(command: str, *, within: Path, **environment: str) -> None:
    """A command of the page, as a shell runs it."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=within, env=os.environ | environment, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_both_buckets_are_saved_and_brought_back(
    s3: S3Credentials, episodes_store: ObjectStore, models_store: ObjectStore, tmp_path: Path
) -> None:
    if shutil.which("aws") is None:
        pytest.skip("the AWS CLI is not installed: make setup-dev installs it into .venv")
    page = commands(PAGE.read_text(encoding="utf-8"))
    save, restore, over = [each for each in page if each.startswith("for STORE in ")]
    assert over == restore
    reached = {
        "AWS_ENDPOINT_URL": str(s3.endpoint_url),
        "AWS_ACCESS_KEY_ID": str(s3.access_key),
        "AWS_SECRET_ACCESS_KEY": str(s3.secret_key),
        "AWS_DEFAULT_REGION": s3.region,
        "EPISODES": "s3://zelda-episodes",
        "MODELS": "s3://zelda-models",
    }
    kept = {f"scores/{number}.json": os.urandom(1_000) for number in range(20)}
    kept["reward_model/epoch_0001/rm.safetensors"] = os.urandom(9_000_000)  # in several parts
    for store in (episodes_store, models_store):
        for key, data in kept.items():
            store.put(key, data)

    run(save, within=tmp_path, **reached)
    for store in (episodes_store, models_store):
        store.delete_many(list(kept))
        assert list(store.list()) == []
    run(restore, within=tmp_path, **reached)

    for store in (episodes_store, models_store):
        assert {each.key: store.get(each.key) for each in store.list()} == kept


async def test_the_files_of_a_stopped_server_hold_its_events(tmp_path: Path) -> None:
    server = NatsServer(_made(tmp_path / "first"))
    server.start()
    try:
        bus = await connect(server.url, name="test")
        await bus.ensure_topology()
        publisher = bus.publisher("trainer")
        for number in range(5):
            await publisher.publish(segment_captured(f"segment-{number}"))
        await bus.close()
    finally:
        server.stop()
    tar = "tar -C first -cf - . > nats.tar; mkdir second; tar -C second -xf - < nats.tar"
    run(tar, within=tmp_path)
    shutil.rmtree(tmp_path / "first")

    copy = NatsServer(tmp_path / "second")
    copy.start()
    try:
        bus = await connect(copy.url, name="test")
        await backlog_of(bus, type(segment_captured()), "exporter", 5)
        await bus.close()
    finally:
        copy.stop()


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
