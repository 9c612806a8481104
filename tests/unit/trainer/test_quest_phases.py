"""The phases of mode quest before the policy: in order, each resumed where it was saved."""

from datetime import UTC, datetime
from queue import SimpleQueue
from types import SimpleNamespace

import pytest

from rlaif.contracts.telemetry.search import SearchFigures
from rlaif.trainer.learner import quest
from rlaif.trainer.learner.quest import prepare
from rlaif.trainer.learner.run_context import Requests, RunContext
from rlaif.trainer.run_folder.protocol import (
    Command,
    GrantCaptures,
    LoadRewardModel,
    Message,
    SearchReport,
    Stop,
)
from rlaif.trainer.run_folder.quest_record import QuestRecord
from rlaif.trainer.run_folder.record import RunRecord
from rlaif.trainer.settings import TrainerSettings

MODELS = [LoadRewardModel(version=v, path=f"m{v}", sha256="") for v in (1, 2)]


class FakeSearch:
    """Searches 60 s a turn; `plan` says how many ways end with an essence after each turn."""

    def __init__(self, seconds=0.0, plan=(), on_turn=lambda turn: None):
        self.seconds, self.plan, self.on_turn = seconds, list(plan), on_turn
        self.seconds_since_new, self.with_essence, self.turns = 0.0, 0, 0
        self.closed = self.capture_quota = 0
        self.captured = 5

    def advance(self):
        self.seconds += 60
        self.with_essence = self.plan.pop(0) if self.plan else self.with_essence
        self.turns += 1
        self.on_turn(self.turns)

    def figures(self):
        return SearchFigures(
            running=True, frames=0, seconds=self.seconds, workers=1, nodes=1, level=0, marks=0
        )

    def close(self):
        self.closed += 1


@pytest.fixture
def run(tmp_path):
    settings = TrainerSettings.model_validate(
        {
            "quest_minutes": 100,
            "quest_search_minutes": 45,
            "quest_lineages": 2,
            "quest_quiet_minutes": 50,
        }
    )
    record = RunRecord(
        run_id="r", created_at=datetime(2026, 1, 1, tzinfo=UTC), attempts=0, settings="{}"
    )
    reported: list[Message] = []
    context = RunContext(settings, record, tmp_path, reported.append)
    commands: SimpleQueue[Command] = SimpleQueue()
    return SimpleNamespace(
        context=context, reported=reported, commands=commands, requests=Requests(commands), made=[]
    )


def go(run, search, demonstrations=5):
    def make(context, stop_asked):
        run.made.append(context)
        return None if stop_asked() else demonstrations

    return prepare(run.context, run.requests, lambda context: search, make)


def test_a_run_searches_makes_demonstrations_and_is_ready_for_the_policy(run):
    search = FakeSearch(plan=[0, 1, 2])
    ready = go(run, search)
    record = QuestRecord.read(run.context.directory)
    assert (search.turns, search.closed) == (3, 1)
    assert (record.phase, record.search_over, record.demonstrations) == ("policy", "essence", 5)
    assert record.search_seconds == 180
    assert ready is not None
    assert ready.settings.run_hours == pytest.approx((6000 - record.seconds) / 3600)


def test_the_last_report_of_a_search_is_its_end(run):
    go(run, FakeSearch(plan=[2]))
    reported = [each for each in run.reported if isinstance(each, SearchReport)]
    assert [each.running for each in reported] == [False]


def test_a_stop_ends_the_search_and_keeps_what_it_found(run):
    search = FakeSearch(on_turn=lambda turn: run.commands.put(Stop()) if turn == 2 else None)
    assert go(run, search) is None
    assert (search.turns, search.closed) == (2, 1)
    assert QuestRecord.read(run.context.directory).phase == "search"
    assert not run.made


def test_a_stopped_search_continues_with_the_time_that_is_left(run):
    QuestRecord(search_seconds=44 * 60).write(run.context.directory)
    search = FakeSearch(seconds=44 * 60)
    assert go(run, search) is not None
    assert search.turns == 1


def test_a_search_that_breaks_is_closed(run):
    def broken(turn):
        raise RuntimeError("a worker is gone")

    search = FakeSearch(on_turn=broken)
    with pytest.raises(RuntimeError, match="a worker is gone"):
        go(run, search)
    assert search.closed == 1


def test_a_stop_before_the_demonstrations_are_made_leaves_them_for_the_next_attempt(run):
    QuestRecord(search_over="time", search_seconds=60).write(run.context.directory)
    run.commands.put(Stop())
    assert go(run, FakeSearch()) is None
    assert QuestRecord.read(run.context.directory).phase == "demonstrations"


def test_what_is_over_is_not_done_again(run):
    QuestRecord(search_over="time", search_seconds=60, demonstrations=4).write(
        run.context.directory
    )
    search = FakeSearch()
    assert go(run, search) is not None
    assert (search.turns, run.made) == (0, [])


def test_models_wait_for_the_policy_in_their_order_while_the_search_captures(run, monkeypatch):
    monkeypatch.setattr(quest, "REPORT_SECONDS", 0.0)
    grants = [GrantCaptures(segments=n) for n in (7, 9)]
    for each in (MODELS[0], *grants, MODELS[1]):
        run.commands.put(each)
    search = FakeSearch(plan=[0, 2])
    go(run, search)
    assert search.capture_quota == 9, "the newest grant counts"
    reported = [each for each in run.reported if isinstance(each, SearchReport)]
    assert [each.segments_captured for each in reported] == [5, 5]
    assert run.requests.take() == MODELS
    assert run.requests.take() == []
