import json
from datetime import timedelta
from itertools import permutations

from rlaif.contracts.catalog import envelop
from rlaif.contracts.events import CloudEvent, EventData
from rlaif.contracts.judging.scores import CriterionScore, ScoreRecord
from rlaif.contracts.telemetry.readings import WatchedPay
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.read_model.sections import SECTIONS
from rlaif.testing.data.events import (
    NOON,
    dead_letter_of,
    reward_model_published,
    reward_model_rejected,
    run_loaded,
    segment_captured,
    segment_exported,
    segment_scored,
)
from rlaif.testing.data.judging.scores import judge_call, score_record
from rlaif.testing.data.readings import reward_model_status, training_progress


def at(seconds: float, data: EventData) -> CloudEvent[EventData]:
    return envelop(data, source="rlaif/test", time=NOON + timedelta(seconds=seconds))


def fold(*events: CloudEvent[EventData]) -> HudState:
    state = HudState(epoch="e")
    state.streams_opened()
    for event in events:
        state.apply_event(event)
    return state


def score_with_calls(segment_id: str = "segment-1") -> ScoreRecord:
    calls = [("ok", "Opened the chest."), ("ok", "Another vote."), ("timeout", None)]
    return score_record(
        segment_id=segment_id,
        criteria={
            "progress": CriterionScore(value=1, votes=(2, 2, 1), agreement=2 / 3, judge="state"),
            "dialog": CriterionScore(value=0.5, votes=(1, 1, 1), agreement=1, judge="state"),
        },
        abstentions={"novelty": "timed out"},
        calls=tuple(
            judge_call(vote=vote, seed=vote, outcome=outcome, rationale=rationale)
            for vote, (outcome, rationale) in enumerate(calls)
        ),
        env_step=5000,
        created_at=NOON,
    )


def read_scores(state: HudState) -> HudState:
    """The shell's part: every score object that is asked for is read."""
    for unread in state.segments.unread(100):
        state.apply_score(unread, score_record(segment_id=unread.segment_id))
    return state


def test_an_empty_stream_counts_zero_once_it_is_followed() -> None:
    state = HudState(epoch="e")
    state.streams_opened()
    assert state.snapshot(NOON).loop.captured == 0
    assert state.snapshot(NOON).dead_letters.count == 0


def test_events_in_any_order_give_the_same_row() -> None:
    events = [at(1, segment_captured()), at(2, segment_exported()), at(3, segment_scored())]
    rows = {
        fold(*order).segments.get("segment-1").model_dump_json()  # type: ignore[union-attr]  # the row is there
        for order in permutations(events)
    }
    assert len(rows) == 1
    row = json.loads(rows.pop())
    assert (row["env_step"], row["frames"], row["weighted"]) == (4096, 300, 0.65)
    assert row["captured_at"] < row["exported_at"] < row["scored_at"]


def test_a_segment_without_a_score_is_counted_and_stays_null() -> None:
    state = read_scores(fold(at(1, segment_scored(weighted=None))))
    snapshot = state.snapshot(NOON)
    assert snapshot.loop.without_score == 1
    assert snapshot.segments[0].weighted is None
    assert "no score" in snapshot.events[-1].text


def test_the_newest_of_two_judge_configurations_is_shown_and_the_segment_counted_once() -> None:
    newer = at(9, segment_scored(weighted=0.9, judge_config="config-2"))
    older = at(5, segment_scored(weighted=0.1, judge_config="config-1"))
    for order in permutations([newer, older]):
        snapshot = read_scores(fold(*order)).snapshot(NOON)
        assert snapshot.segments[0].weighted == 0.9
        assert snapshot.loop.scored == 1


def test_a_score_object_fills_in_criteria_agreement_and_words() -> None:
    state = fold(at(1, segment_scored()))
    [unread] = state.segments.unread(10)
    state.apply_score(unread, score_with_calls())
    row = state.snapshot(NOON).segments[0]
    assert row.score is not None
    assert row.score.criteria["progress"].value == 1
    assert row.score.agreement == (2 / 3 + 1) / 2
    assert [words.text for words in row.score.rationales] == ["Opened the chest."]
    assert row.score.calls == 3
    assert row.env_step == 5000
    assert state.segments.unread(10) == []


def test_an_unreadable_score_object_says_why_and_is_not_asked_for_again() -> None:
    state = fold(at(1, segment_scored()))
    state.segments.score_read(state.segments.unread(10)[0], None, problem="it is gone")
    assert state.snapshot(NOON).segments[0].score_problem == "it is gone"
    assert state.segments.unread(10) == []


def test_an_answer_for_an_overtaken_score_is_dropped() -> None:
    state = fold(at(1, segment_scored()))
    [old] = state.segments.unread(10)
    state.apply_event(at(2, segment_scored(judge_config="config-2")))
    state.apply_score(old, score_with_calls())
    row = state.segments.get("segment-1")
    assert row is not None
    assert row.score is None
    assert len(state.segments.unread(10)) == 1


def test_going_back_to_an_old_version_makes_it_the_champion_again() -> None:
    back = reward_model_published(1).model_copy(update={"activation": 3})
    second = reward_model_published(2).model_copy(update={"activation": 2})
    events = [at(1, reward_model_published(1)), at(2, second), at(3, back)]
    for order in permutations(events):
        state = fold(*order)
        snapshot = state.snapshot(NOON)
        champion = snapshot.reward_models.champion
        assert champion is not None
        assert (champion.version, champion.since) == (1, NOON + timedelta(seconds=3))
        first = snapshot.reward_models.published[1]
        assert first.published_at == NOON + timedelta(seconds=1)
        state.apply_event(at(99, back))
        assert state.snapshot(NOON) == snapshot, "a repeated event changes nothing"


FORGED = reward_model_published(999).model_copy(update={"activation": 999})


def test_the_champion_is_the_one_that_the_service_reports_whatever_events_claim() -> None:
    state = fold(at(1, reward_model_published(1)), at(2, FORGED))
    live = reward_model_status(champion_version=1, activation=1)
    state.apply_reading(live, NOON)
    state.apply_event(at(5 * 365 * 86_400, FORGED.model_copy(update={"activation": 2**53})))
    champion = state.snapshot(NOON).reward_models.champion
    assert champion is not None
    assert champion.version == 1
    state.apply_reading(live.model_copy(update={"champion_version": None}), NOON)
    assert state.snapshot(NOON).reward_models.champion is None


def test_before_the_service_reports_the_event_that_was_stored_last_counts() -> None:
    state = fold(at(1, FORGED), at(2, reward_model_published(1)))
    champion = state.snapshot(NOON).reward_models.champion
    assert champion is not None
    assert champion.version == 1


def test_a_rejected_candidate_is_listed_with_its_reasons() -> None:
    state = fold(at(1, reward_model_rejected()), at(1, reward_model_rejected()))
    models = state.snapshot(NOON).reward_models
    assert models.rejected_count == 1
    assert [each.reasons for each in state.models.rejections()] == [("heldout_accuracy",)]


def test_the_version_that_the_trainer_uses_is_marked_with_its_step() -> None:
    state = fold(at(1, reward_model_published(1)))
    state.apply_reading(
        training_progress(reward_model_version=1, reward_model_loaded_at_step=4000), NOON
    )
    [model] = state.snapshot(NOON).reward_models.published
    assert (model.in_use, model.loaded_at_steps) == (True, (4000,))
    state.apply_event(at(2, run_loaded(1, 4000)))
    [model] = state.snapshot(NOON).reward_models.published
    assert model.loaded_at_steps == (4000,), "the event reports the same load"
    assert "uses reward model v1 since step 4,000" in state.snapshot(NOON).events[-1].text


def test_counts_are_those_of_the_trainers_run() -> None:
    other = segment_captured("segment-9").model_copy(update={"run_id": "run-0"})
    state = fold(at(1, segment_captured()), at(2, other))
    assert state.snapshot(NOON).loop.run_id == "run-0"
    state.apply_reading(training_progress(), NOON)
    loop = state.snapshot(NOON).loop
    assert (loop.run_id, loop.captured) == ("run-1", 1)


def test_dead_letters_are_counted_once_and_logged() -> None:
    state = fold(at(1, dead_letter_of()), at(1, dead_letter_of()))
    assert state.snapshot(NOON).dead_letters.count == 1
    line = state.snapshot(NOON).events[-1]
    assert line.level == "warning"
    assert "corrupt_capture" in line.text


def test_the_run_id_changes_are_written_into_the_event_log_once() -> None:
    state = fold()
    state.apply_reading(training_progress(), NOON)
    state.apply_reading(training_progress(env_steps=8192), NOON)
    state.apply_reading(training_progress(status="stopped"), NOON)
    assert [line.text for line in state.snapshot(NOON).events] == [
        "Run run-1 is training.",
        "Run run-1 is stopped.",
    ]


def test_each_section_is_the_same_alone_and_in_the_snapshot() -> None:
    state = fold(at(1, segment_captured()), at(2, segment_scored()))
    state.apply_reading(training_progress(episode_return_mean=1.5), NOON)
    snapshot = state.snapshot(NOON)
    for name in SECTIONS:
        assert state.sections.make(name) == getattr(snapshot, name)


def test_the_rises_of_the_watched_game_are_added_up_over_the_time_that_it_covers():
    state = HudState(epoch="e")
    assert state.snapshot(NOON).pay is None
    reading = WatchedPay(
        at=NOON, env="env-0", env_step=7, reward_model_version=2, potential=-0.2,
        rises=(0.5, -0.25, 0.0), bin_seconds=0.5,
    )  # fmt: skip
    state.apply_reading(reading, NOON)
    shown = state.snapshot(NOON).pay
    assert shown is not None
    assert (shown.potential, shown.rise, shown.rise_seconds) == (-0.2, 0.25, 1.5)


def test_without_a_reward_model_the_pay_is_unknown_and_not_nothing():
    state = HudState(epoch="e")
    state.apply_reading(WatchedPay(at=NOON, env="env-0", env_step=7, bin_seconds=0.5), NOON)
    shown = state.snapshot(NOON).pay
    assert shown is not None
    assert (shown.potential, shown.rise, shown.rise_seconds) == (None, None, None)
