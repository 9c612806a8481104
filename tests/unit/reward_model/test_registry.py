"""The registry of published models: versions, roll-back, and healing after a crash at any step."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from rlaif.contracts.catalog import envelop
from rlaif.contracts.reward_models import RewardModelManifest
from rlaif.reward_model.champions import registry
from rlaif.reward_model.champions.registry import (
    CorruptRegistryError,
    Live,
    ModelRegistry,
)
from rlaif.reward_model.learning.gate.checks import Check
from rlaif.reward_net import artifact
from rlaif.reward_net.errors import RewardNetError
from rlaif.reward_net.potential import PotentialFunction
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore
from rlaif.testing.crashing import Crash, Writes, crashing
from rlaif.testing.data.judging.candidates import passed_candidate

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def registry_of(store: Any) -> ModelRegistry:
    return ModelRegistry(store, now=lambda: NOW)


def publish(store: Any, seed: int = 0) -> Live:
    return registry_of(store).publish(passed_candidate(seed), judge_config="config-1", seed=seed)


def event_id(live: Live) -> str:
    return envelop(live.event(), source="test", time=NOW).id


def check_whole(store: ObjectStore, live: Live) -> None:
    """What the trainer does with the champion."""
    data = store.get(live.champion.model_key)
    loaded = artifact.load(
        data, sha256=live.champion.model_sha256, layout_version=live.manifest.spec.layout_version
    )
    assert loaded.version == live.champion.version
    assert registry_of(store).live() == live


def test_the_first_version_is_1_and_each_next_one_names_its_parent(file_store):
    first, second = publish(file_store, 0), publish(file_store, 1)
    assert (first.champion.version, first.manifest.parent_version) == (1, None)
    assert (second.champion.version, second.manifest.parent_version) == (2, 1)
    assert [item.key for item in file_store.list("reward_model/epoch_1/")] == [
        "reward_model/epoch_1/manifest.json",
        "reward_model/epoch_1/rm.pt",
        "reward_model/epoch_1/rm.safetensors",
    ]
    check_whole(file_store, second)
    assert registry_of(file_store).versions() == [1, 2]


def test_manifests_that_were_used_last_are_in_memory_and_no_others(file_store, monkeypatch):
    monkeypatch.setattr(registry, "_MANIFESTS_KEPT", 2)
    for seed in range(3):
        publish(file_store, seed)
    reading, get, read = registry_of(file_store), file_store.get, []

    def counting(key):
        read.append(key)
        return get(key)

    monkeypatch.setattr(file_store, "get", counting)
    for version in (1, 2, 1, 3, 1, 2):
        assert reading.manifest(version).version == version
    assert [keys.reward_model_version(key) for key in read] == [1, 2, 3, 2]


def test_the_event_carries_what_the_manifest_says(file_store):
    event = publish(file_store).event()
    manifest = RewardModelManifest.model_validate_json(file_store.get(event.manifest_key))
    assert (event.version, event.model_sha256) == (1, manifest.model_sha256)
    assert (event.labels, event.episodes, event.heldout_pairs) == (50, 6, 40)
    assert event.layout_version == "layout-1"


def test_what_did_not_pass_is_never_published(file_store):
    with pytest.raises(ValueError, match="did not pass"):
        registry_of(file_store).publish(
            replace(passed_candidate(0), checks=(Check("x", "Accuracy", 0.1, bound=0.5),)),
            judge_config="c",
            seed=0,
        )
    assert list(file_store.list()) == []


def test_going_back_is_a_new_event_and_leaves_the_versions_alone(file_store):
    first, second = publish(file_store, 0), publish(file_store, 1)
    back = registry_of(file_store).activate(1)
    assert (back.champion.version, back.champion.activation) == (1, 3)
    assert len({event_id(first), event_id(second), event_id(back)}) == 3
    check_whole(file_store, back)
    third = publish(file_store, 2)
    assert (third.champion.version, third.manifest.parent_version) == (3, 1)


def test_a_version_whose_file_was_changed_cannot_be_activated(file_store):
    first, second = publish(file_store, 0), publish(file_store, 1)
    file_store.put(first.manifest.model_key, file_store.get(second.manifest.model_key))
    with pytest.raises(RewardNetError, match="hash_mismatch"):
        registry_of(file_store).activate(1)
    assert registry_of(file_store).live() == second


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    "at", ["rm.safetensors", "rm.pt", "manifest.json", "champion.json", "activations/"]
)
@pytest.mark.parametrize("earlier", [False, True], ids=["first-version", "second-version"])
def test_a_crash_at_any_step_heals(file_store, at, after, earlier):
    if earlier:
        publish(file_store, 0)
    with pytest.raises(Crash):
        publish(crashing(file_store, at, after=after), 1)
    committed = at in ("champion.json", "activations/") or (at == "manifest.json" and after)
    healed = registry_of(file_store).heal()
    version = int(earlier) + int(committed)
    assert (healed.champion.version if healed else 0) == version
    if healed:
        check_whole(file_store, healed)
        # Healing again finds nothing to do, and publishes the same activation.
        again = registry_of(file_store).heal()
        assert again is not None
        assert event_id(again) == event_id(healed)
    # The same labels give the same network, which takes the place of the orphan.
    again = publish(file_store, 1 if not committed else 2)
    assert again.champion.version == version + 1
    check_whole(file_store, again)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("pin", [False, True], ids=["activate", "pin"])
def test_a_crash_in_a_change_of_the_champion_leaves_the_old_or_the_new(file_store, pin, after):
    publish(file_store, 0)
    publish(file_store, 1)
    registry = registry_of(crashing(file_store, "champion.json", after=after))
    with pytest.raises(Crash):
        registry.pin("good") if pin else registry.activate(1, pin_reason="bad")
    live = registry_of(file_store).heal()
    assert live is not None
    assert live.champion.version == (1 if after and not pin else 2)
    assert live.champion.pinned is after
    check_whole(file_store, live)


def test_an_orphan_of_another_network_costs_a_version_and_is_never_overwritten(file_store):
    with pytest.raises(Crash):
        publish(crashing(file_store, "rm.safetensors", after=True), 1)
    orphan = file_store.get(keys.reward_model(1, "rm.safetensors"))
    live = publish(file_store, 2)
    assert live.champion.version == 2
    assert file_store.get(keys.reward_model(1, "rm.safetensors")) == orphan
    assert registry_of(file_store).versions() == [2]
    check_whole(file_store, live)


def test_healing_does_not_undo_a_person_who_went_back(file_store):
    publish(file_store, 0)
    publish(file_store, 1)
    registry_of(file_store).activate(1)
    healed = registry_of(file_store).heal()
    assert healed is not None
    assert healed.champion.version == 1


def test_a_publication_cut_off_after_a_roll_back_is_healed(file_store):
    publish(file_store, 0)
    publish(file_store, 1)
    registry_of(file_store).activate(1)
    with pytest.raises(Crash):
        publish(crashing(file_store, "champion.json", after=False), 2)
    healed = registry_of(file_store).heal()
    assert healed is not None
    assert (healed.champion.version, healed.champion.activation) == (3, 4)


def test_a_commit_with_a_lost_answer_is_recognized_as_our_own(file_store):
    class Forgetful(Writes):
        def write(self, method: str, *given: Any, **options: Any) -> Any:
            done = super().write(method, *given, **options)
            return False if method == "put_once" else done

    live = publish(Forgetful(file_store))
    assert live.champion.version == 1


def test_the_published_file_holds_the_answers_to_the_candidates_probes(file_store):
    rows = np.random.default_rng(0).random((5, 128), dtype=np.float32)
    net = passed_candidate(0).net
    assert net is not None
    probes = artifact.ProbeValues.of(PotentialFunction(net), rows)
    live = registry_of(file_store).publish(
        replace(passed_candidate(0), probes=probes), judge_config="mock-1", seed=0
    )
    data = file_store.get(live.manifest.model_key)
    assert data == artifact.save(
        net, live.manifest.spec, version=live.manifest.version, probes=probes
    )
    artifact.load(data, sha256=live.manifest.model_sha256, layout_version="layout-1")


def test_a_withdrawn_champion_pays_nothing_and_stays_withdrawn(file_store):
    before = publish(file_store)
    live = registry_of(file_store).withdraw("it pays for menus")
    assert not live.pays
    assert live.champion.withdrawn == "it pays for menus"
    assert live.champion.activation == before.champion.activation + 1
    assert registry_of(file_store).heal() == live
    assert registry_of(file_store).sound()
    file_store.delete_many([keys.CHAMPION])
    assert registry_of(file_store).heal() == live


def test_after_a_withdrawal_the_next_version_or_a_person_makes_one_live(file_store):
    publish(file_store)
    registry_of(file_store).withdraw("it pays for menus")
    again = registry_of(file_store).activate(1)
    assert again.pays
    registry_of(file_store).withdraw("it pays for menus")
    following = publish(file_store, 1)
    assert following.pays
    assert following.manifest.version == 2
    assert following.manifest.parent_version is None, "there is nothing good to go back to"


def test_a_champion_of_an_older_writer_is_read(file_store):
    live = publish(file_store)
    old = json.loads(file_store.get(keys.CHAMPION))
    del old["activation"], old["newest_version"]
    file_store.put(keys.CHAMPION, json.dumps(old).encode())
    found = registry_of(file_store).heal()
    assert found is not None
    assert found == replace(live, champion=found.champion)
    assert found.champion.activation == 1


def test_a_store_that_takes_no_version_is_an_error_and_no_endless_loop(file_store):
    class Refusing(Writes):
        def write(self, method: str, key: str, _data: bytes, *given: Any, **options: Any) -> Any:
            return super().write(method, key, b"another's", *given, **options) and False

    with pytest.raises(CorruptRegistryError, match="versions 1 to 20"):
        publish(Refusing(file_store))
