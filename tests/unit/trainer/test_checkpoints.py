"""Checkpoints on disk and in a store: whole or not there, pruned, brought back."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage.file import FileStore
from rlaif.storage.ports import BINARY, StoreUnavailableError
from rlaif.trainer.checks import WrongSettingsError
from rlaif.trainer.learner.evaluating import _name
from rlaif.trainer.run_folder import checkpoints
from rlaif.trainer.run_folder.checkpoints import CheckpointError
from rlaif.trainer.run_folder.quest_record import SEARCH_FOLDER
from rlaif.trainer.run_folder.record import RunRecord, begin_attempt, record_path
from rlaif.trainer.search.opening import TREE
from rlaif.trainer.service.runs import store as checkpoint_store
from rlaif.trainer.service.runs.manager import RunManager
from rlaif.trainer.service.runs.supervisor import RunSupervisor
from rlaif.trainer.settings import TrainerSettings

NOW = datetime(2026, 3, 1, tzinfo=UTC)
RUN = "r-1"

Start = Callable[[TrainerSettings], Awaitable[RunRecord]]


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    begin_attempt(tmp_path, RUN, TrainerSettings(data_dir=tmp_path), NOW)
    return tmp_path


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "store")


def directory(data_dir: Path) -> Path:
    return data_dir / "runs" / RUN / "checkpoints"


def save(
    data_dir: Path, iteration: int, *, attempt: int = 0, content: bytes = b"w", **more: Any
) -> Path:
    """Make a checkpoint as the training process does."""
    record = RunRecord.read(record_path(data_dir, RUN)).model_copy(update={"attempts": attempt})
    partial = checkpoints.begin(directory(data_dir), iteration)
    (partial / checkpoints.POLICY).write_bytes(content)
    (partial / checkpoints.SEARCH).write_bytes(b"abc")
    counters = checkpoints.Counters(iteration=iteration, env_steps=10 * iteration)
    known = {"rom_sha256": "ab" * 32, "hidden": 256} | more
    manifest = checkpoints.Manifest(
        run_id=RUN, attempt=attempt, created_at=NOW, counters=counters, record=record, **known
    )
    return checkpoints.commit(partial, manifest)[0]


def test_what_was_not_committed_is_no_checkpoint(data_dir: Path):
    partial = checkpoints.begin(directory(data_dir), 1)
    (partial / checkpoints.POLICY).write_bytes(b"half")
    assert checkpoints.whole(directory(data_dir)) == []
    save(data_dir, 2)
    assert not partial.exists()
    (info,) = checkpoints.describe(data_dir / "runs" / RUN)
    assert (info.id, info.env_steps) == ("r-1/iteration_00000002", 20)


def test_a_damaged_one_is_passed_over_and_reported(data_dir: Path):
    good, bad = save(data_dir, 1), save(data_dir, 2)
    (bad / checkpoints.POLICY).write_bytes(b"x")
    found = checkpoints.newest_usable(directory(data_dir))
    assert found is not None
    assert found[0] == good
    assert "policy.safetensors does not match its manifest" in found[1][0]
    (good / checkpoints.POLICY).unlink()
    with pytest.raises(CheckpointError, match=r"no checkpoint .* can be used"):
        checkpoints.newest_usable(directory(data_dir))


def test_the_newest_and_the_best_are_kept(data_dir: Path):
    for iteration in range(1, 6):
        save(data_dir, iteration)
    checkpoints.prune(directory(data_dir), keep=2, protected={1})
    kept = [
        checkpoints.read_manifest(p).counters.iteration
        for p in checkpoints.whole(directory(data_dir))
    ]
    assert kept == [1, 4, 5]


def test_a_checkpoint_is_found_by_run_by_name_and_by_path(data_dir: Path):
    save(data_dir, 1)
    newest = save(data_dir, 2)
    for name in ("r-1", "r-1/iteration_00000002", str(newest)):
        assert checkpoints.find(data_dir, name) == newest
    with pytest.raises(CheckpointError, match=r"has: r-1/iteration_00000001"):
        checkpoints.find(data_dir, "r-2")


class FailingStore(FileStore):
    """Fails once some objects are written, as a killed process or a dead server does."""

    writes_left = 1

    def put(self, key: str, data: bytes, *, content_type: str = BINARY) -> None:
        if self.writes_left == 0:
            raise StoreUnavailableError("gone")
        self.writes_left -= 1
        super().put(key, data, content_type=content_type)


def test_a_half_copied_checkpoint_does_not_count(data_dir: Path, tmp_path: Path):
    path = save(data_dir, 1)
    failing = FailingStore(tmp_path / "store")
    with pytest.raises(StoreUnavailableError):
        checkpoint_store.upload(failing, path)
    assert checkpoint_store.stored(failing, RUN) == []
    failing.writes_left = 100
    assert checkpoint_store.upload(failing, path)
    assert not checkpoint_store.upload(failing, path), "once"
    assert checkpoint_store.stored(failing, RUN) == ["iteration_00000001-0"]


def test_a_later_attempt_does_not_mix_with_what_a_killed_one_copied(
    data_dir: Path, store: FileStore, tmp_path: Path
):
    checkpoint_store.upload(store, save(data_dir, 3, attempt=0, content=b"first"))
    checkpoint_store.upload(store, save(data_dir, 3, attempt=1, content=b"second"))
    restored = checkpoint_store.restore_run(store, tmp_path / "other", RUN)
    assert restored is not None
    assert (restored / checkpoints.POLICY).read_bytes() == b"second"


def test_the_store_is_pruned_too(data_dir: Path, store: FileStore):
    for iteration in range(1, 5):
        checkpoint_store.upload(store, save(data_dir, iteration))
    gone = checkpoint_store.prune(store, RUN, keep=1, protected={2})
    assert gone == ["iteration_00000001-0", "iteration_00000003-0"]
    assert checkpoint_store.stored(store, RUN) == ["iteration_00000002-0", "iteration_00000004-0"]
    assert not [info for info in store.list("checkpoints/") if "00000003" in info.key]


def test_a_run_comes_back_whole_and_gives_no_id_again(
    data_dir: Path, store: FileStore, tmp_path: Path
):
    checkpoint_store.upload(store, save(data_dir, 7, attempt=4))
    other = tmp_path / "other"
    restored = checkpoint_store.restore_run(store, other, RUN)
    assert restored == directory(other) / "iteration_00000007"
    assert checkpoints.verify(restored).counters.env_steps == 70
    assert (other / "runs" / RUN / SEARCH_FOLDER / TREE).read_bytes() == b"abc"
    begin_attempt(other, RUN, TrainerSettings(data_dir=other), NOW)
    assert RunRecord.read(record_path(other, RUN)).attempts >= 1000
    assert checkpoint_store.restore_run(store, other, "r-unknown") is None


def test_a_tampered_object_is_not_restored(data_dir: Path, store: FileStore, tmp_path: Path):
    checkpoint_store.upload(store, save(data_dir, 1))
    checkpoint_store.upload(store, save(data_dir, 2))
    policy = "checkpoints/r-1/iteration_00000002-0/policy.safetensors"
    store.put(policy, b"other")
    restored = checkpoint_store.restore_run(store, tmp_path / "other", RUN)
    assert restored is not None
    assert restored.name == "iteration_00000001"
    store.delete_many([policy])
    again = checkpoint_store.restore_run(store, tmp_path / "third", RUN)
    assert again is not None
    assert again.name == "iteration_00000001", "nor one of which an object is gone"


def test_a_named_checkpoint_comes_back_and_the_run_on_this_disk_keeps_its_record(
    data_dir: Path, store: FileStore, tmp_path: Path
):
    for iteration in (1, 2):
        checkpoint_store.upload(store, save(data_dir, iteration))
    other = tmp_path / "other"
    name = "iteration_00000001"
    assert not checkpoints.is_on_disk(other, f"{RUN}/{name}")
    restored = checkpoint_store.restore_run(store, other, RUN, name)
    assert restored == checkpoints.find(other, f"{RUN}/{name}")
    begin_attempt(other, RUN, TrainerSettings(data_dir=other), NOW)
    record = RunRecord.read(record_path(other, RUN))
    assert checkpoint_store.restore_run(store, other, RUN, "iteration_00000002") is not None
    assert RunRecord.read(record_path(other, RUN)) == record
    assert checkpoint_store.restore_run(store, other, RUN, "iteration_00000003") is None
    for known in (RUN, f"{RUN}/{name}", str(restored)):
        assert checkpoints.is_on_disk(other, known)


@pytest.mark.parametrize("mode", ["evaluation", "continuous"])
@pytest.mark.parametrize("name", [RUN, f"{RUN}/iteration_00000001"])
async def test_a_run_fetches_the_checkpoint_that_it_names(
    data_dir: Path, store: FileStore, tmp_path: Path, mode: str, name: str
):
    checkpoint_store.upload(store, save(data_dir, 1))
    other = tmp_path / "other"
    settings = TrainerSettings.model_validate(
        {"data_dir": other, "models_store": store.url, "mode": mode, "checkpoint": name}
    )
    with pytest.raises(WrongSettingsError):  # it is of another game, so that no process starts
        await RunManager(settings, ServiceMetrics("trainer")).start()
    assert checkpoints.find(other, name).name == "iteration_00000001"


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Start:
    """Starts the run without a process; returns its record."""

    async def no_process(*_: object) -> int:
        return 0

    monkeypatch.setattr(RunSupervisor, "_run_process", no_process)

    async def start(settings: TrainerSettings) -> RunRecord:
        runs = RunManager(settings, ServiceMetrics("trainer"))
        await (await runs.start(RUN)).wait()
        return RunRecord.read(record_path(settings.data_dir, RUN))

    return start


@pytest.mark.parametrize("saved", [False, True])
async def test_machines_that_were_lost_before_a_checkpoint_share_no_attempt(
    data_dir: Path, store: FileStore, tmp_path: Path, start: Start, saved: bool
):
    """A RayJob that loses its head is retried on an empty disk; ids contain the attempt."""
    if saved:
        rom = load_cartridge().sha256
        checkpoint_store.upload(store, save(data_dir, 7, attempt=4, rom_sha256=rom))
    attempts = []
    for machine in ("first", "second", "third"):
        settings = {"data_dir": tmp_path / machine, "models_store": store.url}
        attempts.append((await start(TrainerSettings.model_validate(settings))).attempts)
    assert attempts == ([1000, 2000, 3000] if saved else [0, 1000, 2000])
    assert checkpoint_store.claim_attempts(store, "another") == 0


async def test_a_run_that_trained_is_not_turned_into_an_evaluation(data_dir: Path, start: Start):
    save(data_dir, 1, rom_sha256=load_cartridge().sha256)
    before = RunRecord.read(record_path(data_dir, RUN))
    settings = {"data_dir": data_dir, "mode": "evaluation", "checkpoint": RUN}
    with pytest.raises(WrongSettingsError, match="a run of its own"):
        await start(TrainerSettings.model_validate(settings))
    assert RunRecord.read(record_path(data_dir, RUN)) == before


def test_a_repeated_evaluation_has_an_id_of_its_own(data_dir: Path):
    """Another result under the same id would not be stored: a job has the id of its first run."""
    run = RunRecord.read(record_path(data_dir, RUN))
    again = run.model_copy(update={"attempts": 1000})
    ids = [_name(each, None, "trained") for each in (run, again)]
    assert ids == ["r-1", "r-1-1000"]


async def test_a_ray_job_resumes_without_the_checkpoint_that_its_policy_began_with(
    data_dir: Path, store: FileStore, tmp_path: Path, start: Start
):
    """Its own checkpoints are in the models store, not on the service's disk."""
    settings = TrainerSettings.model_validate(
        {"data_dir": tmp_path / "service", "models_store": store.url, "run_on": "ray-job"}
        | {"ray_address": "http://head:8265", "checkpoint": "deleted/iteration_00000003"}
    )
    begin_attempt(settings.data_dir, RUN, settings, NOW)
    with pytest.raises(WrongSettingsError):
        await start(settings)
    checkpoint_store.upload(store, save(data_dir, 1, rom_sha256=load_cartridge().sha256))
    assert (await start(settings)).attempts == 1
