"""The REST routes of what is learned from: labels, pairs of the last training, the training."""

from collections.abc import Callable
from typing import Literal

from fastapi import APIRouter, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from rlaif.reward_model.answering import ready, stored
from rlaif.reward_model.labels.export import ParquetMissingError, json_lines, parquet
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.learning.candidate import ComparedPair
from rlaif.reward_model.learning.gate import Need
from rlaif.reward_model.training_loop import TrainingLoop
from rlaif.reward_model.training_status import Attempt, TrainingStatus
from rlaif.service.paging import Page, PageRequest, Paging
from rlaif.service.problems import Problem

ExportFormat = Literal["jsonl", "parquet"]


class LabelReport(BaseModel):
    """One scored segment that is learned from."""

    segment_id: str
    episode_id: str
    run_id: str
    env_step: int
    provenance: str = Field(description="`judges`, or `human` where a person decided.")
    layout_version: str
    decision_steps: int
    values: dict[str, float] = Field(description="Criterion → value; judged criteria only.")
    weighted: float | None
    score_sha256: str


class PreferenceReport(BaseModel):
    """One pair of the last training."""

    a: str = Field(description="Segment id.")
    b: str = Field(description="Segment id.")
    side: str = Field(description="`train`, or `heldout` for pairs that the network never saw.")
    margin: float = Field(description="Rubric mean of A minus that of B, criteria judged in both.")
    decided: bool = Field(description="Whether the margin reaches the tie band.")
    target: float = Field(description="P(A better) by the judges.")
    predicted: float | None = Field(description="P(A better) by the network; null without one.")


class AttemptReport(BaseModel):
    """One training and how it ended."""

    candidate_id: str
    outcome: str = Field(
        description="`published`, `rejected`, `unchanged` or `held` (the champion is pinned)."
    )
    version: int | None
    reasons: list[str]
    metrics: dict[str, float | int | None]
    labels: int
    episodes: int
    seconds: float
    ended_at: str


class NeedReport(BaseModel):
    """Something that a training takes before it starts by itself, met or not."""

    what: str = Field(description="`labels`, `episodes`, `new labels` or `pairs`.")
    found: int
    least: int


class TrainingReport(BaseModel):
    """Body of `/api/v1/training`."""

    state: str
    judge_config: str | None
    labels: int
    new_labels: int
    episodes: int
    waiting_for: list[str] = Field(description="What is missing until it trains by itself.")
    needs: list[NeedReport] = Field(description="The same as numbers, with what is met.")
    pairs: NeedReport | None = Field(
        description="Decided held-out pairs of the last training, and how many the gate wants."
    )
    skipped: dict[str, int] = Field(description="Reason → score objects that are no label.")
    last_attempt: AttemptReport | None
    last_rejection: AttemptReport | None


def build_router(training: Callable[[], TrainingLoop | None]) -> APIRouter:
    """The routes; `training` gives None while NATS or S3 was not reached yet."""
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
    async def export_labels(
        format: ExportFormat = "jsonl",
    ) -> Response:  # the name of the query parameter
        """The whole label log: every score object with its provenance, used or not."""
        entries = ready(training()).entries
        if format == "jsonl":
            return StreamingResponse(
                (line for line in json_lines(entries())),
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
    async def list_preferences(paging: Paging) -> Page[PreferenceReport]:
        """Pairs of the last training with what the network says of them, by segment ids."""
        return _preference_page(ready(training()).pairs, paging)

    @router.post(
        "/reward-models",
        tags=["reward-models"],
        operation_id="train_reward_model",
        status_code=202,
    )
    async def train_reward_model() -> TrainingReport:
        """Train now, however few labels are new; the gate is the same. `/training` has the end."""
        active = ready(training())
        active.request()
        return _training_report(active.status())

    @router.get("/training", tags=["training"], operation_id="get_training")
    async def get_training() -> TrainingReport:
        """Where the training stands, and why the last candidate was refused."""
        return _training_report(ready(training()).status())

    return router


def _preference_page(
    pairs: tuple[ComparedPair, ...], paging: PageRequest
) -> Page[PreferenceReport]:
    keyed = sorted(((f"{pair.a} {pair.b}", pair) for pair in pairs), key=lambda item: item[0])
    page = paging.take((item for item in keyed if item[0] > paging.after), lambda item: item[0])
    items = [PreferenceReport.model_validate(item, from_attributes=True) for _, item in page.items]
    return Page(items=items, next_cursor=page.next_cursor)


def _label_report(item: LabelledSegment) -> LabelReport:
    return LabelReport(
        segment_id=item.segment_id,
        episode_id=item.episode_id,
        run_id=item.run_id,
        env_step=item.env_step,
        provenance="human" if item.revision else "judges",
        layout_version=item.layout_version,
        decision_steps=len(item.observations),
        values=item.values,
        weighted=item.weighted,
        score_sha256=item.score_sha256,
    )


def _training_report(status: TrainingStatus) -> TrainingReport:
    return TrainingReport(
        state=status.state,
        judge_config=status.judge_config,
        labels=status.labels,
        new_labels=status.new_labels,
        episodes=status.episodes,
        waiting_for=list(status.waiting_for),
        needs=[_need_report(need) for need in status.needs],
        pairs=_need_report(status.pairs) if status.pairs else None,
        skipped=status.skipped,
        last_attempt=_attempt_report(status.last_attempt),
        last_rejection=_attempt_report(status.last_rejection),
    )


def _need_report(need: Need) -> NeedReport:
    return NeedReport(what=need.what, found=need.found, least=need.least)


def _attempt_report(attempt: Attempt | None) -> AttemptReport | None:
    if attempt is None:
        return None
    return AttemptReport(
        candidate_id=attempt.candidate_id,
        outcome=attempt.outcome,
        version=attempt.version,
        reasons=list(attempt.reasons),
        metrics=attempt.metrics.model_dump(),
        labels=attempt.labels,
        episodes=attempt.episodes,
        seconds=attempt.seconds,
        ended_at=attempt.ended_at.isoformat(),
    )
