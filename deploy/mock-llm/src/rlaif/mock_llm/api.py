"""The routes of the stand-in: completions and models by route, and the faults."""

import asyncio
import time
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter, Header, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field, ValidationError

from rlaif.mock_llm import mishaps, wire
from rlaif.mock_llm.answering import answer
from rlaif.mock_llm.faults import Fault, FaultPlanError, choose, parse_header, parse_plan
from rlaif.mock_llm.manners import seeded
from rlaif.mock_llm.reading import UnreadablePromptError
from rlaif.mock_llm.settings import MannerSettings, MockLlmSettings
from rlaif.service.metrics import ServiceMetrics
from rlaif.service.problems import Problem

RouteName = StrEnum("RouteName", {name: name for name in wire.ROUTES})  # type: ignore[misc]  # made from the one table of routes


class FaultPlan(BaseModel):
    """Body of `PUT /faults`."""

    spec: str = Field(description="Such as `429:0.05,vision/garbage:1`; empty for no faults.")


class StandIn:
    """The answering side: its settings, and the faults and the manner of now."""

    def __init__(self, settings: MockLlmSettings, metrics: ServiceMetrics) -> None:
        self._settings = settings
        self._calls = metrics.counter(
            "completions", "Chat completions asked for, by fault.", ("route", "fault")
        )
        self._teacher = settings.simulated_teacher()
        # Whether a fault strikes depends on the seed and on how many requests came before. It must
        # not depend on the request: the same one would fail for ever.
        self._draw: Callable[[], float] = seeded(settings.manner.seed, "faults").random
        self.plan = parse_plan(settings.fault)
        self.manner = settings.manner

    async def complete(
        self, route: str, chat: wire.ChatRequest, request: Request, fault_header: str | None
    ) -> Response:
        """Answer one request, or do to it what the fault says."""
        plan = (parse_header(fault_header),) if fault_header else self.plan
        fault = choose(plan, route, self._draw, model=chat.model)
        self._calls.labels(route, fault.value if fault else "none").inc()
        mishap = await mishaps.instead_of_an_answer(
            fault, chat, request, retry_after_seconds=self._settings.retry_after_seconds
        )
        if mishap is not None:
            return mishap
        if chat.stream:
            raise UnreadablePromptError("this stand-in does not stream; leave `stream` out")
        reply = self._reply(chat, fault)
        await asyncio.sleep(self._latency(chat, fault))
        return JSONResponse(reply)

    def _reply(self, chat: wire.ChatRequest, fault: Fault | None) -> dict[str, Any]:
        done = answer(chat, self.manner, self._teacher)
        text, finish_reason = mishaps.spoil(fault, done.text)
        return wire.completion(
            chat,
            text,
            created=int(time.time()),
            prompt_tokens=done.prompt_tokens,
            completion_tokens=done.completion_tokens,
            finish_reason=finish_reason or done.finish_reason,
        )

    def _latency(self, chat: wire.ChatRequest, fault: Fault | None) -> float:
        if fault is Fault.SLOW:
            return self._settings.slow_seconds
        jitter = seeded(self._settings.manner.seed, chat.seed, "latency").random()
        return self._settings.latency_seconds + jitter * self._settings.jitter_seconds


def build_router(stand_in: StandIn) -> APIRouter:
    """The routes around `stand_in`."""
    router = APIRouter()

    @router.post("/{route}/v1/chat/completions", summary="Answer a judge prompt")
    async def create_completion(
        route: RouteName,
        chat: wire.ChatRequest,
        request: Request,
        x_mock_fault: Annotated[str | None, Header(description="Such as `429;p=0.3`.")] = None,
    ) -> Response:
        try:
            return await stand_in.complete(route.value, chat, request, x_mock_fault)
        except (UnreadablePromptError, FaultPlanError) as error:
            return JSONResponse(wire.error(str(error), "invalid_request_error"), status_code=400)

    @router.get("/{route}/v1/models", summary="The models of a route")
    async def list_models(route: RouteName) -> dict[str, Any]:
        return wire.model_list(route.value)

    @router.get("/faults", summary="What goes wrong on purpose now")
    async def get_faults() -> list[dict[str, Any]]:
        return mishaps.describe(stand_in.plan)

    @router.put("/faults", summary="Change what goes wrong on purpose")
    async def put_faults(plan: FaultPlan) -> list[dict[str, Any]]:
        try:
            stand_in.plan = parse_plan(plan.spec)
        except FaultPlanError as error:
            raise Problem(422, "invalid-fault-plan", "Invalid fault plan", str(error)) from error
        return mishaps.describe(stand_in.plan)

    @router.get("/manner", summary="How it answers now")
    async def get_manner() -> MannerSettings:
        return stand_in.manner

    @router.put("/manner", summary="Change how it answers; what is not named stays")
    async def put_manner(changes: dict[str, Any]) -> MannerSettings:
        try:
            changed = MannerSettings.model_validate(stand_in.manner.model_dump() | changes)
        except ValidationError as error:
            detail = str(error.errors()[0]["msg"])
            raise Problem(422, "invalid-manner", "Invalid manner", detail) from error
        stand_in.manner = changed
        return changed

    return router
