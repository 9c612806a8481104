"""REST routes that the reward-model service answers: models, pairs, votes and agreement."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from rlaif.contracts.judging.reviews import (
    MAX_NEXT,
    AgreementReport,
    PairList,
    PairToReview,
    UndoRequest,
    VoteRecord,
    VoteReport,
    VoteRequest,
)
from rlaif.contracts.reward_model_rest import (
    ActivationRequest,
    ChampionReport,
    ComparisonReport,
    ExaminationReport,
    GateReport,
    PinRequest,
    UnreadableVersion,
    WatchdogReport,
)
from rlaif.contracts.reward_models import RewardModelManifest
from rlaif.hud.read_model.models import ModelView, RejectionDetail, TrainingView
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.upstream import Bearer, Upstream
from rlaif.service.paging import Page, Paging, PairId, RequestId, encode_cursor

Version = Annotated[int, Path(ge=1, description="Version of the reward model.")]

MODELS = "/api/v1/reward-models"
"""The service's own path; the HUD's is the same."""

UNREACHED: dict[int | str, dict[str, Any]] = {
    502: {"description": "The reward-model service cannot be reached, or sent an invalid answer."},
    504: {"description": "It did not answer in time."},
}


class ManifestPage(Page[RewardModelManifest]):
    """The service's list."""

    unreadable: tuple[UnreadableVersion, ...] = ()


class ModelPage(Page[ModelView]):
    """Published models, newest first."""

    unreadable: tuple[UnreadableVersion, ...] = Field(
        default=(),
        description="Versions of this page whose record cannot be read.",
    )


def models_router(state: HudState, service: Upstream) -> APIRouter:
    """The routes; `service` is the reward-model service."""
    router = APIRouter(prefix=MODELS, tags=["reward-models"], responses=UNREACHED)
    _add_lists(router, state, service)
    _add_service(router, service)
    _add_versions(router, state, service)
    _add_writes(router, service)
    return router


def _add_lists(router: APIRouter, state: HudState, service: Upstream) -> None:
    @router.get("", operation_id="list_reward_models")
    async def list_reward_models(paging: Paging) -> ModelPage:
        """Published models, newest first: their records and states."""
        cursor = encode_cursor(paging.after) if paging.after else None
        page = await service.read(ManifestPage, MODELS, {"limit": paging.limit, "cursor": cursor})
        return ModelPage(
            items=[_view(state, each) for each in page.items],
            next_cursor=page.next_cursor,
            unreadable=page.unreadable,
        )

    @router.get("/rejected", operation_id="list_rejected_reward_models", responses={})
    async def list_rejected(paging: Paging) -> Page[RejectionDetail]:
        """Rejected candidates, newest first, with measurements and reasons."""
        rows = state.models.rejections()
        if paging.after:
            ids = [row.candidate_id for row in rows]
            rows = rows[ids.index(paging.after) + 1 :] if paging.after in ids else []
        return paging.take(rows, key=lambda row: row.candidate_id)


def _add_service(router: APIRouter, service: Upstream) -> None:
    @router.get("/champion", operation_id="get_champion")
    async def get_champion() -> ChampionReport:
        """The champion with its pin; 404 before the first."""
        return await service.read(ChampionReport, f"{MODELS}/champion")

    @router.get("/watchdog", operation_id="get_watchdog")
    async def get_watchdog() -> WatchdogReport:
        """State of the reward hacking monitor."""
        return await service.read(WatchdogReport, "/api/v1/watchdog")

    @router.get("/training", operation_id="get_training")
    async def get_training() -> TrainingView:
        """State of the training: requirements, and the last attempt."""
        return await service.read(TrainingView, "/api/v1/training")


def _add_versions(router: APIRouter, state: HudState, service: Upstream) -> None:
    @router.get("/{version}", operation_id="get_reward_model")
    async def get_reward_model(version: Version) -> ModelView:
        """One published version: its record and its state."""
        return _view(state, await service.read(RewardModelManifest, f"{MODELS}/{version}"))

    @router.get("/{version}/gate", operation_id="get_reward_model_gate")
    async def get_gate(version: Version) -> GateReport:
        """The gate's checks and measurements."""
        return await service.read(GateReport, f"{MODELS}/{version}/gate")

    @router.get("/{version}/examination", operation_id="examine_reward_model")
    async def examine(version: Version) -> ExaminationReport:
        """On the current labels: accuracy, calibration, and its shaping reward by slot."""
        return await service.read(ExaminationReport, f"{MODELS}/{version}/examination")

    @router.get("/{version}/compare/{other}", operation_id="compare_reward_models")
    async def compare(version: Version, other: Version) -> ComparisonReport:
        """Two versions on the held-out pairs."""
        return await service.read(ComparisonReport, f"{MODELS}/{version}/compare/{other}")


def _add_writes(router: APIRouter, service: Upstream) -> None:
    @router.post("", operation_id="train_reward_model", status_code=202)
    async def train(bearer: Bearer) -> TrainingView:
        """Train now, regardless of the number of new labels; the gate is the same."""
        return await service.change(TrainingView, "POST", MODELS, bearer=bearer)

    @router.post("/{version}/activate", operation_id="activate_reward_model")
    async def activate(version: Version, bearer: Bearer, how: ActivationRequest) -> ChampionReport:
        """Activate a published version, and pin it unless the body says otherwise."""
        return await service.change(
            ChampionReport,
            "POST",
            f"{MODELS}/{version}/activate",
            how.model_dump(),
            bearer=bearer,
        )

    @router.put("/champion/pin", operation_id="pin_champion")
    async def pin(pin: PinRequest, bearer: Bearer) -> ChampionReport:
        """Keep the champion."""
        return await service.change(
            ChampionReport, "PUT", f"{MODELS}/champion/pin", pin.model_dump(), bearer=bearer
        )

    @router.delete("/champion/pin", operation_id="unpin_champion")
    async def unpin(bearer: Bearer) -> ChampionReport:
        """Allow candidates to replace the champion."""
        return await service.change(
            ChampionReport, "DELETE", f"{MODELS}/champion/pin", bearer=bearer
        )


def _view(state: HudState, manifest: RewardModelManifest) -> ModelView:
    return ModelView(manifest=manifest, standing=state.model_standing(manifest.version))


def review_router(service: Upstream) -> APIRouter:
    """The routes; `service` is the reward-model service."""
    router = APIRouter(prefix="/api/v1", tags=["review"], responses=UNREACHED)
    _add_reading(router, service)
    _add_voting(router, service)
    return router


def _add_reading(router: APIRouter, service: Upstream) -> None:
    @router.get("/pairs/next", operation_id="next_pairs")
    async def next_pairs(
        response: Response,
        actor: Annotated[str, Query(max_length=64, description="Name of the person.")] = "",
        limit: Annotated[int, Query(ge=1, le=MAX_NEXT, description="Maximum number.")] = 2,
    ) -> PairList:
        """Pairs that this person has not compared yet, without any opinion about them."""
        response.headers["Cache-Control"] = "no-store"
        return await service.read(PairList, "/api/v1/pairs/next", {"actor": actor, "limit": limit})

    @router.get("/pairs/{pair_id}", operation_id="get_pair")
    async def get_pair(pair_id: PairId) -> PairToReview:
        """One pair; A and B are always the same."""
        return await service.read(PairToReview, f"/api/v1/pairs/{pair_id}")

    @router.get("/votes", operation_id="list_votes")
    async def list_votes(response: Response, paging: Paging) -> Page[VoteRecord]:
        """The log of votes and undone votes, newest first."""
        response.headers["Cache-Control"] = "no-store"
        cursor = encode_cursor(paging.after) if paging.after else None
        parameters = {"limit": paging.limit, "cursor": cursor}
        return await service.read(Page[VoteRecord], "/api/v1/votes", parameters)

    @router.get("/agreement", operation_id="get_agreement")
    async def get_agreement(response: Response) -> AgreementReport:
        """Agreement of each judge with people on pairs, beyond chance."""
        response.headers["Cache-Control"] = "no-store"
        return await service.read(AgreementReport, "/api/v1/agreement")


def _add_voting(router: APIRouter, service: Upstream) -> None:
    @router.post("/preferences/{pair_id}/votes", operation_id="cast_vote", status_code=201)
    async def cast_vote(
        pair_id: PairId, vote: VoteRequest, bearer: Bearer, request_id: RequestId = ""
    ) -> VoteReport:
        """Vote for one of the two; the answer has the judges' opinions.

        The vote is stored in the reward-model service's log and used by the next training.
        """
        return await service.change(
            VoteReport,
            "POST",
            f"/api/v1/preferences/{pair_id}/votes",
            vote.model_dump(),
            bearer=bearer,
            headers=_sent(request_id),
        )

    @router.post("/votes/{number}/undo", operation_id="undo_vote", status_code=201)
    async def undo_vote(
        number: Annotated[int, Path(ge=1, le=10**10 - 1, description="Number of the vote.")],
        by: UndoRequest,
        bearer: Bearer,
        request_id: RequestId = "",
    ) -> VoteRecord:
        """Undo a vote: another line of the log."""
        return await service.change(
            VoteRecord,
            "POST",
            f"/api/v1/votes/{number}/undo",
            by.model_dump(),
            bearer=bearer,
            headers=_sent(request_id),
        )


def _sent(request_id: str) -> dict[str, str]:
    return {"Idempotency-Key": request_id} if request_id else {}
