from datetime import UTC, datetime

from rlaif.contracts.telemetry import ModelLoad, RunHistory, TrainingProgress
from rlaif.hud.read_model.told_loads import ToldLoads

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def progress(
    version: int | None = None, step: int | None = None, *, run_id: str = "run"
) -> TrainingProgress:
    return TrainingProgress(
        at=NOON, run_id=run_id, status="training", iteration=1, episodes=1, env_steps=300,
        reward_model_version=version, reward_model_loaded_at_step=step,
    )  # fmt: skip


def history(*loads: tuple[int, int]) -> RunHistory:
    told = tuple(ModelLoad(version=version, env_step=step, at=NOON) for version, step in loads)
    return RunHistory(at=NOON, run_id="run", loads=told)


def known(loads: ToldLoads, run_id: str = "run") -> list[tuple[int, int]]:
    return [(load.version, load.env_step) for load in loads.of(run_id)]


def test_a_load_is_known_from_either_and_one_that_both_tell_of_is_one() -> None:
    loads = ToldLoads()
    loads.progress(progress(1, 250))
    assert known(loads) == [(1, 250)]
    loads.history(history((1, 100), (2, 200)))
    assert known(loads) == [(1, 100), (2, 200), (1, 250)], "a version may come again"
    loads.history(history((1, 100), (2, 200), (1, 250)))
    assert known(loads) == [(1, 100), (2, 200), (1, 250)]


def test_loads_of_another_run_are_not_mixed_in() -> None:
    loads = ToldLoads()
    loads.history(history((3, 4)))
    loads.progress(progress(1, 2, run_id="run-2"))
    assert known(loads) == [(3, 4)]
    assert known(loads, "run-2") == [(1, 2)]


def test_a_version_without_a_step_is_no_load() -> None:
    loads = ToldLoads()
    loads.progress(progress(None, None))
    assert known(loads) == []
    loads.progress(progress(1, None))
    assert known(loads) == []
