"""Events of a run's past: none twice, none lost, and a bounded number."""

import json
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rlaif.contracts.events import EventData, RunEvaluated, RunIterated, RunLoaded, RunStarted
from rlaif.contracts.run_points import MAX_EPISODES
from rlaif.service.metrics import ServiceMetrics
from rlaif.testing.data.events import ended_episodes
from rlaif.trainer.run_folder.protocol import (
    EvaluationDone,
    IterationDone,
    PartFigures,
    RewardModelLoaded,
    RewardModelRefused,
    SearchReport,
    Started,
)
from rlaif.trainer.run_folder.search_report import curriculum_report
from rlaif.trainer.service.runs.manager import RunManager
from rlaif.trainer.service.runs.past import RunPast, recipe
from rlaif.trainer.service.runs.supervisor import RunSupervisor
from rlaif.trainer.settings import TrainerSettings

NOW = datetime(2026, 1, 2, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)


def part(total: float) -> PartFigures:
    return PartFigures(sum=total, mean=0.0, std=0.0, share=None, advantage_share=None)


def iteration(step: int, *, ended: int = 1, potential: float | None = None) -> IterationDone:
    return IterationDone(
        iteration=1, env_steps=step, episodes=1, steps_per_second=900.0, segments_captured=0,
        segments_skipped=0, reward_parts={"rooms": 2.0, "death": -0.5, "shaping": 0.25},
        reward_statistics={"game": part(1.5), "shaping": part(0.25)},
        learner={"entropy": 1.25, "policy_lag": 1.0, "mean_kl_loss": 0.0123456},
        reward_model_version=3,
        ended=ended_episodes([2] * ended, [step - 100] * ended), oldest_open=step,
        potential_mean=potential,
    )  # fmt: skip


def started(step: int = 0) -> Started:
    return Started(env_steps=step, iteration=0, restored_from=None)


def past(folder: Path) -> RunPast:
    return RunPast("r-1", folder, TrainerSettings())


def reported(of: RunPast, *, ended: bool = False) -> list[EventData]:
    """All events that are due, which are then published."""
    events = []
    while (event := of.next(ended=ended)) is not None:
        of.published(event, NOW)
        events.append(event)
    return events


def test_an_evaluation_is_reported_with_its_interval(tmp_path: Path) -> None:
    run = past(tmp_path)
    run.note(
        EvaluationDone(
            evaluation_id="r-1-e0000", epoch=0, iteration=9, fraction_mean=0.1, return_mean=1.0,
            path="x", env_steps=30_000, player="trained", episodes=8, milestones=2.5,
            interval=(1.5, 3.0),
        ),
        NOW,
        0,
    )  # fmt: skip
    (event,) = reported(run)
    assert isinstance(event, RunEvaluated)
    assert (event.env_step, event.player, event.episodes) == (30_000, "trained", 8)
    assert (event.low, event.milestones, event.high) == (1.5, 2.5, 3.0)


def test_a_start_an_iteration_and_a_load_are_reported_in_their_order(tmp_path: Path) -> None:
    run = past(tmp_path)
    run.note(started(), NOW, 2)
    run.note(iteration(100), NOW, 2)
    run.note(RewardModelLoaded(version=4, env_step=100), NOW, 2)
    begun, piece, load = reported(run)
    assert isinstance(begun, RunStarted)
    assert (begun.attempt, begun.env_step, begun.judged) == (2, 0, True)
    assert isinstance(load, RunLoaded)
    assert (load.version, load.env_step) == (4, 100)
    assert isinstance(piece, RunIterated)
    assert (piece.since_step, piece.env_step, piece.iterations) == (0, 100, 1)
    assert piece.learned_from == sum(piece.paid.values()) == 1.75
    assert (piece.entropy, piece.policy_lag, piece.reward_model_version) == (1.25, 1.0, 3)
    assert piece.episodes.count == 1
    assert piece.learner == {"mean_kl_loss": 0.01235}


def test_a_model_that_counts_no_more_is_a_load_of_the_one_before_it_or_of_none(
    tmp_path: Path,
) -> None:
    run = past(tmp_path)
    run.note(iteration(100), NOW, 0)
    refused = RewardModelRefused(version=4, reason="no number", rolled_back=True, counts=None)
    run.note(refused, NOW, 0)
    load = reported(run)[-1]
    assert isinstance(load, RunLoaded)
    assert (load.version, load.env_step) == (None, 100)


@pytest.mark.parametrize(("run_on", "published"), [("process", True), ("ray-job", False)])
def test_a_ray_job_publishes_its_past_itself(tmp_path: Path, run_on: str, published: bool) -> None:
    settings = TrainerSettings.model_validate({"data_dir": tmp_path, "run_on": run_on})
    runs = RunManager(settings, ServiceMetrics("trainer"))
    runs._current = RunSupervisor(settings, "r-1")
    runs._pasts = [RunPast("r-1", tmp_path, settings)]
    runs._note(Started(env_steps=0, iteration=0, restored_from=None))
    assert (runs.next_event() is not None) == published


def test_while_nats_is_away_a_piece_grows_and_its_sums_are_whole(tmp_path: Path) -> None:
    run = past(tmp_path)
    run.note(started(), NOW, 0)
    waits = run.next(ended=False)
    for step in range(100, 1100, 100):
        run.note(iteration(step), NOW, 0)
        assert run.next(ended=False) is waits
    _, piece = reported(run)
    assert isinstance(piece, RunIterated)
    assert (piece.since_step, piece.env_step, piece.iterations) == (0, 1000, 10)
    assert piece.paid == {"rooms": 20.0, "death": -5.0, "shaping": 2.5}
    assert piece.learned_from == 17.5
    assert piece.episodes.count == len(piece.episodes.began) == 10


@pytest.mark.parametrize(
    ("potentials", "mean"),
    [
        ([0.25, 0.5, 0.75], 0.5), ([None, 0.5], 0.5), ([0.25, None], 0.25), ([None], None),
        ([math.nan, 0.5], 0.5), ([math.inf], None),
    ],
)  # fmt: skip
def test_the_mean_potential_of_a_piece_is_that_of_its_iterations(
    tmp_path: Path, potentials: list[float | None], mean: float | None
) -> None:
    run = past(tmp_path)
    for at, potential in enumerate(potentials, start=1):
        run.note(iteration(100 * at, potential=potential), NOW, 0)
    (piece,) = reported(run)
    assert isinstance(piece, RunIterated)
    assert piece.potential_mean == (mean if mean is None else pytest.approx(mean))
    assert ("potential_mean" in piece.model_dump()) == (mean is not None)


def test_a_piece_never_holds_more_episodes_than_an_event_takes(tmp_path: Path) -> None:
    run = past(tmp_path)
    for step in range(100, 2100, 100):
        run.note(iteration(step, ended=MAX_EPISODES // 2), NOW, 0)
    (piece,) = reported(run)
    assert isinstance(piece, RunIterated)
    assert piece.episodes.count == 10 * MAX_EPISODES
    assert len(piece.episodes.began) <= MAX_EPISODES
    # Rows of the first iteration stand for as many episodes as those of the last one.
    rows = [piece.episodes.began.count(step) for step in range(0, 2000, 100)]
    assert max(rows) - min(rows) <= 1


def test_what_waits_outlives_the_service(tmp_path: Path) -> None:
    run = past(tmp_path)
    run.note(started(), NOW, 1)
    run.note(iteration(100), NOW, 1)
    run.note(iteration(200), LATER, 1)
    again = past(tmp_path)
    begun, piece = reported(again, ended=True)
    assert isinstance(begun, RunStarted)
    assert isinstance(piece, RunIterated)
    assert (piece.attempt, piece.env_step, piece.iterations) == (1, 200, 2)
    assert past(tmp_path).is_empty, "what was reported is not reported again"


def test_the_disk_is_left_alone_while_nothing_waits(tmp_path: Path) -> None:
    run = past(tmp_path)
    run.note(started(), NOW, 0)
    reported(run)
    at_rest = (tmp_path / "past.json").stat().st_mtime_ns
    for step in range(100, 1000, 100):  # within seconds
        run.note(iteration(step), NOW + timedelta(seconds=step / 100), 0)
        reported(run)
    assert (tmp_path / "past.json").stat().st_mtime_ns == at_rest


def test_a_file_that_cannot_be_read_costs_what_waited_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "past.json").write_text("{")
    run = past(tmp_path)
    run.note(started(), NOW, 0)
    assert len(reported(run)) == 1


def searched(frames: int, *, running: bool = True) -> SearchReport:
    return SearchReport(
        running=running, frames=frames, seconds=frames / 30_000, workers=2, nodes=9, level=2.5,
        marks=4,
    )  # fmt: skip


def test_reports_of_search_and_curriculum_outlive_the_service(tmp_path: Path) -> None:
    run = past(tmp_path)
    assert (run.kept.search, run.kept.curriculum) == (None, None)
    run.note(searched(1000), NOW, 0)
    run.note(searched(2000), NOW + timedelta(seconds=1), 0)
    assert past(tmp_path).kept.search == searched(1000), "it is not written every second"
    run.note(searched(3000, running=False), NOW + timedelta(seconds=2), 0)
    assert past(tmp_path).kept.search == searched(3000, running=False)
    course = curriculum_report("backward", [], power_on_share=1.0, demonstrations=0)
    run.note(course, LATER, 0)
    assert past(tmp_path).kept.curriculum == course


def test_reports_in_the_files_of_release_0_1_0_are_read(tmp_path: Path) -> None:
    load = {"version": 1, "env_step": 100, "at": NOW.isoformat()}
    history = {"loads": [load], "search": json.loads(searched(1000).model_dump_json())}
    (tmp_path / "history.json").write_text(json.dumps(history))
    (tmp_path / "past.json").write_text('{"attempt": 1, "step": 7, "open": null, "waiting": []}')
    kept = past(tmp_path).kept
    assert (kept.attempt, kept.step, kept.search) == (1, 7, searched(1000))


def test_runs_that_differ_in_the_judges_and_the_seed_alone_have_one_recipe() -> None:
    plain = TrainerSettings()
    without = plain.model_copy(
        update={
            "shaping": plain.shaping.model_copy(update={"weight": 0.0}),
            "seed": 8,
        }
    )
    other = plain.model_copy(update={"ppo": plain.ppo.model_copy(update={"gamma": 0.9})})
    assert recipe(plain) == recipe(without) != recipe(other)
