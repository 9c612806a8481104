"""REST: runs and checkpoints."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import AwareDatetime, BaseModel, Field

from rlaif.service.paging import Page, Paging
from rlaif.service.problems import Problem
from rlaif.trainer.runs.checkpoints import CheckpointInfo, describe
from rlaif.trainer.runs.manager import RunInProgressError, RunManager
from rlaif.trainer.runs.record import RunRecord
from rlaif.trainer.runs.state import RunState

router = APIRouter(prefix="/api/v1")


class RunView(BaseModel):
    """A run. What is not known is null."""

    run_id: str
    created_at: AwareDatetime
    attempts: int = Field(description="Times its process was started again.")
    status: Literal["starting", "training", "stopping", "stopped", "failed", "on disk"]
    iteration: int | None = None
    env_steps: int | None = None
    episodes: int | None = None
    steps_per_second: float | None = None
    episode_return_mean: float | None = None
    segments_captured: int | None = None
    reward_model_version: int | None = None
    reward_model_loaded_at_step: int | None = None
    learner: dict[str, float] | None = Field(default=None, description="Of the last iteration.")
    failure: str | None = None


class StartRun(BaseModel):
    """What to start."""

    run_id: str | None = Field(default=None, description="A run to go on with; null starts anew.")


def _runs(request: Request) -> RunManager:
    manager: RunManager = request.app.state.runs
    return manager


Runs = Annotated[RunManager, Depends(_runs)]


@router.get("/runs", tags=["runs"], operation_id="list_runs", summary="Runs, the oldest first")
def list_runs(runs: Runs, paging: Paging) -> Page[RunView]:
    """Runs on disk and the one that is going on."""
    views = [_view(record, runs.state) for record in reversed(runs.on_disk())]
    return paging.take((v for v in views if v.run_id > paging.after), key=lambda v: v.run_id)


@router.get("/runs/{run_id}", tags=["runs"], operation_id="get_run", summary="One run")
def get_run(run_id: str, runs: Runs) -> RunView:
    """One run; `current` is the newest."""
    for record in runs.on_disk():
        if run_id in ("current", record.run_id):
            return _view(record, runs.state)
    raise Problem(404, "run-not-found", "Run not found", f"No run {run_id} in the data directory.")


@router.post("/runs", tags=["runs"], operation_id="start_run", status_code=202, summary="Start")
async def start_run(body: StartRun, runs: Runs) -> dict[str, str]:
    """Start a run, or go on with one."""
    if body.run_id is not None and all(r.run_id != body.run_id for r in runs.on_disk()):
        raise Problem(404, "run-not-found", "Run not found", f"No run {body.run_id} to go on with.")
    try:
        return {"run_id": runs.start(body.run_id).state.run_id}
    except RunInProgressError as error:
        raise Problem(409, "run-in-progress", "A run is going on", str(error)) from error


@router.post(
    "/runs/current/stop", tags=["runs"], operation_id="stop_run", status_code=202, summary="Stop"
)
async def stop_run(runs: Runs) -> dict[str, str]:
    """Save a checkpoint and stop; the run can be gone on with."""
    state = runs.state
    if state is None:
        raise Problem(404, "run-not-found", "Run not found", "No run is going on.")
    await runs.stop()
    return {"run_id": state.run_id}


@router.get(
    "/checkpoints", tags=["checkpoints"], operation_id="list_checkpoints", summary="Checkpoints"
)
def get_checkpoints(runs: Runs, paging: Paging) -> Page[CheckpointInfo]:
    """Checkpoints on this machine, by run and iteration."""
    found = [c for r in reversed(runs.on_disk()) for c in describe(runs.directory(r.run_id))]
    return paging.take((c for c in found if c.id > paging.after), key=lambda c: c.id)


def _view(record: RunRecord, state: RunState | None) -> RunView:
    if state is None or state.run_id != record.run_id:
        return RunView(
            run_id=record.run_id,
            created_at=record.created_at,
            attempts=record.attempts,
            status="on disk",
        )
    last = state.last
    return RunView(
        run_id=record.run_id,
        created_at=record.created_at,
        attempts=record.attempts,
        status=state.status,
        iteration=state.iteration,
        env_steps=state.env_steps,
        episodes=last.episodes if last else None,
        steps_per_second=last.steps_per_second if last else None,
        episode_return_mean=last.episode_return_mean if last else None,
        segments_captured=last.segments_captured if last else None,
        reward_model_version=state.reward_model_version,
        reward_model_loaded_at_step=state.reward_model_loaded_at_step,
        learner=last.learner if last else None,
        failure=state.failure,
    )
