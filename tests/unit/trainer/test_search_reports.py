"""Reports of a search and a curriculum: trees of any size fit into NATS messages."""

import asyncio
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rlaif.contracts.telemetry.curriculum import MAX_SEGMENTS, CurriculumSegment
from rlaif.contracts.telemetry.readings import AssistanceStatus, CurriculumProgress, SearchProgress
from rlaif.contracts.telemetry.search import (
    MARK_CHARACTERS,
    MARKS_OF_A_NODE,
    MAX_TREE_NODES,
    TreeNode,
)
from rlaif.service.metrics import ServiceMetrics
from rlaif.testing.waiting import eventually
from rlaif.trainer.run_folder.protocol import MESSAGES, PhaseReport, SearchReport
from rlaif.trainer.run_folder.record import RunRecord
from rlaif.trainer.run_folder.search_report import (
    curriculum_report,
    discovery,
    mark_name,
    tree_of_progress,
)
from rlaif.trainer.service.api import _view
from rlaif.trainer.service.live import LiveView
from rlaif.trainer.service.runs.manager import RunManager
from rlaif.trainer.service.runs.past import RunPast
from rlaif.trainer.service.runs.state import RunState
from rlaif.trainer.service.runs.supervisor import RunSupervisor
from rlaif.trainer.settings import TrainerSettings

NATS_TAKES = 1_000_000
NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)


def find(node: int, *, level: int = 0, marks: tuple[str, ...] = ("mark",)) -> TreeNode:
    return discovery(node, frames=node * 100, seconds=node / 10, level=level, marks=marks)


def search(**values: object) -> SearchProgress:
    basics = {
        "at": NOON, "run_id": "run-1", "running": True, "frames": 12_000_000, "seconds": 300.0,
        "workers": 2, "nodes": 4000, "level": 11, "marks": 40,
    }  # fmt: skip
    return SearchProgress.model_validate({**basics, **values})


@st.composite
def searches(draw):
    """Finds in the order of their nodes, and where every node came out of."""
    size = draw(st.integers(1, 60))
    parents = {
        node: draw(st.none() | st.integers(0, node - 1)) if node else None for node in range(size)
    }
    chosen = draw(st.sets(st.sampled_from(range(size))))
    finds = [find(node, level=draw(st.integers(0, 5))) for node in sorted(chosen)]
    return finds, parents


def ancestors(node, parents):
    while (node := parents[node]) is not None:
        yield node


@given(searches())
def test_a_find_hangs_on_the_nearest_find_that_it_came_out_of(made):
    finds, parents = made
    tree, left_out = tree_of_progress(finds, parents)
    found = {each.node for each in finds}
    assert left_out == 0
    assert [each.node for each in tree] == [each.node for each in finds]
    for each in tree:
        nearest = next((node for node in ancestors(each.node, parents) if node in found), None)
        assert each.parent == nearest


@given(searches(), st.integers(1, 20))
def test_a_tree_that_is_too_large_stays_a_tree_with_the_farthest_in_it(made, most):
    finds, parents = made
    whole, _ = tree_of_progress(finds, parents)
    tree, left_out = tree_of_progress(finds, parents, most)
    reported = {each.node for each in tree}
    assert len(tree) == min(most, len(finds))
    assert left_out == len(finds) - len(tree)
    assert all(each.parent is None or each.parent in reported for each in tree)
    assert [each for each in whole if each.node in reported] == list(tree)
    way = {each.node: each.parent for each in whole}
    top = max(finds, key=lambda each: (each.level, each.node), default=None)
    if top is not None and 1 + len(list(ancestors(top.node, way))) <= most:
        assert top.node in reported


def test_parents_in_a_circle_are_power_on():
    tree, _ = tree_of_progress([find(1), find(2)], {1: 2, 2: 1, 3: 3})
    assert [each.parent for each in tree] == [None, 1]
    assert tree_of_progress([find(1)], {1: 5, 5: 6, 6: 5})[0][0].parent is None


def segment(number: int, frontier: float, success: float | None = None) -> CurriculumSegment:
    return CurriculumSegment(
        demonstration=0, from_mark=None, to_mark=f"mark {number}", frontier=frontier,
        success=success, tries=10,
    )  # fmt: skip


COURSE = curriculum_report("backward", [segment(0, 1.0)], power_on_share=0, demonstrations=1)


def test_the_figures_of_a_curriculum_are_of_all_segments():
    segments = [segment(0, 0.0, 1.0), segment(1, 0.5, 0.5), segment(2, 1.0)]
    reported = curriculum_report("backward", segments, power_on_share=0.02, demonstrations=1)
    assert (reported.all_segments, reported.mastered, reported.tries) == (3, 1, 30)
    assert (reported.frontier_mean, reported.success_mean) == (0.5, 0.75)
    empty = curriculum_report("imitation", [], power_on_share=1.0, demonstrations=0)
    assert (empty.frontier_mean, empty.success_mean) == (None, None)


@given(st.text())
def test_any_text_becomes_a_name_that_contracts_take(text):
    name = mark_name(text)
    TreeNode(node=0, parent=None, frames=0, seconds=0, level=0, marks=(name,))
    if text.isascii() and text.isprintable() and 0 < len(text) <= MARK_CHARACTERS:
        assert name == text


def test_the_fullest_readings_are_a_fraction_of_what_nats_takes():
    big, widest = 2**53 - 1, "x" * MARK_CHARACTERS
    node = TreeNode(
        node=big, parent=big, frames=big, seconds=1e9 / 3, level=big,
        marks=(widest,) * MARKS_OF_A_NODE, marks_left_out=big,
    )  # fmt: skip
    segment = CurriculumSegment(
        demonstration=big, from_mark=widest, to_mark=widest, frontier=1 / 3, success=2 / 3,
        tries=big // MAX_SEGMENTS,
    )  # fmt: skip
    course = curriculum_report(
        "backward", [segment] * MAX_SEGMENTS, power_on_share=1 / 3, demonstrations=big
    )
    curriculum = CurriculumProgress(at=NOON, run_id="r" * 64, **dict(course))
    for reading in (search(tree=(node,) * MAX_TREE_NODES), curriculum):
        assert len(reading.model_dump_json().encode()) < NATS_TAKES / 4


@pytest.mark.parametrize(
    "garbage",
    [
        {"frames": -1},
        {"seconds": float("nan")},
        {"run_id": "../../etc"},
        {"tree": [{"node": 0, "parent": None, "frames": 0, "seconds": 0, "level": 0,
                   "marks": ["<b>\n"]}]},
        {"tree": [{"node": 2**53, "parent": None, "frames": 0, "seconds": 0, "level": 0,
                   "marks": []}]},
        {"tree": [{"node": 0, "parent": None, "frames": 0, "seconds": 0, "level": 0,
                   "marks": []}] * (MAX_TREE_NODES + 1)},
    ],
    ids=["negative", "not a number", "no id", "no name", "no node", "too many"],
)  # fmt: skip
def test_a_reading_that_could_not_have_been_reported_is_refused(garbage):
    with pytest.raises(ValidationError):
        search(**garbage)


def test_both_cross_the_pipe_and_the_wire_unchanged():
    tree, _ = tree_of_progress([find(0), find(4, marks=("treasure 0x05 level 1",))], {4: 0})
    reported = SearchReport(**search(tree=tree).model_dump(exclude={"at", "run_id"}))
    assert MESSAGES.validate_json(reported.line()) == reported
    assert SearchProgress.model_validate_json(search(tree=tree).model_dump_json()).tree == tree
    segment = CurriculumSegment(
        demonstration=1, from_mark=None, to_mark="flag", frontier=0.5, success=None, tries=0
    )
    course = curriculum_report("backward", [segment], power_on_share=0.1, demonstrations=5)
    assert MESSAGES.validate_json(course.line()) == course


def reported_search(**values: object) -> SearchReport:
    return SearchReport(**search(**values).model_dump(exclude={"at", "run_id"}))


def test_what_was_found_outlives_the_process_that_reported_it():
    state = RunState(run_id="run-1").after(reported_search()).after(COURSE)
    again = state.of_attempt(attempt=2)
    _, found, course = again.reports(NOON)
    assert isinstance(found, SearchProgress)
    assert (found.run_id, found.marks, found.at) == ("run-1", 40, NOON)
    assert isinstance(course, CurriculumProgress)
    assert course.segments == COURSE.segments
    assert len(list(RunState(run_id="run-2").reports(NOON))) == 1


class Telemetry:
    """Keeps what was sent."""

    def __init__(self) -> None:
        self.sent: list[object] = []

    async def send(self, reading: object) -> None:
        self.sent.append(reading)

    async def send_bytes(self, _subject: str, _payload: bytes) -> None: ...

    def has(self, kind: type) -> bool:
        return any(isinstance(reading, kind) for reading in self.sent)


@pytest.mark.parametrize("there_was", [False, True])
async def test_the_service_publishes_the_history_and_nothing_else(there_was):
    state = RunState(run_id="run-1")
    if there_was:
        state = state.after(reported_search()).after(COURSE)
    telemetry = Telemetry()
    view = LiveView(telemetry, lambda: state, lambda: None, lambda: [], fps=0)
    task = asyncio.create_task(view.run())
    await eventually(lambda: telemetry.has(AssistanceStatus), "what is reported every few seconds")
    await eventually(lambda: telemetry.has(CurriculumProgress) or not there_was, "the last of it")
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert telemetry.has(SearchProgress) == telemetry.has(CurriculumProgress) == there_was


def test_what_a_run_does_before_its_learner_is_built_is_no_waiting_for_that():
    begun = RunState(run_id="run-1")
    assert begun.after(PhaseReport(phase="policy", words="29 minutes")).status == "starting"
    assert begun.after(reported_search(running=False)).status == "starting"
    searching = begun.after(PhaseReport(phase="search", words="45 minutes at most"))
    assert searching.progress(NOON).status == "training"
    assert (searching.progress(NOON).phase, searching.progress(NOON).phase_words) == (
        "search", "45 minutes at most",
    )  # fmt: skip
    assert begun.after(reported_search()).status == "training"
    assert begun.progress(NOON).phase is None


def test_rest_returns_the_reported_figures_of_a_run():
    record = RunRecord(run_id="run-1", created_at=NOON, attempts=1, settings="{}")
    state = RunState(run_id="run-1").after(reported_search(level=11.5))
    shown = _view(record, state).model_dump(mode="json")
    assert shown["search"]["level"] == 11.5
    assert "kind" not in shown["search"]
    assert shown["curriculum"] is None
    assert (shown["status"], shown["run_id"]) == ("training", "run-1")
    assert (shown["phase"], shown["phase_words"]) == (None, None)


def test_a_run_that_is_resumed_by_another_service_says_what_it_found(tmp_path):
    settings = TrainerSettings(data_dir=tmp_path)
    past = RunPast("run-1", tmp_path, settings)
    past.note(reported_search(running=False), NOON, 0)
    metrics = ServiceMetrics("trainer")
    run = RunSupervisor(settings, "run-1")
    RunManager(settings, metrics)._restore_reports(run, RunPast("run-1", tmp_path, settings))
    found = run.state.search
    assert found is not None
    assert (found.marks, found.running) == (40, False)
    assert metrics.registry.get_sample_value("rlaif_trainer_search_marks") == 40
    assert run.state.curriculum is None
