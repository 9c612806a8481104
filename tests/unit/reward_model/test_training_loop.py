"""The training task: when it trains, and what it publishes."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rlaif.bus.errors import BusUnavailableError
from rlaif.contracts.catalog import envelop
from rlaif.contracts.events import (
    ChampionChanged,
    EventData,
    RewardModelPublished,
    RewardModelRejected,
)
from rlaif.contracts.judging.comparisons import WantedComparisons
from rlaif.contracts.reward_models import GamingAlarm, GamingReason
from rlaif.reward_model.champions.demotion import Demotion
from rlaif.reward_model.champions.publishing import ROLLBACK_PIN
from rlaif.reward_model.champions.registry import Live, ModelRegistry
from rlaif.reward_model.champions.reward_hacking_monitor import RewardHackingMonitor
from rlaif.reward_model.labels.label_log import LabelLog
from rlaif.reward_model.learning.candidate import Candidate
from rlaif.reward_model.learning.settings import CandidateSettings, FitSettings, GateSettings
from rlaif.reward_model.metrics import RewardModelMetrics
from rlaif.reward_model.runtime import HistoryListener
from rlaif.reward_model.settings import RewardModelSettings
from rlaif.reward_model.status import Need
from rlaif.reward_model.training_loop import TrainingLoop
from rlaif.reward_model.training_process import Request, TrainingFailedError
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore, StoreUnavailableError
from rlaif.testing.data.events import run_iterated, run_started
from rlaif.testing.data.judging.candidates import train_here
from rlaif.testing.data.judging.comparisons import compared
from rlaif.testing.data.judging.scored_segments import play, write_scored
from rlaif.testing.publisher import RecordingPublisher
from rlaif.testing.waiting import eventually

NOW = datetime(2026, 1, 2, tzinfo=UTC)
# No network outranks a linear fit of the made-up game.
LINEAR_GAME = GateSettings(simple_margin=-1.0)
QUICK = CandidateSettings(fit=FitSettings(epochs=20, members=2), gate=LINEAR_GAME)
SIGNAL = play(episodes=8, each=8, signal=True, distractors=2, wrong=0.0, seed=1)
NOISE = play(episodes=6, each=6, signal=False, seed=3, run="noise")


class Publisher(RecordingPublisher):
    """Keeps changes of the champion apart."""

    def __init__(self) -> None:
        super().__init__()
        self.changes: list[ChampionChanged] = []

    async def publish(self, event: Any) -> bool:
        if isinstance(event, ChampionChanged):
            self.changes.append(event)
            return True
        else:
            return await super().publish(event)

    def versions(self) -> list[int]:
        return [item.version for item in self.published if isinstance(item, RewardModelPublished)]


class World:
    """One store and one publisher; processes come and go."""

    def __init__(self, store: ObjectStore, make: Callable[..., TrainingLoop]) -> None:
        self._make = make
        self.store = store
        self.publisher = Publisher()
        self.now = NOW
        self.registry = ModelRegistry(store, now=lambda: NOW)

    def write(self, segments: list[Any]) -> list[str]:
        return [write_scored(self.store, segment).score_key for segment in segments]

    def compare(self, first: str, second: str) -> None:
        """Judges said that the first is better."""
        digests = [
            hashlib.sha256(self.store.get(keys.score("config-1", name))).hexdigest()
            for name in (first, second)
        ]
        ids = {"first": first, "second": second}
        ids |= dict(zip(("first_score_sha256", "second_score_sha256"), digests, strict=True))
        record = compared("first", "first").model_copy(update=ids)
        key = keys.comparison("config-1", first, second)
        self.store.put(key, record.model_dump_json().encode())

    def process(self, settings: CandidateSettings = QUICK, **timing: Any) -> TrainingLoop:
        return self._make(
            self.store,
            publisher=self.publisher,
            registry=self.registry,
            settings=settings,
            now=lambda: self.now,
            models=self.store,
            **timing,
        )


@pytest.fixture
def world(file_store: ObjectStore, training_of) -> World:
    return World(file_store, training_of)


async def test_it_waits_for_enough_labels_and_says_what_is_missing(world):
    training = world.process()
    await training.step()
    assert training.status().waiting_for == (
        "0 labels, needs 24",
        "0 episodes, needs 4",
        "0 new labels, needs 12",
    )
    world.write(SIGNAL[:20])
    training.hint("")
    await training.step()
    assert training.status().waiting_for == ("20 labels, needs 24", "3 episodes, needs 4")
    assert Need(what="labels", found=20, least=24) in training.status().needs
    assert Need(what="new labels", found=20, least=12) in training.status().needs
    assert training.status().pairs is None
    assert world.publisher.published == []


async def test_a_signal_is_published_and_reported_once(world):
    world.write(SIGNAL)
    training = world.process()
    await training.step()
    await training.step()
    (event,) = world.publisher.published
    assert isinstance(event, RewardModelPublished)
    assert (event.version, event.labels, event.episodes) == (1, 64, 8)
    assert world.registry.live().event() == event
    status = training.status()
    assert (status.last_attempt.outcome, status.last_attempt.version) == ("published", 1)
    assert (status.labels, status.new_labels, status.state) == (64, 0, "idle")
    assert training.pairs()
    assert all(0 < pair.predicted < 1 for pair in training.pairs())
    assert {pair.side for pair in training.pairs()} == {"train", "heldout"}


@pytest.mark.parametrize("play", [SIGNAL, NOISE], ids=["published", "rejected"])
async def test_after_each_training_it_says_which_pairs_should_be_compared(world, play):
    world.write(play)
    await world.process().step()
    wanted = WantedComparisons.model_validate_json(world.store.get(keys.WANTED_COMPARISONS))
    known = {segment.segment_id for segment in play}
    assert wanted.judge_config == "config-1"
    assert wanted.pairs
    assert all({pair.first, pair.second} <= known for pair in wanted.pairs)


async def test_new_comparisons_of_old_labels_make_a_new_version(world):
    world.write(SIGNAL)
    training = world.process()
    await training.step()
    training.request()
    await training.step()
    assert training.status().last_attempt.outcome == "unchanged"
    world.compare(SIGNAL[0].segment_id, SIGNAL[1].segment_id)
    training.request()
    await training.step()
    assert training.status().last_attempt.outcome == "published"


async def test_pairs_are_exported_before_the_first_training_since_the_start(world):
    world.write(SIGNAL)
    first = world.process()
    assert first.pairs() == ()
    await first.step()
    again = world.process()
    await again.step()
    assert again.status().last_attempt is None
    without = [pair.model_copy(update={"predicted": None}) for pair in first.pairs()]
    assert [*again.pairs()] == without != []


async def test_what_was_compared_is_not_wanted_again(world):
    world.write(SIGNAL)
    training = world.process()
    await training.step()
    before = WantedComparisons.model_validate_json(world.store.get(keys.WANTED_COMPARISONS))
    pair = before.pairs[0]
    world.compare(pair.first, pair.second)
    training.request()
    await training.step()
    after = WantedComparisons.model_validate_json(world.store.get(keys.WANTED_COMPARISONS))
    assert (pair.first, pair.second) not in {(i.first, i.second) for i in after.pairs}


async def test_noise_is_rejected_with_reasons_and_nothing_goes_live(world):
    world.write(NOISE)
    training = world.process()
    await training.step()
    (event,) = world.publisher.published
    assert isinstance(event, RewardModelRejected)
    assert event.reasons == training.status().last_rejection.reasons
    assert (event.labels, event.episodes) == (36, 6)
    assert event.metrics == training.status().last_rejection.metrics
    assert world.registry.live() is None


async def test_it_trains_again_when_enough_labels_are_new(world):
    world.write(SIGNAL[:40])
    training = world.process()
    await training.step()
    first = training.status().last_attempt
    world.write(SIGNAL[40:48])
    await training.step()
    assert training.status().waiting_for == ("8 new labels, needs 12",)
    assert training.status().last_attempt is first
    world.write(SIGNAL[48:])
    await training.step()
    assert training.status().last_attempt is not first
    assert training.status().last_attempt.labels == 64


async def test_a_request_trains_now_and_the_gate_stays_the_same(world):
    world.write(SIGNAL[:10])
    training = world.process()
    training.request()
    await training.step()
    (event,) = world.publisher.published
    assert isinstance(event, RewardModelRejected)
    assert any("labels" in reason for reason in event.reasons)


async def test_a_restart_does_not_train_again_on_the_labels_of_the_champion(world):
    world.write(SIGNAL)
    await world.process().step()
    after = world.process()
    await after.step()
    assert after.status().last_attempt is None
    assert after.status().waiting_for == ("0 new labels, needs 12",)
    after.request()
    await after.step()
    assert after.status().last_attempt.outcome == "unchanged"
    assert world.registry.versions() == [1]


THREE_MEMBERS = replace(QUICK, fit=FitSettings(epochs=20, members=3))


async def test_changed_settings_make_another_model_of_the_same_labels(world):
    world.write(SIGNAL)
    await world.process().step()
    after = world.process(THREE_MEMBERS)
    await after.step()
    assert after.status().waiting_for == ("0 new labels, needs 12",)
    after.request()
    await after.step()
    assert after.status().last_attempt.outcome == "published"
    assert world.registry.manifest(2).spec.members == 3
    after.request()
    await after.step()
    assert after.status().last_attempt.outcome == "unchanged"


async def test_events_that_wait_are_reported_in_their_order(world):
    world.publisher.error = BusUnavailableError("NATS is away")
    training = world.process()
    training.request()
    world.write(SIGNAL[:10])
    await training.step()
    world.write(SIGNAL[10:])
    await training.step()
    world.publisher.error = None
    await training.step()
    assert [type(item) for item in world.publisher.published] == [
        RewardModelRejected,
        RewardModelPublished,
    ]


async def run_until(training: TrainingLoop, condition: Callable[[], bool], what: str) -> None:
    running = asyncio.create_task(training.run())
    try:
        await eventually(condition, what)
    finally:
        training.stop()
        await running


async def test_a_start_publishes_the_champion_again_under_the_same_id(world):
    world.write(SIGNAL)
    await world.process().step()
    await run_until(world.process(), lambda: len(world.publisher.published) == 2, "reported again")
    first, second = (envelop(item, source="t", time=NOW).id for item in world.publisher.published)
    assert first == second


async def test_an_event_wakes_it_early(world, monkeypatch):
    looks: list[bool] = []
    real = LabelLog.read_new

    def counting(self, hints=(), *, full):
        real(self, hints, full=full)
        looks.append(full)

    monkeypatch.setattr(LabelLog, "read_new", counting)
    training = world.process(poll_seconds=60.0, relist_seconds=60.0)
    running = asyncio.create_task(training.run())
    await eventually(lambda: bool(looks), "the first look")
    for segment in SIGNAL:
        scored = write_scored(world.store, segment)
        training.hint(scored.score_key)
    await eventually(lambda: world.publisher.versions() == [1], "version 1")
    training.stop()
    await running


async def test_an_outage_of_the_store_does_not_end_it(world, monkeypatch):
    world.write(SIGNAL)
    training = world.process(poll_seconds=0.01)
    real = LabelLog.read_new
    failures: list[set[str]] = []

    def failing(self, hints=(), *, full):
        if len(failures) < 3:
            failures.append(set(hints))
            raise StoreUnavailableError("away")
        real(self, hints, full=full)

    monkeypatch.setattr(LabelLog, "read_new", failing)
    training.hint("scores/config-1/a-hint.json")
    await run_until(training, lambda: world.publisher.versions() == [1], "version 1")
    # The hint is not lost with the look that failed.
    assert failures == [{"scores/config-1/a-hint.json"}] * 3


async def test_a_champion_of_another_layout_is_replaced_without_comparison(world):
    world.write(SIGNAL)
    training = world.process()
    await training.step()
    later = play(episodes=8, each=8, signal=True, seed=1, distractors=2, wrong=0.0, run="later")
    for segment in later:
        newer = type(segment)(**{**vars(segment), "env_step": segment.env_step + 10**6})
        write_scored(world.store, newer, layout_version="layout-2")
    await training.step()
    attempt = training.status().last_attempt
    assert attempt.metrics.champion_heldout_accuracy is None
    assert training.status().labels == 64
    assert attempt.outcome == "published", attempt.reasons
    assert world.registry.live().manifest.spec.layout_version == "layout-2"


def turned(segment: Any) -> Any:
    """The same play of a later run with the opposite scores."""
    values = {name: 1.0 - value for name, value in segment.values.items()}
    return type(segment)(**{**vars(segment), "values": values, "env_step": 10**6})


async def test_a_champion_against_which_newer_labels_speak_is_withdrawn_and_said_why(world):
    world.write(SIGNAL)
    training = world.process()
    await training.step()
    assert world.registry.live().pays
    later = play(episodes=12, each=8, signal=True, seed=5, distractors=2, wrong=0.0, run="later")
    for segment in later:
        write_scored(world.store, turned(segment), run_id="run-2",
                     created_at=NOW + timedelta(days=1))  # fmt: skip
    await training.step()
    assert training.status().last_attempt.outcome == "rejected"
    live = world.registry.live()
    assert not live.pays
    assert "newer labels" in live.champion.withdrawn
    assert training.status().demotion == live.champion.withdrawn
    reported = [item for item in world.publisher.published if isinstance(item, RewardModelRejected)]
    assert reported[-1].candidate_id == "version-1-activation-1"
    assert "none is live" in reported[-1].reasons[0]
    assert world.publisher.versions() == [1], "nothing is reported as live"


async def test_a_champion_that_newer_labels_agree_with_stays(world):
    world.write(SIGNAL)
    training = world.process()
    await training.step()
    later = play(episodes=8, each=8, signal=True, seed=5, distractors=2, wrong=0.0, run="later")
    for segment in later:
        write_scored(world.store, segment, run_id="run-2", created_at=NOW + timedelta(days=1))
    await training.step()
    assert world.registry.live().pays
    assert training.status().demotion is None


def test_the_settings_mean_what_the_domain_means_by_default():
    settings = RewardModelSettings()
    assert settings.candidate == CandidateSettings()


async def two_versions(world):
    world.write(SIGNAL[:48])
    training = world.process()
    await training.step()
    world.write(SIGNAL[48:])
    await training.step()
    assert world.publisher.versions() == [1, 2]
    return training


async def test_a_pinned_champion_stays_until_it_is_unpinned(world):
    world.write(SIGNAL[:48])
    training = world.process()
    await training.step()
    await training.champions.pin("release")
    world.write(SIGNAL[48:])
    await training.step()
    assert training.status().last_attempt.outcome == "held"
    assert world.registry.versions() == [1]
    await training.champions.unpin()
    training.request()
    await training.step()
    assert training.status().last_attempt.outcome == "published"
    assert world.registry.live().champion.version == 2
    assert not world.registry.live().champion.pinned


def alarm_of(version: int) -> GamingAlarm:
    return GamingAlarm(
        version=version,
        run_id="run-1",
        env_step=60,
        rise=0.5,
        reasons=(GamingReason.RAM_PROGRESS_FLAT,),
        description="RAM progress flat",
        raised_at=NOW,
    )


async def roll_back(training: TrainingLoop, version: int) -> Live | None:
    return await training.champions.roll_back(alarm_of(version))


async def test_an_alarm_rolls_back_to_the_version_before_and_pins_it(world):
    training = await two_versions(world)
    assert await roll_back(training, 1) is None, "it is not live"
    await roll_back(training, 2)
    live = world.registry.live().champion
    assert (live.version, live.pinned, live.pin_reason) == (1, True, alarm_of(2).description)
    assert world.publisher.versions() == [1, 2, 1]


async def test_a_roll_back_by_an_alarm_gives_way_after_a_while(world):
    training = await two_versions(world)
    await roll_back(training, 2)
    for passed, outcome, live in [(29, "held", 1), (31, "published", 3)]:
        world.now = NOW + timedelta(minutes=passed)
        world.write(
            play(episodes=4, each=8, signal=True, wrong=0.0, seed=passed, run=f"in-{passed}")
        )
        await training.step()
        assert training.status().last_attempt.outcome == outcome
        assert world.registry.live().champion.version == live


async def test_each_change_of_the_champion_and_its_pin_is_reported_with_its_cause(world):
    training = await two_versions(world)
    await training.champions.pin("release")
    await training.champions.unpin()
    await roll_back(training, 2)
    await training.champions.activate(2)
    demotion = Demotion(version=2, activation=4, reason="it does not hold", back_to=None)
    await training.champions.demote(demotion)
    assert [(each.version, each.why, each.pinned) for each in world.publisher.changes] == [
        (1, "gate", False),
        (2, "gate", False),
        (2, "person", True),
        (2, "person", False),
        (1, "watchdog", True),
        (2, "person", False),
        (2, "demotion", False),
    ]
    assert (
        world.publisher.changes[4].words
        == world.publisher.changes[4].pin_reason
        == alarm_of(2).description
    )
    assert world.publisher.changes[4].pinned_until == NOW + ROLLBACK_PIN
    assert world.publisher.changes[-1].withdrawn == "it does not hold"


async def test_a_start_publishes_the_champion_and_later_polls_publish_nothing(world):
    await (await two_versions(world)).champions.pin("release")
    world.publisher.changes.clear()
    again = world.process()
    await again.champions.heal()
    await again.champions.heal()
    (found,) = world.publisher.changes
    assert (found.version, found.why, found.pin_reason) == (2, "start", "release")


def gamed_history(activation: int) -> list[EventData]:
    """The stored history of a run whose potential rises while its game stands still."""
    return [
        ChampionChanged(version=2, activation=activation, why="gate", changed_at=NOW),
        run_started(),
        *(
            run_iterated(
                at, at + 1, gained=[2], potential_mean=at / 8, reward_model_version=2
            )
            for at in range(8)
        ),
    ]  # fmt: skip


def listener_of(training: TrainingLoop, history: Sequence[EventData]) -> HistoryListener:
    async def follow():
        for data in history:
            yield envelop(data, source="rlaif/test", time=NOW)

    monitor = RewardHackingMonitor(window_iterations=8, window_episodes=2)
    metrics = RewardModelMetrics(ServiceMetrics("reward-model"))
    return HistoryListener(follow, monitor, training, metrics)


async def test_the_watchdog_reads_the_stored_history_and_acts_once(world):
    training = await two_versions(world)
    history = gamed_history(training.champions.live.champion.activation)
    listener = listener_of(training, history)
    await listener.run()
    assert world.publisher.versions() == [1, 2, 1]
    assert listener.monitor.alarms == 1
    # A restarted service reads the same history; a person meanwhile decided otherwise.
    await training.champions.activate(2)
    again = listener_of(training, [*history, *world.publisher.changes])
    await again.run()
    assert training.champions.live.champion.version == 2
    assert again.monitor.alarms == 0


async def test_an_event_that_the_watchdog_cannot_fold_does_not_end_it(world, monkeypatch):
    training = await two_versions(world)
    listener = listener_of(
        training, [run_started(99), *gamed_history(training.champions.live.champion.activation)]
    )
    started = listener.monitor.started

    def fails_once(event):
        if event.env_step == 99:
            raise OverflowError("int too large")
        started(event)

    monkeypatch.setattr(listener.monitor, "started", fails_once)
    await listener.run()
    assert listener.monitor.alarms == 1


async def test_a_failed_training_is_reported_and_tried_thrice_then_with_new_labels(
    world: World, training_of
):
    tries: list[int] = []

    async def train(request: Request) -> Candidate:
        tries.append(len(request.labels))
        if len(tries) <= 3:
            raise TrainingFailedError("the process of the training ended (signal SIGKILL)")
        return await train_here(request)

    training = training_of(world.store, publisher=world.publisher, train=train)
    world.write(SIGNAL[:40])
    for _ in range(5):
        training.hint("")
        await training.step()
    assert tries == [40, 40, 40]
    assert training.failure == "the process of the training ended (signal SIGKILL)"
    assert training.status().state == "idle"
    assert training.status().waiting_for == ("0 new labels, needs 12",)
    assert world.publisher.published == []
    world.write(SIGNAL)
    training.hint("")
    await training.step()
    assert tries == [40, 40, 40, 64]
    assert training.failure is None
    assert world.publisher.versions() == [1]
