"""What a person reads of a run."""

from pathlib import Path

from rlaif.trainer.run_folder.protocol import IterationDone
from rlaif.trainer.service.progress_line import duration, progress_line, summary
from rlaif.trainer.service.runs.state import RunState
from rlaif.trainer.settings import TrainerSettings

DONE = IterationDone(
    iteration=12,
    env_steps=49_152,
    episodes=3,
    steps_per_second=2104.4,
    episode_return_mean=None,
    shaped_return_mean=None,
    episode_length_mean=None,
    rooms_mean=None,
    segments_captured=0,
    segments_skipped=0,
    trained_seconds=65.0,
    seconds_left=3 * 3600 + 300,
    milestone_fraction=0.25,
    milestones=["sword", "feather"],
    reward_parts={},
    learner={},
)


def test_the_line_has_all_that_is_asked_for_and_no_guess():
    assert progress_line(DONE, None) == (
        "iteration 12 | 49,152 steps | 2,104 steps/s | return ? | milestones 25.0%, 2 seen | "
        "no reward model | ends in 3 h 05 min"
    )
    assert "reward model 4" in progress_line(DONE, 4)


def test_the_summary_says_how_it_ended_and_what_is_left(tmp_path: Path):
    settings = TrainerSettings(data_dir=tmp_path)
    state = RunState(run_id="r-1", status="finished", finished="time", last=DONE, checkpoint=12)
    text = summary(state, settings, ["3 captures stay in the spool: no NATS"])
    assert text.startswith("run r-1: RUN_HOURS are over\n")
    assert "1 min 05 s, 49,152 steps, 12 iterations, 3 episodes" in text
    assert "sword, feather" in text
    assert "3 captures stay in the spool: no NATS" in text
    assert "resume" not in text
    stopped = summary(RunState(run_id="r-1", status="stopped", last=DONE), settings, [])
    assert "rlaif-train --run-id r-1" in stopped


def test_durations_are_short():
    assert [duration(s) for s in (None, 7.4, 65, 3600)] == ["?", "7 s", "1 min 05 s", "1 h 00 min"]
