"""The reward-model service: a web app with a training task."""

from fastapi import FastAPI

from rlaif.contracts.judging.reviews import VoteRecord
from rlaif.contracts.reward_models import RewardModelManifest
from rlaif.reward_model.api.labels import build_router
from rlaif.reward_model.api.review import build_review_router
from rlaif.reward_model.api.versions import build_versions_router
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_model.metrics import RewardModelMetrics
from rlaif.reward_model.runtime import Runtime
from rlaif.reward_model.settings import RewardModelSettings, TrainingSettings
from rlaif.service.app import build_app
from rlaif.service.health import Readiness
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage.ports import ObjectStore


def create_app(
    settings: RewardModelSettings,
    *,
    stores: tuple[ObjectStore, ObjectStore] | None = None,
    candidate: CandidateSettings | None = None,
    timing: TrainingSettings | None = None,
) -> FastAPI:
    """Build the service.

    Tests replace the stores (episodes, models), the candidate settings and the timing.
    """
    metrics, readiness = ServiceMetrics("reward-model"), Readiness()
    runtime = Runtime(
        settings,
        RewardModelMetrics(metrics),
        metrics.worker_observer(),
        stores=stores,
        candidate=candidate,
        timing=timing,
    )
    runtime.lifecycle.add_checks(readiness)
    readiness.add("champion", runtime.check_champion)
    readiness.add("training", runtime.check_training)
    readiness.add("tasks", runtime.check_tasks)
    return build_app(
        name="reward-model",
        title="Reward model: learns the preferences of the judges",
        settings=settings,
        lifespan=lambda _app: runtime.lifecycle.running(readiness),
        routers=[
            build_router(runtime.training),
            build_versions_router(runtime.training, runtime.monitor),
            build_review_router(runtime.review),
        ],
        readiness=readiness,
        metrics=metrics,
        writes={"reward_model_manifest": RewardModelManifest, "vote_record": VoteRecord},
    )
