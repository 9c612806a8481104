"""The REST routes: labels, the pairs of the last training, published models, and the training."""

import asyncio
from collections.abc import Callable
from typing import Annotated, ParamSpec, TypeVar

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from rlaif.contracts.reward_models import RewardModelManifest
from rlaif.reward_model.adapters.registry import Live, ModelRegistry, UnknownVersionError
from rlaif.reward_model.candidate import ComparedPair
from rlaif.reward_model.labels import LabelledSegment
from rlaif.reward_model.training import Attempt, Training, TrainingStatus
from rlaif.reward_net.errors import RewardNetError
from rlaif.service.paging import Page, PageRequest, Paging
from rlaif.service.problems import Problem, not_found, store_unavailable
from rlaif.storage.ports import StorageError

P = ParamSpec("P")
T = TypeVar("T")

Version = Annotated[int, Path(ge=1, description="Version of the reward model.")]


class LabelReport(BaseModel):
    """One scored segment that is learned from."""

    segment_id: str
    episode_id: str
    env_step: int
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


class ChampionReport(BaseModel):
    """The model that is live."""

    version: int
    activation: int = Field(description="Rises with every change of the champion.")
    manifest: RewardModelManifest


class AttemptReport(BaseModel):
    """One training and how it ended."""

    candidate_id: str
    outcome: str = Field(description="`published`, `rejected` or `unchanged`.")
    version: int | None
    reasons: list[str]
    metrics: dict[str, float | int | None]
    labels: int
    episodes: int
    seconds: float
    ended_at: str


class TrainingReport(BaseModel):
    """Body of `/api/v1/training`."""

    state: str
    judge_config: str | None
    labels: int
    new_labels: int
    episodes: int
    waiting_for: list[str] = Field(description="What is missing until it trains by itself.")
    skipped: dict[str, int] = Field(description="Reason → score objects that are no label.")
    last_attempt: AttemptReport | None
    last_rejection: AttemptReport | None


def build_router(
    training: Callable[[], Training | None], registry: Callable[[], ModelRegistry | None]
) -> APIRouter:
    """The routes; both arguments give None while NATS or S3 was not reached yet."""
    router = APIRouter(prefix="/api/v1")

    @router.get("/labels", tags=["labels"], operation_id="list_labels")
    async def list_labels(paging: Paging) -> Page[LabelReport]:
        """Labels that the next training learns from, by segment id."""
        ordered = sorted(_ready(training()).labels, key=lambda item: item.segment_id)
        page = paging.take(
            (item for item in ordered if item.segment_id > paging.after),
            lambda item: item.segment_id,
        )
        return Page(
            items=[_label_report(item) for item in page.items], next_cursor=page.next_cursor
        )

    @router.get("/preferences", tags=["preferences"], operation_id="list_preferences")
    async def list_preferences(paging: Paging) -> Page[PreferenceReport]:
        """Pairs of the last training with what the network says of them, by segment ids."""
        return _preference_page(_ready(training()).pairs, paging)

    @router.get("/reward-models", tags=["reward-models"], operation_id="list_reward_models")
    async def list_reward_models(paging: Paging) -> Page[RewardModelManifest]:
        """Published models, newest first."""
        return await _stored(_model_page, _ready(registry()), paging)

    @router.get("/reward-models/champion", tags=["reward-models"], operation_id="get_champion")
    async def get_champion() -> ChampionReport:
        """The model that is live."""
        live = await _stored(_ready(registry()).live)
        if live is None:
            raise not_found("reward-model", "champion")
        return _champion_report(live)

    @router.get("/reward-models/{version}", tags=["reward-models"], operation_id="get_reward_model")
    async def get_reward_model(version: Version) -> RewardModelManifest:
        """One published model."""
        return await _stored(_ready(registry()).manifest, version)

    @router.post(
        "/reward-models/{version}/activate",
        tags=["reward-models"],
        operation_id="activate_reward_model",
    )
    async def activate_reward_model(version: Version) -> ChampionReport:
        """Make a published version live again, such as the one before a bad one.

        Later candidates still replace it when they pass the gate.
        """
        try:
            return _champion_report(await _ready(training()).activate(version))
        except UnknownVersionError:
            raise not_found("reward-model", str(version)) from None
        except RewardNetError as error:
            raise Problem(409, "broken-model", "The model cannot be used", str(error)) from error
        except StorageError as error:
            raise store_unavailable(str(error)) from error

    @router.post(
        "/reward-models",
        tags=["reward-models"],
        operation_id="train_reward_model",
        status_code=202,
    )
    async def train_reward_model() -> TrainingReport:
        """Train now, however few labels are new; the gate is the same. `/training` has the end."""
        active = _ready(training())
        active.request()
        return _training_report(active.status())

    @router.get("/training", tags=["training"], operation_id="get_training")
    async def get_training() -> TrainingReport:
        """Where the training stands, and why the last candidate was refused."""
        return _training_report(_ready(training()).status())

    return router


def _ready(part: T | None) -> T:
    if part is None:
        raise Problem(503, "not-ready", "Not at work yet", "NATS or S3 is missing; see /readyz.")
    return part


async def _stored(read: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking read of the registry; its errors become problems."""
    try:
        return await asyncio.to_thread(read, *args, **kwargs)
    except UnknownVersionError as error:
        raise Problem(404, "reward-model-not-found", "No such reward model", f"{error}.") from None
    except StorageError as error:
        raise store_unavailable(str(error)) from error


def _preference_page(
    pairs: tuple[ComparedPair, ...], paging: PageRequest
) -> Page[PreferenceReport]:
    keyed = sorted(((f"{pair.a} {pair.b}", pair) for pair in pairs), key=lambda item: item[0])
    page = paging.take((item for item in keyed if item[0] > paging.after), lambda item: item[0])
    return Page(
        items=[PreferenceReport(**vars(pair)) for _, pair in page.items],
        next_cursor=page.next_cursor,
    )


def _model_page(registry: ModelRegistry, paging: PageRequest) -> Page[RewardModelManifest]:
    below = int(paging.after) if paging.after.isdigit() else None
    versions = [v for v in reversed(registry.versions()) if below is None or v < below]
    return paging.take((registry.manifest(v) for v in versions), lambda item: str(item.version))


def _label_report(item: LabelledSegment) -> LabelReport:
    return LabelReport(
        segment_id=item.segment_id,
        episode_id=item.episode_id,
        env_step=item.env_step,
        layout_version=item.layout_version,
        decision_steps=len(item.observations),
        values=item.values,
        weighted=item.weighted,
        score_sha256=item.score_sha256,
    )


def _champion_report(live: Live) -> ChampionReport:
    return ChampionReport(
        version=live.manifest.version,
        activation=live.champion.activation,
        manifest=live.manifest,
    )


def _training_report(status: TrainingStatus) -> TrainingReport:
    return TrainingReport(
        state=status.state,
        judge_config=status.judge_config,
        labels=status.labels,
        new_labels=status.new_labels,
        episodes=status.episodes,
        waiting_for=list(status.waiting_for),
        skipped=status.skipped,
        last_attempt=_attempt_report(status.last_attempt),
        last_rejection=_attempt_report(status.last_rejection),
    )


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
