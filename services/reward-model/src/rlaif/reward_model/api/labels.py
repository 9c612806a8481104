"""REST routes of labels, pairs of the last training, and the training itself."""

from collections.abc import Callable
from typing import Literal

from fastapi import APIRouter, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from rlaif.contracts.judging.quest import Source
from rlaif.reward_model.api.problems import ready, stored
from rlaif.reward_model.labels.export import ParquetMissingError, json_lines, parquet
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.learning.candidate import ComparedPair
from rlaif.reward_model.status import TrainingStatus
from rlaif.reward_model.training_loop import TrainingLoop
from rlaif.service.paging import Page, PageRequest, Paging
from rlaif.service.problems import Problem

ExportFormat = Literal["jsonl", "parquet"]


class LabelReport(BaseModel):
    """One label."""

    segment_id: str
    episode_id: str
    run_id: str
    env_step: int
    provenance: str = Field(description="`judges`, or `human` if a person scored it.")
    layout_version: str
    decision_steps: int
    values: dict[str, float] = Field(description="Criterion → value; judged criteria only.")
    decided_by: dict[Source, float] = Field(
        description="Kind of source → share of their weight that it decided: `votes` of language "
        "models, `computed` from the RAM, `human`."
    )
    ram: dict[str, int] = Field(
        description="Criterion → level that the game's RAM gives; never trained on."
    )
    weighted: float | None
    score_sha256: str


def build_router(training: Callable[[], TrainingLoop | None]) -> APIRouter:
    """The routes; `training` gives None until NATS and S3 are reached."""
    router = APIRouter(prefix="/api/v1")

    @router.get("/labels", tags=["labels"], operation_id="list_labels")
    async def list_labels(paging: Paging) -> Page[LabelReport]:
        """Labels that the next training learns from, by segment id."""
        ordered = sorted(ready(training()).labels, key=lambda item: item.segment_id)
        page = paging.take(
            (item for item in ordered if item.segment_id > paging.after),
            lambda item: item.segment_id,
        )
        return Page(
            items=[_label_report(item) for item in page.items], next_cursor=page.next_cursor
        )

    @router.get(
        "/labels/export", tags=["labels"], operation_id="export_labels", response_class=Response
    )
    # `format` is the name of the query parameter.
    async def export_labels(format: ExportFormat = "jsonl") -> Response:
        """Every score object with its provenance, used or not."""
        entries = ready(training()).entries
        if format == "jsonl":
            return StreamingResponse(
                json_lines(entries()),
                media_type="application/jsonl",
                headers={"Content-Disposition": 'attachment; filename="labels.jsonl"'},
            )
        try:
            data = await stored(lambda: parquet(entries()))
        except ParquetMissingError as error:
            raise Problem(501, "no-parquet", "Parquet is not installed", f"{error}.") from error
        return Response(
            data,
            media_type="application/vnd.apache.parquet",
            headers={"Content-Disposition": 'attachment; filename="labels.parquet"'},
        )

    @router.get("/preferences", tags=["preferences"], operation_id="list_preferences")
    async def list_preferences(paging: Paging) -> Page[ComparedPair]:
        """Pairs of the last training with the network's predictions, by segment ids."""
        return _preference_page(ready(training()).pairs, paging)

    @router.post(
        "/reward-models", tags=["reward-models"], operation_id="train_reward_model", status_code=202
    )
    async def train_reward_model() -> TrainingStatus:
        """Train now, with however few new labels. `/training` has the result."""
        active = ready(training())
        active.request()
        return active.status()

    @router.get("/training", tags=["training"], operation_id="get_training")
    async def get_training() -> TrainingStatus:
        """State of the training, and why the last candidate was rejected."""
        return ready(training()).status()

    return router


def _preference_page(pairs: tuple[ComparedPair, ...], paging: PageRequest) -> Page[ComparedPair]:
    keyed = sorted(((f"{pair.a} {pair.b}", pair) for pair in pairs), key=lambda item: item[0])
    page = paging.take((item for item in keyed if item[0] > paging.after), lambda item: item[0])
    return Page(items=[pair for _, pair in page.items], next_cursor=page.next_cursor)


def _label_report(item: LabelledSegment) -> LabelReport:
    return LabelReport(
        segment_id=item.segment_id,
        episode_id=item.episode_id,
        run_id=item.run_id,
        env_step=item.env_step,
        provenance="human" if item.revision else "judges",
        layout_version=item.layout_version,
        decision_steps=item.decision_steps,
        values=item.values,
        decided_by=item.decided_by,
        ram=item.ram,
        weighted=item.weighted,
        score_sha256=item.score_sha256,
    )
