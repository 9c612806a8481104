"""The trainer receives a champion once, and only if its file is what was published."""

import asyncio
import hashlib
from contextlib import suppress
from pathlib import Path

import pytest

from rlaif.contracts.reward_models import Champion
from rlaif.storage import keys
from rlaif.storage.file import FileStore
from rlaif.storage.ports import StorageError
from rlaif.testing.data.junk import JUNK, spoiled
from rlaif.testing.waiting import eventually
from rlaif.trainer.run_folder.protocol import LoadRewardModel, RewardModelRefused
from rlaif.trainer.service.champion import ChampionWatcher

MODEL = b"a model"


class Inbox:
    def __init__(self) -> None:
        self.commands: list[LoadRewardModel] = []

    async def take(self, command: LoadRewardModel) -> None:
        self.commands.append(command)


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "store")


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture
def watcher(store: FileStore, inbox: Inbox, tmp_path: Path) -> ChampionWatcher:
    return ChampionWatcher(store, tmp_path / "models", inbox.take)


def publish(store: FileStore, version: int, *, stored: bytes = MODEL, activation: int = 1) -> None:
    champion = Champion(
        version=version,
        activation=activation,
        manifest_key=keys.reward_model(version, "manifest.json"),
        model_key=keys.reward_model(version, "rm.safetensors"),
        model_sha256=hashlib.sha256(MODEL).hexdigest(),
    )
    store.put(champion.model_key, stored)
    store.put(keys.CHAMPION, champion.model_dump_json().encode())


async def test_a_champion_is_handed_on_once(
    store: FileStore, watcher: ChampionWatcher, inbox: Inbox
):
    assert not await watcher.refresh(), "there is none yet"
    publish(store, 3)
    assert await watcher.refresh()
    assert not await watcher.refresh(), "a repeated event changes nothing"
    (command,) = inbox.commands
    assert command.version == 3
    assert command.path.endswith(f"{hashlib.sha256(MODEL).hexdigest()}.safetensors")


async def test_a_champion_of_an_earlier_activation_is_not_taken_and_said(
    store: FileStore, watcher: ChampionWatcher, inbox: Inbox
):
    publish(store, 3, activation=5)
    await watcher.refresh()
    publish(store, 2, activation=4)
    assert not await watcher.refresh()
    assert "the loaded model stays" in (watcher.check() or "")
    publish(store, 2, activation=6)
    assert await watcher.refresh(), "a rollback has a later one"
    assert watcher.check() is None
    assert [command.version for command in inbox.commands] == [3, 2]


async def test_a_withdrawn_champion_is_reported_without_its_file(
    store: FileStore, watcher: ChampionWatcher, inbox: Inbox
):
    publish(store, 3)
    assert await watcher.refresh()
    champion = Champion.model_validate_json(store.get(keys.CHAMPION))
    withdrawn = champion.model_copy(update={"withdrawn": "it pays for menus", "activation": 2})
    store.put(keys.CHAMPION, withdrawn.model_dump_json().encode())
    store.delete_many([champion.model_key])
    assert await watcher.refresh()
    assert not await watcher.refresh(), "it is reported once"
    assert inbox.commands[-1].withdrawn == "it pays for menus"


async def test_a_model_that_is_not_what_was_published_is_reported_once_and_fetched_when_repaired(
    store: FileStore, inbox: Inbox, tmp_path: Path
):
    refused: list[RewardModelRefused] = []
    watcher = ChampionWatcher(store, tmp_path / "models", inbox.take, refused.append)
    publish(store, 3, stored=b"half of a mod")
    for _ in range(3):
        assert not await watcher.refresh()
    (refusal,) = refused
    assert (refusal.version, inbox.commands) == (3, [])
    assert refusal.reason.startswith("hash_mismatch: ")
    publish(store, 3)
    assert await watcher.refresh()


@pytest.mark.parametrize("kind", JUNK)
async def test_a_champion_that_cannot_be_read_keeps_the_one_before_and_is_said_until_it_can(
    store: FileStore, watcher: ChampionWatcher, inbox: Inbox, kind: str
):
    publish(store, 3)
    await watcher.refresh()
    store.put(keys.CHAMPION, JUNK[kind])
    assert not await watcher.refresh()
    assert "the loaded model stays" in (watcher.check() or "")
    publish(store, 2)
    assert await watcher.refresh(), "a rollback is passed on like any champion"
    assert watcher.check() is None
    assert [command.version for command in inbox.commands] == [3, 2]


@pytest.mark.parametrize("field", ["version", "activation", "model_sha256", "model_key"])
async def test_no_spoiled_field_of_the_champion_ends_the_watch(
    store: FileStore, watcher: ChampionWatcher, field: str
):
    publish(store, 3)
    for data in spoiled(store.get(keys.CHAMPION), field).values():
        store.put(keys.CHAMPION, data)
        with suppress(StorageError):
            await watcher.refresh()


async def test_a_hint_in_the_moment_of_the_end_does_not_keep_it_going(
    store: FileStore, watcher: ChampionWatcher, inbox: Inbox
):
    publish(store, 3)
    watching = asyncio.create_task(watcher.run())
    await eventually(lambda: inbox.commands != [], "it has looked, and waits")
    watcher.hint()
    watching.cancel()
    await asyncio.wait([watching], timeout=1)
    assert watching.cancelled()


async def test_a_disk_that_takes_no_model_is_said_and_tried_again(
    store: FileStore,
    watcher: ChampionWatcher,
    inbox: Inbox,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("rlaif.trainer.service.champion._DISK_PAUSE_SECONDS", 0.05)
    publish(store, 3)
    (tmp_path / "models").write_bytes(b"a file where the folder should be")
    task = asyncio.create_task(watcher.run())
    await eventually(lambda: "Not a directory" in (watcher.check() or ""), "it is said")
    assert not inbox.commands
    (tmp_path / "models").unlink()
    await eventually(lambda: len(inbox.commands) == 1, "the model comes")
    await eventually(lambda: watcher.check() is None, "and all is well")
    task.cancel()


async def test_a_kept_file_that_is_damaged_is_fetched_again(
    store: FileStore, watcher: ChampionWatcher, inbox: Inbox, tmp_path: Path
):
    """As a power cut may leave it."""
    publish(store, 3)
    kept = tmp_path / "models" / f"{hashlib.sha256(MODEL).hexdigest()}.safetensors"
    kept.parent.mkdir()
    kept.write_bytes(b"")
    assert await watcher.refresh()
    assert kept.read_bytes() == MODEL
