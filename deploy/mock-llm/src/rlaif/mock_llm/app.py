"""The FastAPI app of the mock LLM: completions and models by route, faults."""

import asyncio
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Path, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from rlaif.guides.guides import use_worlds
from rlaif.mock_llm import chat as api
from rlaif.mock_llm.answering import answer
from rlaif.mock_llm.behaviour import seeded
from rlaif.mock_llm.chat import ROUTES, ChatRequest, UnreadablePromptError
from rlaif.mock_llm.faults import (
    FaultPlanError,
    choose,
    faulty_reply,
    parse_plan,
    spoil,
)
from rlaif.mock_llm.settings import MockLlmSettings
from rlaif.service.app import build_app
from rlaif.service.health import Readiness
from rlaif.service.metrics import ServiceMetrics
from rlaif.service.problems import Problem

RouteName = StrEnum("RouteName", {name: name for name in ROUTES})  # type: ignore[misc]  # made from the one table of routes

Route = Annotated[RouteName, Path(description="Route of a model.")]


class FaultPlan(BaseModel):
    """Body of `PUT /faults`."""

    spec: str = Field(description="Such as `429:0.05,vision/garbage:1`; empty for no faults.")


class MockLlm:
    """Answers requests, with the current faults and behaviour."""

    def __init__(self, settings: MockLlmSettings, metrics: ServiceMetrics) -> None:
        self._settings = settings
        self._calls = metrics.counter(
            "completions", "Chat completions by route and fault.", ("route", "fault")
        )
        # Faults depend on the seed and the number of earlier requests. If they depended on the
        # request, a failed request would fail again at each retry.
        self._draw: Callable[[], float] = seeded(settings.behaviour.seed, "faults").random
        self.plan = parse_plan(settings.fault)
        self._behaviour = settings.behaviour

    async def complete(self, route: str, chat: ChatRequest, request: Request) -> Response:
        fault = choose(self.plan, route, self._draw, model=chat.model)
        self._calls.labels(route, fault.value if fault else "none").inc()
        reply = await faulty_reply(
            fault, chat, request, retry_after_seconds=self._settings.retry_after_seconds
        )
        if reply is not None:
            return reply
        if chat.stream:
            raise UnreadablePromptError("this mock LLM does not stream; omit `stream`")
        text, spoilt_reason = spoil(fault, answer(chat, self._behaviour))
        text, tokens, finish_reason = chat.cut(text)
        await asyncio.sleep(self._latency(chat))
        return JSONResponse(api.completion(chat, text, tokens, spoilt_reason or finish_reason))

    def _latency(self, chat: ChatRequest) -> float:
        jitter = seeded(self._settings.seed, chat.seed, "latency").random()
        return self._settings.latency_seconds + jitter * self._settings.jitter_seconds


def build_router(mock: MockLlm) -> APIRouter:
    """The routes of the API."""
    router = APIRouter()

    @router.post("/{route}/v1/chat/completions", summary="Answer a judge prompt")
    async def create_completion(route: Route, chat: ChatRequest, request: Request) -> Response:
        try:
            return await mock.complete(route.value, chat, request)
        except UnreadablePromptError as error:
            return JSONResponse(api.error(str(error), "invalid_request_error"), status_code=400)

    @router.get("/{route}/v1/models", summary="The models of a route")
    async def list_models(route: Route) -> dict[str, Any]:
        return api.model_list(route.value)

    @router.put("/faults", summary="Change the faults")
    async def put_faults(plan: FaultPlan) -> list[dict[str, Any]]:
        try:
            mock.plan = parse_plan(plan.spec)
        except FaultPlanError as error:
            raise Problem(422, "invalid-fault-plan", "Invalid fault plan", str(error)) from error
        return [entry.as_json() for entry in mock.plan]

    return router


def create_app(settings: MockLlmSettings) -> FastAPI:
    """Build the app, which is always ready."""
    use_worlds(settings.worlds_dir)
    metrics = ServiceMetrics("mock-llm")
    return build_app(
        name="mock-llm",
        title="Mock LLM: a simulated expert behind an OpenAI-compatible API",
        settings=settings,
        lifespan=None,
        routers=[build_router(MockLlm(settings, metrics))],
        readiness=Readiness(),
        metrics=metrics,
    )
