"""The metrics of a run as files: every iteration once, whatever becomes of process and disk."""

import errno
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from tensorboardX.proto.event_pb2 import Event

from rlaif.trainer.run_folder.metrics_log import FILE, MetricsLog, read
from rlaif.trainer.run_folder.metrics_rows import STEP
from rlaif.trainer.run_folder.protocol import (
    CurriculumReport,
    EvaluationDone,
    IterationDone,
    Message,
    PartFigures,
    SearchReport,
    Started,
)

SEARCHED = SearchReport(running=True, frames=1000, seconds=20, workers=1, nodes=3, level=2, marks=5)
COURSE = CurriculumReport(
    phase="backward", power_on_share=0.1, demonstrations=1, all_segments=2, mastered=1, tries=9,
    frontier_mean=0.25, success_mean=None, whole_tries=64, whole_success=0.75,
)  # fmt: skip
EVALUATED = EvaluationDone(
    evaluation_id="e-1", epoch=0, iteration=2, fraction_mean=0.5, return_mean=1.25, path="e.json",
    env_steps=200, player="trained", episodes=8, milestones=12.0, interval=(9.0, 15.0),
)  # fmt: skip


def iterated(step: int, **figures: float) -> IterationDone:
    return IterationDone(
        iteration=step // 100, env_steps=step, episodes=4, steps_per_second=900.0,
        episode_return_mean=1.23456789, milestones_mean=2.25, milestones=["sword", "shield"],
        segments_captured=0, segments_skipped=0, reward_parts={"rooms": 2.0},
        reward_statistics={
            "shaping": PartFigures(sum=3.0, mean=0.1, std=0.2, share=0.4, advantage_share=None)
        },
        reward_model_version=3,
        learner={"mean_kl_loss": 0.01, "clip_fraction": 0.2, "vf_explained_var": 0.5,
                 "policy_lag": 1.0, **figures},
    )  # fmt: skip


def started(step: int = 0) -> Started:
    return Started(env_steps=step, iteration=step // 100, restored_from=None)


@pytest.fixture
def metrics(tmp_path: Path) -> Iterator[Callable[[], MetricsLog]]:
    """Makes logs of one folder, each for another process."""
    with ExitStack() as logs:
        yield lambda: logs.enter_context(closing(MetricsLog(tmp_path, lambda message: None)))


def steps(folder: Path) -> list[float]:
    return [row[STEP] for row in read(folder / FILE)]


def records(path: Path) -> list[Event]:
    """Events of a file: eight bytes of length, four of checksum, the event, four of checksum."""
    data, found = path.read_bytes(), []
    while data:
        end = 12 + int.from_bytes(data[:8], "little")
        found.append(Event.FromString(data[12:end]))
        data = data[end + 4 :]
    return found


def events(folder: Path) -> list[Event]:
    return [each for path in sorted(folder.glob("*.tfevents.*")) for each in records(path)]


def test_a_row_has_the_names_of_rllib(tmp_path: Path, metrics) -> None:
    log = metrics()
    log.send(started())
    log.send(iterated(100))
    (row,) = read(tmp_path / FILE)
    assert row.pop("timestamp") > 1.7e9
    assert row == {
        "training_iteration": 1, STEP: 100,
        f"{STEP}_throughput": 900.0,
        "env_runners/num_episodes_lifetime": 4, "env_runners/episode_return_mean": 1.23457,
        "time_total_s": 0.0,
        "run/milestones_mean": 2.25, "run/milestones_reached": 2,
        "run/segments_captured": 0, "run/segments_skipped": 0,
        "learners/default_policy/mean_kl_loss": 0.01,
        "learners/default_policy/clip_fraction": 0.2,
        "learners/default_policy/vf_explained_var": 0.5,
        "learners/default_policy/diff_num_grad_updates_vs_sampler_policy": 1.0,
        "reward/rooms_sum": 2.0, "reward/shaping_mean": 0.1, "reward/shaping_std": 0.2,
        "reward/shaping_share": 0.4, "reward_model/version": 3,
    }  # fmt: skip


def test_nan_is_in_no_row(tmp_path: Path, metrics) -> None:
    log = metrics()
    log.send(iterated(100, vf_loss=float("nan"), entropy=float("inf")))
    (row,) = read(tmp_path / FILE)
    assert not {name for name in row if name.endswith(("vf_loss", "entropy"))}


def test_tensorboard_has_the_same_rows(tmp_path: Path, metrics) -> None:
    log = metrics()
    log.send(started())
    log.send(iterated(100))
    log.send(iterated(200))
    version, *points = events(tmp_path)
    assert version.file_version == "brain.Event:2"
    rows = [{each.tag: each.simple_value for each in point.summary.value} for point in points]
    expected = [
        {name: value for name, value in row.items() if name not in (STEP, "timestamp")}
        for row in read(tmp_path / FILE)
    ]
    assert rows == [pytest.approx(row) for row in expected]
    assert [point.step for point in points] == [100, 200]


def test_search_curriculum_and_evaluations_are_in_it(tmp_path: Path) -> None:
    passed: list[Message] = []
    with closing(MetricsLog(tmp_path, passed.append)) as log:
        for message in (SEARCHED, started(), COURSE, iterated(200), EVALUATED):
            log.send(message)
    assert passed[0] == SEARCHED
    assert len(passed) == 5
    search, iteration, evaluation = read(tmp_path / FILE)
    assert search["search/frames"] == 1000
    assert STEP not in search, "a search plays before the first step"
    assert (iteration["curriculum/mastered"], iteration["curriculum/whole_success"]) == (1, 0.75)
    assert (evaluation[STEP], evaluation["evaluation/milestone_fraction"]) == (200, 0.5)


def test_a_resumed_run_trains_no_step_twice(tmp_path: Path, metrics) -> None:
    """The killed process was at step 300, and left half a line; its checkpoint is of step 200."""
    before = metrics()
    for message in (SEARCHED, started(), iterated(100), iterated(200), iterated(300)):
        before.send(message)
    with (tmp_path / FILE).open("a") as file:
        file.write('{"training_iter')
    after = metrics()
    after.send(started(200))
    after.send(iterated(300))
    after.send(iterated(400))
    _, *rows = read(tmp_path / FILE)
    assert [row[STEP] for row in rows] == [100, 200, 300, 400]
    *_, purge, again, _ = events(tmp_path)
    assert (purge.step, purge.session_log.status) == (201, 1), "a viewer drops what came later"
    assert again.step == 300


def test_bytes_that_a_power_failure_left_do_not_end_the_run(tmp_path: Path, metrics) -> None:
    first = metrics()
    first.send(started())
    first.send(iterated(100))
    with (tmp_path / FILE).open("ab") as file:
        file.write(b"\x00\xff\xfe{\n17\n")
    second = metrics()
    second.send(started(100))
    second.send(iterated(200))
    assert steps(tmp_path) == [100, 200]


def test_a_run_that_was_stopped_in_order_drops_nothing(tmp_path: Path, metrics) -> None:
    for begin, end in ((0, 100), (100, 200)):
        log = metrics()
        log.send(started(begin))
        log.send(iterated(end))
        log.close()
    assert steps(tmp_path) == [100, 200]
    assert not any(each.HasField("session_log") for each in events(tmp_path))


def test_what_a_full_disk_does_not_take_is_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: list[Message] = []
    log = MetricsLog(tmp_path, passed.append)
    log.send(started())
    with monkeypatch.context() as full:
        opened = Path.open

        def refuse(path: Path, *args: str, **kwargs: str):
            if path.name == FILE:
                raise OSError(errno.ENOSPC, "No space left on device")
            return opened(path, *args, **kwargs)  # type: ignore[call-overload]

        full.setattr(Path, "open", refuse)
        log.send(iterated(100))
        log.send(iterated(200))
    assert len(passed) == 3, "training goes on"
    log.send(iterated(300))
    log.close()
    assert steps(tmp_path) == [100, 200, 300]
