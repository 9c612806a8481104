"""Two processes that change the champion at once: neither undoes what the other did, unseen."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from rlaif.contracts.reward_models import Champion
from rlaif.reward_model.champions.registry import ChampionConflictError, ModelRegistry
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.judging.candidates import passed_candidate

NOW = datetime(2026, 1, 2, tzinfo=UTC)


class Meanwhile:
    """A store where another process acts just before the champion is written here."""

    def __init__(self, store: ObjectStore, act: Callable[[], object]) -> None:
        self._store = store
        self._act: Callable[[], object] | None = act

    def put_once(self, key: str, data: bytes, **options: Any) -> bool:
        self._before(key)
        return self._store.put_once(key, data, **options)

    def put_over(self, key: str, data: bytes, tag: str, **options: Any) -> bool:
        self._before(key)
        return self._store.put_over(key, data, tag, **options)

    def put(self, key: str, data: bytes, **options: Any) -> None:
        self._before(key)
        self._store.put(key, data, **options)

    def _before(self, key: str) -> None:
        act, self._act = (self._act, None) if key == keys.CHAMPION else (None, self._act)
        if act is not None:
            act()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@pytest.fixture(params=["file", "s3"])
def store(request: pytest.FixtureRequest) -> ObjectStore:
    found: ObjectStore = request.getfixturevalue(
        {"file": "file_store", "s3": "models_store"}[request.param]
    )
    return found


def registry_of(store: Any) -> ModelRegistry:
    return ModelRegistry(store, now=lambda: NOW)


def publish(registry: ModelRegistry, seed: int) -> None:
    registry.publish(passed_candidate(seed), judge_config="config-1", seed=seed)


def stored(store: ObjectStore) -> Champion:
    return Champion.model_validate_json(store.get(keys.CHAMPION))


def test_a_candidate_does_not_replace_a_champion_that_was_pinned_meanwhile(
    store: ObjectStore,
) -> None:
    other = registry_of(store)
    publish(other, 1)
    here = registry_of(Meanwhile(store, lambda: other.pin("a person said so")))
    with pytest.raises(ChampionConflictError, match="version 2 is not live"):
        publish(here, 2)
    assert (stored(store).version, stored(store).pin_reason) == (1, "a person said so")
    # The version exists; it goes live when nothing holds the champion any more.
    healed = registry_of(store).heal()
    assert healed is not None
    assert (healed.champion.version, healed.champion.pinned) == (1, True)
    other.unpin()
    healed = registry_of(store).heal()
    assert healed is not None
    assert healed.champion.version == 2


def test_of_two_first_publications_one_gets_a_conflict(store: ObjectStore) -> None:
    other = registry_of(store)
    here = registry_of(Meanwhile(store, lambda: publish(other, 2)))
    with pytest.raises(ChampionConflictError, match="version 1 is not live"):
        publish(here, 1)
    assert (stored(store).version, other.versions()) == (2, [1, 2])
    healed = here.heal()
    assert healed is not None
    assert healed.champion == stored(store)


@pytest.mark.parametrize(
    "change",
    [
        lambda registry: registry.activate(1),
        lambda registry: registry.withdraw("it is gamed"),
        lambda registry: registry.pin("it is good"),
        lambda registry: registry.unpin(),
    ],
    ids=["activate", "withdraw", "pin", "unpin"],
)
def test_no_change_overwrites_a_publication_that_it_has_not_seen(
    store: ObjectStore, change: Callable[[ModelRegistry], object]
) -> None:
    other = registry_of(store)
    publish(other, 1)
    publish(other, 2)
    here = registry_of(Meanwhile(store, lambda: publish(other, 3)))
    with pytest.raises(ChampionConflictError):
        change(here)
    assert (stored(store).version, stored(store).activation) == (3, 3)
    change(registry_of(store))  # after a look it may


def test_of_two_that_rebuild_a_lost_champion_one_does(store: ObjectStore) -> None:
    other = registry_of(store)
    publish(other, 1)
    for loss in (
        lambda: store.put(keys.CHAMPION, b"junk"),
        lambda: store.delete_many([keys.CHAMPION]),
    ):
        loss()
        here = registry_of(Meanwhile(store, lambda: (other.heal(), other.pin("now"))))
        with pytest.raises(ChampionConflictError):
            here.heal()
        assert stored(store).pin_reason == "now"
        other.unpin()


def test_a_write_whose_answer_was_lost_is_not_taken_for_anothers(store: ObjectStore) -> None:
    class AnswerLost:
        """The request arrives, its answer does not, and it is sent again."""

        def put_over(self, key: str, data: bytes, tag: str, **options: Any) -> bool:
            store.put_over(key, data, tag, **options)
            return store.put_over(key, data, tag, **options)

        def __getattr__(self, name: str) -> Any:
            return getattr(store, name)

    publish(registry_of(store), 1)
    registry_of(AnswerLost()).pin("kept")
    assert stored(store).pin_reason == "kept"
