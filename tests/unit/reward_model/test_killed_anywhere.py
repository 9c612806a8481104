"""Killed before, during or after any write: a trainer never sees half a model."""

from datetime import UTC, datetime
from typing import Any

import pytest

from rlaif.bus.outbox import Outbox
from rlaif.contracts.events import CloudEvent, EventData, RewardModelPublished
from rlaif.contracts.reward_models import Champion
from rlaif.reward_model import training_loop as module
from rlaif.reward_model.champions.registry import ModelRegistry
from rlaif.reward_model.labels.label_log import LabelLog
from rlaif.reward_model.learning.candidate import train_candidate
from rlaif.reward_model.learning.settings import CandidateSettings, FitSettings, GateSettings
from rlaif.reward_model.metrics import RewardModelMetrics
from rlaif.reward_model.settings import TrainingSettings
from rlaif.reward_model.training_loop import TrainingLoop
from rlaif.reward_net import artifact
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage import keys
from rlaif.storage.file import FileStore
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore
from rlaif.testing.data.scored_segments import play, write_scored
from rlaif.testing.publisher import RecordingPublisher

# No network outranks a linear fit of the made-up game.
LINEAR_GAME = GateSettings(simple_margin=-1.0)
NOW = datetime(2026, 1, 2, tzinfo=UTC)
SETTINGS = CandidateSettings(fit=FitSettings(epochs=20, members=2), gate=LINEAR_GAME)
SEGMENTS = play(episodes=8, each=8, signal=True, distractors=2, wrong=0.0, seed=1)
WRITES = 6
"""Of one publication: model, rm.pt, manifest, champion, its copy, and the event."""


CANDIDATES: dict[Any, Any] = {}


class Killed(BaseException):
    """Nothing in the service may catch it: the process is gone."""


class Fate:
    """Kills at the n-th write, before it is done or after."""

    def __init__(self, at: int, *, after: bool) -> None:
        self.left, self.after, self.dead = at, after, False

    def write(self, done: Any) -> Any:
        if self.dead:
            raise Killed
        self.left -= 1
        if self.left == 0:
            self.dead = True
            if self.after:
                done()
            raise Killed
        return done()


class DyingStore:
    """A store whose process dies at a write."""

    def __init__(self, store: ObjectStore, fate: Fate) -> None:
        self._store, self._fate = store, fate

    def put(self, *args: Any, **kwargs: Any) -> Any:
        return self._fate.write(lambda: self._store.put(*args, **kwargs))

    def put_once(self, *args: Any, **kwargs: Any) -> Any:
        return self._fate.write(lambda: self._store.put_once(*args, **kwargs))

    def put_over(self, *args: Any, **kwargs: Any) -> Any:
        return self._fate.write(lambda: self._store.put_over(*args, **kwargs))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class DyingPublisher(RecordingPublisher):
    """Its process dies at a publication."""

    def __init__(self, fate: Fate) -> None:
        super().__init__()
        self._fate = fate

    async def publish(self, data: EventData, *, cause: CloudEvent[Any] | None = None) -> bool:
        self._fate.write(lambda: self.published.append(data))
        return True


def process(store: Any, publisher: Any) -> TrainingLoop:
    return TrainingLoop(
        LabelLog(store, judge_config=None, most_labels=500),
        ModelRegistry(store, now=lambda: NOW),
        Outbox(publisher),
        SETTINGS,
        TrainingSettings(relist_seconds=1e-9),
        RewardModelMetrics(ServiceMetrics("reward-model")),
        now=lambda: NOW,
    )


def seen_by_a_trainer(store: ObjectStore) -> int | None:
    """The version that a trainer would load now; fails when it would be half a model."""
    try:
        champion = Champion.model_validate_json(store.get(keys.CHAMPION))
    except ObjectNotFoundError:
        return None
    data = store.get(champion.model_key)
    loaded = artifact.load(data, sha256=champion.model_sha256, layout_version="layout-1")
    store.get(champion.manifest_key)
    assert loaded.version == champion.version
    return champion.version


@pytest.fixture(autouse=True)
def _trained_once(monkeypatch):
    """Fits the same labels once for all points of death; the fit writes nothing."""

    def remembered(labels, *, settings, champion):
        key = (tuple(sorted(item.segment_id for item in labels)), champion is None)
        if key not in CANDIDATES:
            CANDIDATES[key] = train_candidate(labels, settings=settings, champion=champion)
        return CANDIDATES[key]

    monkeypatch.setattr(module, "train_candidate", remembered)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(1, WRITES + 1))
async def test_a_first_publication_that_is_killed_is_whole_or_not_there(tmp_path, at, after):
    store = FileStore(tmp_path)
    for segment in SEGMENTS[:48]:
        write_scored(store, segment)
    fate = Fate(at, after=after)
    dying = process(DyingStore(store, fate), DyingPublisher(fate))
    with pytest.raises(Killed):
        await dying.step()
    assert seen_by_a_trainer(store) in (None, 1)
    await reborn(store)
    assert seen_by_a_trainer(store) == 1


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(1, WRITES + 1))
async def test_a_later_publication_that_is_killed_leaves_the_old_model_or_the_new(
    tmp_path, at, after
):
    store = FileStore(tmp_path)
    for segment in SEGMENTS[:48]:
        write_scored(store, segment)
    await process(store, RecordingPublisher()).step()
    assert seen_by_a_trainer(store) == 1
    for segment in SEGMENTS[48:]:
        write_scored(store, segment)
    fate = Fate(at, after=after)
    with pytest.raises(Killed):
        await process(DyingStore(store, fate), DyingPublisher(fate)).step()
    assert seen_by_a_trainer(store) in (1, 2)
    await reborn(store)
    assert seen_by_a_trainer(store) == 2


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("act", ["activate", "pin"])
async def test_a_change_of_the_champion_that_is_killed_happened_or_did_not(tmp_path, act, after):
    store = FileStore(tmp_path)
    for chosen in (SEGMENTS[:48], SEGMENTS):
        for segment in chosen:
            write_scored(store, segment)
        await process(store, RecordingPublisher()).step()
    assert seen_by_a_trainer(store) == 2
    fate = Fate(1, after=after)
    dying = process(DyingStore(store, fate), DyingPublisher(fate))
    with pytest.raises(Killed):
        await (
            dying.champions.activate(1, pin_reason="bad")
            if act == "activate"
            else dying.champions.pin("good")
        )
    assert seen_by_a_trainer(store) == (1 if act == "activate" and after else 2)
    champion = Champion.model_validate_json(store.get(keys.CHAMPION))
    assert champion.pinned is after


async def reborn(store: ObjectStore) -> None:
    """A new process on the same store finishes what the dead one began, and tells of it."""
    publisher = RecordingPublisher()
    training = process(store, publisher)
    training.stop()
    await training.run()
    await training.step()
    await training.step()
    live = ModelRegistry(store, now=lambda: NOW).live()
    assert live is not None
    told = [item for item in publisher.published if isinstance(item, RewardModelPublished)]
    assert told
    assert told[-1] == live.event()
