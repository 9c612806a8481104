"""REST: runs, checkpoints and evaluations."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, computed_field

from rlaif.contracts.model import Id
from rlaif.contracts.run_origin import RunDescription, RunProvenance
from rlaif.contracts.telemetry.curriculum import CurriculumFigures
from rlaif.contracts.telemetry.run import RunCondition
from rlaif.contracts.telemetry.search import SearchFigures
from rlaif.service.paging import Page, Paging
from rlaif.service.problems import Problem, store_unavailable
from rlaif.storage.ports import StorageError
from rlaif.trainer.checks import WrongSettingsError
from rlaif.trainer.evaluation.result import Evaluation, read_all
from rlaif.trainer.run_folder import disk
from rlaif.trainer.run_folder.checkpoints import CheckpointError, CheckpointInfo, describe
from rlaif.trainer.run_folder.plan import End
from rlaif.trainer.run_folder.protocol import PartFigures
from rlaif.trainer.run_folder.record import RunRecord, UnreadableRunError
from rlaif.trainer.service.runs.manager import RunInProgressError, RunManager
from rlaif.trainer.service.runs.state import RunState, Status
from rlaif.trainer.settings.run import Mode

RunId = Annotated[str, Path(description="Run; `current` is the last one of the service.")]


class RunReport(RunDescription, RunCondition):
    """A run; unknown values are null."""

    run_id: str
    created_at: AwareDatetime
    attempts: int = Field(
        description="Starts of its process before this one; each machine counts from a multiple of "
        "1,000."
    )
    mode: Mode
    overrides: dict[str, Any] = Field(description="Settings of this run only.")
    provenance: RunProvenance | None = Field(
        default=None, description="Settings, sources and machine of the last attempt."
    )
    status: Status | Literal["on disk"]
    finished: End | None = Field(
        default=None, description="Why it ended, such as time, epoch or evaluated."
    )
    iteration: int | None = None
    env_steps: int | None = None
    checkpoint: int | None = Field(default=None, description="Iteration of the last checkpoint.")
    evaluation: str | None = Field(default=None, description="Id of the last evaluation.")
    rewards: dict[str, PartFigures] | None = Field(
        default=None, description="Statistics of each part of the reward in the last iteration."
    )
    learner: dict[str, float] | None = Field(
        default=None, description="Statistics of the learner in the last iteration."
    )
    search: SearchFigures | None = Field(
        default=None, description="Results of the search; null without one."
    )
    curriculum: CurriculumFigures | None = Field(
        default=None, description="Progress of the curriculum; null without one."
    )
    failure: str | None = None

    @computed_field(description="`trained_seconds` in hours.")  # type: ignore[prop-decorator]  # mypy
    @property
    def trained_hours(self) -> float | None:
        return None if self.trained_seconds is None else self.trained_seconds / 3600


class StartRun(BaseModel):
    """Request to start or resume a run."""

    model_config = ConfigDict(extra="forbid")

    run_id: Id | None = Field(
        default=None,
        description="Run to resume, from disk or the models store; null starts a new run.",
    )
    mode: Mode | None = Field(
        default=None,
        description="continuous, epoch, pipeline, evaluation or quest; null: the setting's.",
    )
    checkpoint: str | None = Field(
        default=None,
        description="Checkpoint to evaluate, or with the initial policy of a new run.",
    )
    settings: dict[str, Any] = Field(
        default_factory=dict,
        description="Settings of this run only, by field name or environment variable, such as "
        "EPOCH_STEPS. They are stored with the run.",
    )


def build_router(runs: RunManager) -> APIRouter:
    """The routes for `runs`."""
    router = APIRouter(prefix="/api/v1")
    _add_runs(router, runs)
    _add_commands(router, runs)
    _add_description(router, runs)
    _add_saved(router, runs)
    return router


def _add_runs(router: APIRouter, runs: RunManager) -> None:
    @router.get("/runs", tags=["runs"], operation_id="list_runs", summary="Runs, the oldest first")
    def list_runs(paging: Paging) -> Page[RunReport]:
        """Runs on disk and the one in progress."""
        views = [_view(record, runs.state) for record in reversed(runs.on_disk())]
        return paging.take((v for v in views if v.run_id > paging.after), key=lambda v: v.run_id)

    @router.get("/runs/{run_id}", tags=["runs"], operation_id="get_run", summary="One run")
    def get_run(run_id: RunId) -> RunReport:
        """One run; `current` is the one that the service started last, else the newest on disk."""
        return _one(runs, run_id)


def _add_commands(router: APIRouter, runs: RunManager) -> None:
    @router.post("/runs", tags=["runs"], operation_id="start_run", status_code=202, summary="Start")
    async def start_run(body: StartRun) -> dict[str, str]:
        """Start a run, or resume one."""
        overrides = dict(body.settings)
        for name, value in (("mode", body.mode), ("checkpoint", body.checkpoint)):
            if value is not None:
                overrides[name] = value
        try:
            if body.run_id is not None and not await runs.bring_back(body.run_id):
                raise Problem(
                    404,
                    "run-not-found",
                    "Run not found",
                    f"No run {body.run_id} to resume, neither on disk nor in the models store.",
                )
            return {"run_id": (await runs.start(body.run_id, overrides)).state.run_id}
        except RunInProgressError as error:
            raise Problem(409, "run-in-progress", "A run is in progress", str(error)) from error
        except (WrongSettingsError, CheckpointError, UnreadableRunError) as error:
            raise Problem(422, "wrong-settings", "Settings do not fit", str(error)) from error
        except StorageError as error:
            raise store_unavailable(str(error)) from error
        except OSError as error:
            raise Problem(
                503, "disk-unavailable", "The disk is not writable", disk.why(error)
            ) from error

    @router.post(
        "/runs/{run_id}/stop",
        tags=["runs"],
        operation_id="stop_run",
        status_code=202,
        summary="Stop",
    )
    async def stop_run(run_id: RunId) -> dict[str, str]:
        """Save a checkpoint and stop; the run can be resumed. `current` is the run in progress."""
        state = runs.state
        if state is None or run_id not in ("current", state.run_id):
            raise Problem(
                404, "run-not-found", "Run not found", f"Run {run_id} is not in progress."
            )
        await runs.stop()
        return {"run_id": state.run_id}


def _add_description(router: APIRouter, runs: RunManager) -> None:
    @router.put(
        "/runs/{run_id}/description",
        tags=["runs"],
        operation_id="describe_run",
        summary="Name, note and tags",
    )
    def describe_run(run_id: RunId, body: RunDescription) -> RunReport:
        """Replace name, note and tags of a run; `current` is as in `GET runs/{run_id}`."""
        known = _one(runs, run_id).run_id
        try:
            return _view(runs.describe(known, body), runs.state)
        except OSError as error:
            raise Problem(
                503, "disk-unavailable", "The disk is not writable", disk.why(error)
            ) from error


def _add_saved(router: APIRouter, runs: RunManager) -> None:
    @router.get(
        "/evaluations", tags=["evaluations"], operation_id="list_evaluations", summary="Evaluations"
    )
    def list_evaluations(paging: Paging) -> Page[Evaluation]:
        """Evaluations on this machine, by id."""
        found = [
            each for record in runs.on_disk() for each in read_all(runs.directory(record.run_id))
        ]
        found.sort(key=lambda each: each.evaluation_id)
        return paging.take(
            (each for each in found if each.evaluation_id > paging.after),
            key=lambda each: each.evaluation_id,
        )

    @router.get(
        "/checkpoints", tags=["checkpoints"], operation_id="list_checkpoints", summary="Checkpoints"
    )
    def get_checkpoints(paging: Paging) -> Page[CheckpointInfo]:
        """Checkpoints on this machine, by run and iteration."""
        found = [c for r in reversed(runs.on_disk()) for c in describe(runs.directory(r.run_id))]
        return paging.take((c for c in found if c.id > paging.after), key=lambda c: c.id)


def _one(runs: RunManager, run_id: str) -> RunReport:
    if run_id == "current" and runs.state is not None:
        run_id = runs.state.run_id  # not the newest one, if an older one was resumed
    for record in runs.on_disk():
        if run_id in ("current", record.run_id):
            return _view(record, runs.state)
    raise Problem(404, "run-not-found", "Run not found", f"No run {run_id} in the data directory.")


def _view(record: RunRecord, state: RunState | None) -> RunReport:
    stored = record.model_dump(include=set(RunReport.model_fields))
    if state is None or state.run_id != record.run_id:
        return RunReport(**stored, status="on disk" if record.finished is None else "finished")
    last = state.last
    return RunReport(
        **(stored | state.summary | {"finished": state.finished}),
        checkpoint=state.checkpoint,
        evaluation=state.evaluation.evaluation_id if state.evaluation else None,
        rewards=last.reward_statistics if last else None,
        learner=last.learner if last else None,
        search=state.search,
        curriculum=state.curriculum,
        failure=state.failure,
    )
