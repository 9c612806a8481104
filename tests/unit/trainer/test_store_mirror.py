"""What a run leaves on disk comes into the store, also when it is gone from the disk by then."""

import asyncio
import json
import threading
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rlaif.storage import keys
from rlaif.storage.file import FileStore
from rlaif.trainer.run_folder import checkpoints
from rlaif.trainer.run_folder.record import RunRecord, begin_attempt, record_path
from rlaif.trainer.service.app import create_app
from rlaif.trainer.service.runs import store as checkpoint_store
from rlaif.trainer.service.runs.state import RunState
from rlaif.trainer.service.runs.store import StoreMirror
from rlaif.trainer.settings import TrainerSettings

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "store")


@pytest.fixture
def settings(tmp_path: Path) -> TrainerSettings:
    return TrainerSettings(data_dir=tmp_path)


@pytest.fixture
def mirror(settings: TrainerSettings, store: FileStore) -> StoreMirror:
    return StoreMirror(settings, store, lambda: None)


def end_epochs(data_dir: Path, run_id: str, numbers: Iterable[int], *, at: datetime = NOW) -> None:
    """Save as the training process does at the ends of epochs; the newest two stay."""
    begin_attempt(data_dir, run_id, TrainerSettings(data_dir=data_dir), at)
    directory = data_dir / "runs" / run_id
    for epoch in numbers:
        partial = checkpoints.begin(directory / "checkpoints", epoch + 1)
        (partial / checkpoints.POLICY).write_bytes(b"w")
        manifest = checkpoints.Manifest(
            run_id=run_id,
            attempt=0,
            created_at=at + timedelta(minutes=epoch),
            counters=checkpoints.Counters(iteration=epoch + 1),
            hidden=256,
            rom_sha256="ab" * 32,
            record=RunRecord.read(record_path(data_dir, run_id)),
        )
        _, manifest = checkpoints.commit(partial, manifest)
        checkpoints.write_epoch(directory, epoch, manifest)
        checkpoints.prune(directory / "checkpoints", keep=2)


def shown(store: FileStore, epoch: int) -> tuple[str, int]:
    manifest = json.loads(store.get(keys.checkpoint(epoch, checkpoints.MANIFEST)))
    return manifest["run_id"], manifest["counters"]["iteration"]


def test_every_epoch_is_shown_also_those_whose_checkpoints_were_pruned_before_a_look(
    tmp_path: Path, store: FileStore, mirror: StoreMirror
):
    end_epochs(tmp_path, "r-1", range(5))
    mirror.copy_new()
    assert [shown(store, epoch) for epoch in range(5)] == [("r-1", n + 1) for n in range(5)]
    assert checkpoint_store.stored(store, "r-1") == ["iteration_00000004-0", "iteration_00000005-0"]


def test_a_machine_that_only_brought_a_run_back_deletes_none_of_its_checkpoints(
    tmp_path: Path, store: FileStore, mirror: StoreMirror
):
    for epoch in range(4):
        end_epochs(tmp_path, "r-1", [epoch])
        for path in checkpoints.whole(tmp_path / "runs" / "r-1" / "checkpoints"):
            checkpoint_store.upload(store, path)
    before = checkpoint_store.stored(store, "r-1")
    mirror.copy_new()
    assert checkpoint_store.stored(store, "r-1") == before
    end_epochs(tmp_path, "r-1", [4])
    mirror.copy_new()
    assert len(checkpoint_store.stored(store, "r-1")) == 2, "one that saves also prunes"


def test_a_later_checkpoint_does_not_stand_for_an_epoch_that_has_one(
    tmp_path: Path, store: FileStore, mirror: StoreMirror
):
    end_epochs(tmp_path, "r-1", [0])
    mirror.copy_new()
    (saved,) = checkpoints.whole(tmp_path / "runs" / "r-1" / "checkpoints")
    later = checkpoints.read_manifest(saved).model_copy(
        update={"counters": checkpoints.Counters(iteration=9)}
    )
    checkpoints.write_epoch(tmp_path / "runs" / "r-1", 0, later)
    mirror.copy_new()
    assert shown(store, 0) == ("r-1", 1)


def test_an_epoch_is_shown_of_the_run_that_ended_it_last_after_a_restart_too(
    tmp_path: Path, store: FileStore, settings: TrainerSettings
):
    end_epochs(tmp_path, "r-old", range(2))
    end_epochs(tmp_path, "r-new", [0], at=NOW + timedelta(days=1))
    for _ in range(2):
        StoreMirror(settings, store, lambda: None).copy_new()
        assert (shown(store, 0), shown(store, 1)) == (("r-new", 1), ("r-old", 2))


class SlowStore(FileStore):
    """Its first write of the progress waits for `go_on`."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.entered, self.go_on = threading.Event(), threading.Event()

    def put(self, key: str, data: bytes, *, content_type: str = "") -> None:
        if key == keys.PROGRESS and not self.entered.is_set():
            self.entered.set()
            assert self.go_on.wait(10)
        super().put(key, data)


def test_the_last_copy_reports_the_end_although_another_is_under_way(
    tmp_path: Path, settings: TrainerSettings
):
    store = SlowStore(tmp_path / "store")
    state = RunState(run_id="r-1", status="training")
    mirror = StoreMirror(settings, store, lambda: state)
    begin_attempt(tmp_path, "r-1", settings, NOW)
    under_way = threading.Thread(target=mirror.copy_new)
    under_way.start()
    assert store.entered.wait(10)
    state = replace(state, status="finished")
    last = threading.Thread(target=mirror.copy_new)
    last.start()
    last.join(0.2)  # without the lock it ends here, and the one under way writes an outdated state
    store.go_on.set()
    under_way.join(10)
    last.join(10)
    assert json.loads(store.get(keys.PROGRESS))["status"] == "finished"


def test_progress_of_a_ray_job_is_written_by_the_job_which_has_the_evaluations(
    tmp_path: Path, store: FileStore
):
    settings = TrainerSettings.model_validate(
        {"data_dir": tmp_path, "run_on": "ray-job", "ray_address": "http://head:8265"}
    )
    begin_attempt(tmp_path, "r-1", settings, NOW)
    state = RunState(run_id="r-1", status="training")
    StoreMirror(settings, store, lambda: state).copy_new()
    assert store.head(keys.PROGRESS) is None


async def test_the_service_copies_what_its_own_end_leaves(tmp_path: Path, store: FileStore):
    app = create_app(
        TrainerSettings(
            data_dir=tmp_path,
            autostart=False,
            nats_url="nats://127.0.0.1:9",
            models_store=f"file://{tmp_path}/store",
        )
    )
    async with app.router.lifespan_context(app):
        await asyncio.sleep(0.1)  # its first look is over, the next one seconds away
        end_epochs(tmp_path, "r-1", [0])
    assert checkpoint_store.stored(store, "r-1") == ["iteration_00000001-0"]
