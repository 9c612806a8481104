"""`champion.json` is the one object that is replaced: whatever stands there, it is rebuilt."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rlaif.contracts.events import RewardModelPublished
from rlaif.contracts.reward_models import Champion
from rlaif.reward_model.champions.registry import CorruptChampionError, Live, ModelRegistry
from rlaif.storage import keys
from rlaif.storage.bounds import size_limit
from rlaif.storage.ports import ObjectStore, StoreUnavailableError
from rlaif.testing.data.judging.candidates import passed_candidate
from rlaif.testing.data.junk import JUNK, spoiled
from rlaif.testing.publisher import RecordingPublisher

NOW = datetime(2026, 1, 2, tzinfo=UTC)
UNTIL = NOW + timedelta(minutes=30)


def registry_of(store: Any) -> ModelRegistry:
    return ModelRegistry(store, now=lambda: NOW)


def publish(store: Any, seed: int) -> Live:
    return registry_of(store).publish(passed_candidate(seed), judge_config="judge-1", seed=17)


@pytest.fixture
def store(file_store: ObjectStore) -> ObjectStore:
    """Three versions; a person rolled back to the second and pinned it."""
    for seed in range(3):
        publish(file_store, seed)
    registry_of(file_store).activate(2, pin_reason="v3 is gamed", pinned_until=UNTIL)
    return file_store


def stored(store: ObjectStore) -> Champion:
    return Champion.model_validate_json(store.get(keys.CHAMPION))


@pytest.mark.parametrize("kind", JUNK)
def test_a_champion_of_junk_is_rebuilt_with_its_roll_back_and_its_pin(store, kind, caplog):
    before = stored(store)
    store.put(keys.CHAMPION, JUNK[kind])
    registry = registry_of(store)
    with pytest.raises(CorruptChampionError, match=keys.CHAMPION):
        registry.live()
    assert not registry.sound()
    live = registry.heal()
    assert live is not None
    assert stored(store) == live.champion == before
    assert (before.version, before.pin_reason, before.pinned_until) == (2, "v3 is gamed", UNTIL)
    assert "rebuilt from activation 4" in caplog.text
    assert registry.sound()


def test_a_champion_that_is_too_large_to_read_is_rebuilt(store):
    before = stored(store)
    store.put(keys.CHAMPION, bytes(size_limit(keys.CHAMPION) + 1))
    registry = registry_of(store)
    assert not registry.sound()
    registry.heal()
    assert stored(store) == before


@pytest.mark.parametrize("field", ["version", "activation"])
def test_a_champion_with_one_spoiled_field_is_used_or_rebuilt(store, field):
    before = stored(store)
    for kind, data in spoiled(store.get(keys.CHAMPION), field).items():
        store.put(keys.CHAMPION, data)
        live = registry_of(store).heal()
        assert live is not None, kind
        assert live.champion.version == before.version, kind
        assert live.champion.pinned, kind
        publishable = registry_of(store).live()
        assert publishable is not None, kind
        publishable.event()


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 3},
        {"model_key": "reward_model/epoch_3/rm.safetensors"},
        {"model_sha256": "0" * 64},
        {"manifest_key": "../manifest.json"},
    ],
    ids=str,
)
def test_a_champion_that_contradicts_its_version_is_rebuilt(store, changes):
    before = stored(store)
    store.put(keys.CHAMPION, before.model_copy(update=changes).model_dump_json().encode())
    registry_of(store).heal()
    assert stored(store) == before


def test_a_champion_that_was_deleted_is_rebuilt(store):
    before = stored(store)
    store.delete_many([keys.CHAMPION])
    assert not registry_of(store).sound()
    registry_of(store).heal()
    assert stored(store) == before


@pytest.mark.parametrize("name", ["manifest.json", "rm.safetensors"])
def test_a_version_whose_files_are_junk_is_passed_over(store, name):
    store.put(keys.CHAMPION, b"")
    store.put(keys.reward_model(2, name), JUNK["nested"])
    live = registry_of(store).heal()
    assert live is not None
    assert live.champion.version == 3


def test_without_any_copy_the_newest_usable_version_is_live_and_it_is_said(store, caplog):
    store.delete_many([info.key for info in store.list(keys.ACTIVATIONS)])
    store.put(keys.CHAMPION, b"")
    store.put(keys.reward_model(3, "rm.safetensors"), b"")
    live = registry_of(store).heal()
    assert live is not None
    assert (live.champion.version, live.champion.pinned) == (2, False)
    assert "an earlier rollback or pin is lost" in caplog.text


def test_numbers_of_activations_continue_where_the_copies_ended(store):
    for number in range(1, 5):
        store.put(keys.activation(number), b"junk")
    store.put(keys.CHAMPION, b"junk")
    live = registry_of(store).heal()
    assert live is not None
    assert live.champion.activation == 5


@pytest.mark.parametrize("kind", JUNK)
def test_junk_where_nothing_was_published_is_no_champion(file_store, kind):
    file_store.put(keys.CHAMPION, JUNK[kind])
    assert registry_of(file_store).heal() is None
    assert publish(file_store, 0).champion.version == 1


def test_where_no_version_can_be_used_the_next_one_is_published(store):
    store.put(keys.CHAMPION, b"")
    for version in (1, 2, 3):
        store.put(keys.reward_model(version, "rm.safetensors"), b"")
    assert registry_of(store).heal() is None
    assert publish(store, 9).champion.version == 4


def test_a_store_without_copies_gets_one_at_the_next_start(store):
    store.delete_many([info.key for info in store.list(keys.ACTIVATIONS)])
    registry_of(store).heal()
    assert Champion.model_validate_json(store.get(keys.activation(4))) == stored(store)


def test_a_copy_that_cannot_be_written_does_not_undo_a_publication(file_store):
    class NoCopies:
        def put_once(self, key: str, data: bytes, **options: Any) -> bool:
            if key.startswith(keys.ACTIVATIONS):
                raise StoreUnavailableError("no answer")
            return file_store.put_once(key, data, **options)

        def __getattr__(self, name: str) -> Any:
            return getattr(file_store, name)

    assert publish(NoCopies(), 0).champion.version == 1
    assert stored(file_store).version == 1


async def test_a_champion_that_is_lost_while_the_service_runs_is_rebuilt_and_published(
    store, training_of
):
    publisher = RecordingPublisher()
    training = training_of(store, publisher=publisher)
    await training.step()
    before = stored(store)
    store.put(keys.CHAMPION, JUNK["nested"])
    await training.step()
    assert stored(store) == before
    assert training.champions.issue is None
    events = [item for item in publisher.published if isinstance(item, RewardModelPublished)]
    assert [item.version for item in events] == [2]


async def test_a_champion_that_cannot_be_rebuilt_now_is_reported(store, training_of):
    class ReadOnly:
        def put_over(self, key: str, data: bytes, tag: str, **options: Any) -> bool:
            raise StoreUnavailableError("read only")

        def __getattr__(self, name: str) -> Any:
            return getattr(store, name)

    training = training_of(ReadOnly())
    store.put(keys.CHAMPION, b"")
    with pytest.raises(StoreUnavailableError):
        await training.step()
    assert training.champions.issue is not None
    assert keys.CHAMPION in training.champions.issue


async def test_a_start_on_junk_ends_ready(store, training_of):
    before = stored(store)
    store.put(keys.CHAMPION, JUNK["binary"])
    training = training_of(store)
    running = asyncio.create_task(training.run())
    training.stop()
    await running
    assert stored(store) == before
