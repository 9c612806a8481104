"""Every list of every service, asked with any cursor: a page or a 400, never a 500."""

import base64
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rlaif.bus.outbox import Outbox
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.routes.segments import segments_router
from rlaif.judge.api import build_router as judge_router
from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.parts import build_parts
from rlaif.judge.settings import JudgeSettings
from rlaif.reward_model.api.review import build_review_router
from rlaif.reward_model.api.versions import build_versions_router
from rlaif.reward_model.champions.registry import ModelRegistry
from rlaif.reward_model.champions.reward_hacking_monitor import RewardHackingMonitor
from rlaif.reward_model.labels.label_log import LabelLog
from rlaif.reward_model.labels.score_reading import ScoreReader
from rlaif.reward_model.labels.votes import VoteLog
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_model.metrics import RewardModelMetrics
from rlaif.reward_model.review.service import Review
from rlaif.reward_model.settings import TrainingSettings
from rlaif.reward_model.training_loop import TrainingLoop
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage.file import FileStore
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.judging.candidates import train_here
from rlaif.testing.data.judging.segments import write_segment
from rlaif.testing.publisher import RecordingPublisher
from rlaif.testing.servers.client import app_of
from rlaif.trainer.service.app import create_app as trainer_app
from rlaif.trainer.settings import TrainerSettings

NOW = datetime(2026, 1, 2, tzinfo=UTC)

cursors = st.one_of(
    st.text(max_size=40),
    st.text(max_size=40).map(lambda key: base64.urlsafe_b64encode(key.encode()).decode()),
    st.binary(max_size=40).map(lambda raw: base64.urlsafe_b64encode(raw).decode().rstrip("=")),
    st.sampled_from("²٣Ⅷ①-+_. \x00\n\u2028\U0001f40d").map(
        lambda key: base64.urlsafe_b64encode(key.encode()).decode().rstrip("=")
    ),
)


def judge(store: ObjectStore) -> FastAPI:
    settings = JudgeSettings(llm_base_url="http://127.0.0.1:1")
    parts = build_parts(settings, lambda judges: JudgeMetrics(ServiceMetrics("judge"), judges))
    return app_of(judge_router(parts, lambda: store))


def reward_model(store: ObjectStore) -> FastAPI:
    registry, votes = ModelRegistry(store, now=lambda: NOW), VoteLog(store)
    training = TrainingLoop(
        LabelLog(store, judge_config=None, most_labels=10),
        registry,
        Outbox(RecordingPublisher()),
        CandidateSettings(),
        TrainingSettings(),
        RewardModelMetrics(ServiceMetrics("reward-model")),
        now=lambda: NOW,
        train=train_here,
    )
    desk = Review(training, votes, ScoreReader(store), now=lambda: NOW)
    return app_of(
        build_versions_router(lambda: training, RewardHackingMonitor),
        build_review_router(lambda: desk),
    )


def hud(store: ObjectStore) -> FastAPI:
    return app_of(segments_router(HudState(epoch="e"), store))


def trainer(store: ObjectStore) -> FastAPI:
    return trainer_app(TrainerSettings(data_dir=Path(store.url.removeprefix("file://"))))


@pytest.fixture(
    scope="module", params=[judge, reward_model, hud, trainer], ids=lambda m: m.__name__
)
def app(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    store = FileStore(tmp_path_factory.mktemp("objects"))
    write_segment(store)
    made: FastAPI = request.param(store)
    return made


@settings(max_examples=150, deadline=None)
@given(cursor=cursors)
@example(cursor="wrI")
async def test_any_cursor_gives_a_page_or_a_400(app: FastAPI, cursor: str) -> None:
    lists = [
        path
        for path, methods in app.openapi()["paths"].items()
        if any(each["name"] == "cursor" for each in methods.get("get", {}).get("parameters", ()))
    ]
    assert lists
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        for path in lists:
            answer = await client.get(path, params={"cursor": cursor})
            assert answer.status_code in (200, 400), (path, answer.text)
