"""Report of a run's search: a tree with descriptions of its discoveries."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import ray

from rlaif.mock_llm.app import create_app
from rlaif.mock_llm.settings import MockLlmSettings
from rlaif.testing.servers.http_server import serve
from rlaif.testing.waiting import eventually
from rlaif.trainer.learner.quest_search import QuestSearch
from rlaif.trainer.learner.run_context import RunContext
from rlaif.trainer.learner.runners.opening import runner_config
from rlaif.trainer.run_folder.quest_record import SEARCH_FOLDER
from rlaif.trainer.run_folder.spool import SpooledCapture
from rlaif.trainer.search.opening import TREE
from rlaif.trainer.search.tree import read_tree
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.planner import PlannerSettings


@pytest.fixture
def run(tmp_path):
    settings = TrainerSettings.model_validate({"ray_workers": 0, "data_dir": tmp_path})
    record: Any = SimpleNamespace(run_id="r", attempts=0)
    return RunContext(settings, record, tmp_path, lambda message: None)


def test_a_search_reports_every_find_and_its_origin(run, tmp_path):
    search = QuestSearch(run)
    try:
        for _ in range(20):
            search.advance()
            if search.figures().marks:
                break
    finally:
        search.close()
    again = QuestSearch(run)
    try:
        report = again.figures()
    finally:
        again.close()
    with read_tree(tmp_path / SEARCH_FOLDER / TREE) as tree:
        nodes = {node.node: node for node in report.tree}
        assert all(number in tree for number in nodes)
    assert report.marks == sum(len(node.marks) + node.marks_left_out for node in report.tree) > 0
    assert report.tree_left_out == 0
    assert report.workers == 1, "the training process is the only worker"
    assert all(node.parent is None or node.parent in nodes for node in report.tree)
    assert max(node.level for node in report.tree) == report.level
    assert not [mark for node in report.tree for mark in node.marks if mark.startswith("treasure:")]


def test_what_a_search_plays_is_captured_up_to_its_quota_under_ids_that_training_never_uses(run):
    search = QuestSearch(run)
    try:
        advance(search, 2)
        assert search.captured == 0
        search.capture_quota = 3
        while search.capture_quota:
            search.advance()
    finally:
        search.close()
    spooled = [SpooledCapture.unpack(path.read_bytes()) for path in search._spool.waiting()]
    assert len(spooled) == search.captured == 3
    runner = runner_config(run.settings, run.environments()).build(0)
    try:
        (plays,) = {seat.name for seat in runner._games._seats}
        assert not any(each.capture.episode_id.startswith(f"{plays}-") for each in spooled)
    finally:
        runner.stop()


def positions(run: RunContext) -> list[float]:
    """Search until three groups have a position on the quest."""
    search, found = QuestSearch(run), list[float]()
    try:
        for _ in range(400):
            search.advance()
            search.figures()
            with read_tree(run.directory / SEARCH_FOLDER / TREE) as tree:
                found = [each.rating for each in tree.groups() if each.rating is not None]
            if len(found) >= 3:
                break
    finally:
        search.close()
    return found


async def test_a_language_model_places_what_the_search_found_on_the_quest(run):
    async with serve(create_app(MockLlmSettings())) as address:
        settings = run.settings.model_copy(update={"planner": PlannerSettings(base_url=address)})
        found = await asyncio.to_thread(positions, replace(run, settings=settings))
    assert len(found) >= 3
    assert all(0 <= position < 3 for position in found)


def advance(search: QuestSearch, times: int) -> None:
    for _ in range(times):
        search.advance()


async def test_on_a_cluster_it_searches_where_ray_has_cpus_and_frees_them(run, tmp_path, ray_here):
    free = ray.available_resources()["CPU"]
    settings = run.settings.model_copy(update={"ray_address": "auto", "ray_workers": 2})
    run = replace(run, settings=settings)
    search = QuestSearch(run)
    try:
        for _ in range(40):
            search.advance()
            if search.figures().marks:
                break
        assert search.figures().marks
        assert search.figures().workers == 2
        assert ray.available_resources().get("CPU", 0) == free - 2
        found = search.seconds
        links: Any = search._runners._links
        ray.kill(links[1].actor, no_restart=False)
        advance(search, 4)  # a lost runner is replaced
        assert search.seconds > found
    finally:
        search.close()
    await eventually(lambda: ray.available_resources().get("CPU") == free, "the CPUs are free")
