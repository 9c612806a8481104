"""What a person reads of a run."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rlaif.contracts.telemetry.curriculum import CurriculumSegment
from rlaif.contracts.telemetry.search import TreeNode
from rlaif.trainer.run_folder.protocol import IterationDone, SearchReport
from rlaif.trainer.run_folder.search_report import curriculum_report
from rlaif.trainer.service.cli import (
    overwrite,
    progress_line,
    search_line,
    summary,
)
from rlaif.trainer.service.runs.state import RunState
from rlaif.trainer.settings import TrainerSettings

DONE = IterationDone(
    iteration=12,
    env_steps=49_152,
    episodes=3,
    steps_per_second=2104.4,
    frames_per_second=71_549.6,
    episode_return_mean=None,
    shaped_return_mean=None,
    episode_length_mean=None,
    rooms_mean=None,
    segments_captured=0,
    segments_skipped=0,
    trained_seconds=65.0,
    seconds_left=3 * 3600 + 300,
    milestone_fraction=0.25,
    milestones_mean=1.5,
    milestones=["sword", "feather"],
    reward_parts={},
    learner={},
)


def test_the_line_has_all_that_is_asked_for_and_no_guess():
    assert progress_line(DONE, None) == (
        "iteration 12 | 49,152 steps | 2,104 decisions/s | 71,550 frames/s | return ? | "
        "milestones 1.50 per episode, 2 seen | "
        "no reward model | ends in 3 h 05 min"
    )
    assert "reward model 4" in progress_line(DONE, 4)


def test_the_line_says_how_far_the_curriculum_is():
    segments = [
        CurriculumSegment(
            demonstration=0, from_mark=None, to_mark=mark, frontier=at, success=success, tries=8
        )
        for mark, at, success in (("sword", 0.0, 0.9), ("shield", 0.5, 0.3))
    ]
    reported = curriculum_report("backward", segments, power_on_share=0.02, demonstrations=1)
    assert (
        "2 seen | backward: 1 of 2 subtasks mastered | frontier 25.0% remaining | success 60.0% | "
        "no end-to-end attempt | no reward"
    ) in progress_line(DONE, None, reported)
    tried = curriculum_report(
        "chaining", segments, power_on_share=0.5, demonstrations=1, whole_tries=64,
        whole_success=0.75,
    )  # fmt: skip
    assert "success 60.0% | end-to-end 48 of 64 | no reward" in progress_line(DONE, None, tried)


def searched(**values: Any) -> SearchReport:
    basics = {
        "running": True, "frames": 23_700_000, "seconds": 620.0, "seconds_left": 2080.0,
        "workers": 2, "nodes": 4123, "level": 11.5, "marks": 31,
    }  # fmt: skip
    return SearchReport.model_validate({**basics, **values})


def test_a_search_says_what_it_found_and_when():
    node = TreeNode(
        node=7, parent=None, frames=9, seconds=500.0, level=11.5, marks=("feather", "key 1")
    )
    assert search_line(searched(tree=(node,), found_seconds=500.0)) == (
        "search 10 min 20 s | 23.70 M frames | 4,123 states of 2 workers | level 11.5 | 31 marks, "
        "the newest 2 min 00 s ago: feather, key 1 | ends in at most 34 min 40 s"
    )
    assert "the newest 20 s ago | " in search_line(searched(tree=(node,), found_seconds=600.0))
    assert "none new yet | over" in search_line(searched(running=False))


def test_a_run_of_mode_quest_ends_by_its_own_minutes(tmp_path: Path):
    settings = TrainerSettings.model_validate({"data_dir": tmp_path, "mode": "quest"})
    state = RunState(run_id="r-1", status="finished", finished="time", last=DONE)
    assert summary(state, settings, []).startswith("run r-1: QUEST_MINUTES elapsed\n")
    learned = replace(state, finished="learned")
    assert summary(learned, settings, []).startswith(
        "run r-1: the whole demonstration is mastered from power-on\n"
    )


@pytest.mark.parametrize("columns", [40, 80])
def test_a_line_of_progress_takes_one_line_of_the_terminal(monkeypatch, capsys, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    overwrite("iteration 1 | " * 20)
    shown = capsys.readouterr().out.removeprefix("\r\x1b[K")
    assert len(shown) == columns - 1
    assert shown.endswith("…")
