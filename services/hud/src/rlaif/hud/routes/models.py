"""REST routes of reward models and review, most of them forwarded to the reward-model service."""

from fastapi import APIRouter

from rlaif.hud.read_model.models import RejectionView
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.upstream import Upstream, forwarding_router
from rlaif.service.paging import Page, Paging

MODELS = "/api/v1/reward-models"

FORWARDED = (
    ("GET", MODELS, ""),
    ("POST", MODELS, ""),
    ("GET", f"{MODELS}/champion", ""),
    ("PUT", f"{MODELS}/champion/pin", ""),
    ("DELETE", f"{MODELS}/champion/pin", ""),
    ("GET", f"{MODELS}/training", "/api/v1/training"),
    ("GET", f"{MODELS}/watchdog", "/api/v1/watchdog"),
    ("GET", f"{MODELS}/{{version}}", ""),
    ("GET", f"{MODELS}/{{version}}/gate", ""),
    ("GET", f"{MODELS}/{{version}}/examination", ""),
    ("GET", f"{MODELS}/{{version}}/compare/{{other}}", ""),
    ("POST", f"{MODELS}/{{version}}/activate", ""),
)

REVIEW = (
    ("GET", "/api/v1/pairs/next", ""),
    ("GET", "/api/v1/pairs/{pair_id}", ""),
    ("POST", "/api/v1/preferences/{pair_id}/votes", ""),
    ("GET", "/api/v1/votes", ""),
    ("POST", "/api/v1/votes/{number}/undo", ""),
    ("GET", "/api/v1/agreement", ""),
)


def models_router(state: HudState, service: Upstream) -> APIRouter:
    """The routes; `service` is the reward-model service."""
    router = APIRouter()

    @router.get(
        f"{MODELS}/rejected", operation_id="list_rejected_reward_models", tags=["reward-models"]
    )
    async def list_rejected(paging: Paging) -> Page[RejectionView]:
        """Rejected candidates, newest first, with measurements and reasons."""
        rows = state.models.rejections()
        if paging.after:
            ids = [row.candidate_id for row in rows]
            rows = rows[ids.index(paging.after) + 1 :] if paging.after in ids else []
        return paging.take(rows, key=lambda row: row.candidate_id)

    router.include_router(forwarding_router(service, "reward-models", FORWARDED))
    router.include_router(forwarding_router(service, "review", REVIEW))
    return router
