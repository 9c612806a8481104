"""REST routes of the export of labels and pairs, and of the training."""

from collections.abc import Callable
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from rlaif.reward_model.api.problems import ready, stored
from rlaif.reward_model.labels.export import ParquetMissingError, dataset, json_lines
from rlaif.reward_model.learning.candidate import ComparedPair
from rlaif.reward_model.status import TrainingStatus
from rlaif.reward_model.training_loop import TrainingLoop
from rlaif.service.problems import Problem


def build_router(training: Callable[[], TrainingLoop | None]) -> APIRouter:
    """The routes; `training` gives None until NATS and S3 are reached."""
    router = APIRouter(prefix="/api/v1")

    @router.get(
        "/labels/export", tags=["labels"], operation_id="export_labels", response_class=Response
    )
    async def export_labels(
        format: Annotated[  # noqa: ARG001  # other values are refused
            Literal["jsonl"], Query(description="`preferences/export` has Parquet files.")
        ] = "jsonl",
    ) -> Response:
        """Every score object with its provenance, used or not, as JSON lines."""
        return StreamingResponse(
            json_lines(ready(training()).entries()),
            media_type="application/jsonl",
            headers={"Content-Disposition": 'attachment; filename="labels.jsonl"'},
        )

    @router.get(
        "/preferences/export",
        tags=["preferences"],
        operation_id="export_preferences",
        response_class=Response,
    )
    async def export_preferences() -> Response:
        """Pairs of the last training and all labels, as a folder for Hugging Face `datasets`.

        Before the first training since the start, pairs of the labels, without predictions.
        """
        active, columns = ready(training()), list(ComparedPair.model_fields)

        def read() -> bytes:
            pairs = [pair.model_dump() for pair in active.pairs()]
            return dataset(active.entries(), pairs, columns)

        try:
            data = await stored(read)
        except ParquetMissingError as error:
            raise Problem(501, "no-parquet", "Parquet is not installed", f"{error}.") from error
        attachment = {"Content-Disposition": 'attachment; filename="preferences.zip"'}
        return Response(data, media_type="application/zip", headers=attachment)

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
