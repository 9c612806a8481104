"""Builds the panel from the settings: judges, routes, votes, and the id of all that."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

from rlaif.contracts.scores import RUBRIC_WEIGHTS
from rlaif.judge.adapters.openai import CallTimes, OpenAiModel, http_client
from rlaif.judge.breaker import Breaker
from rlaif.judge.consumers import ScoringRules
from rlaif.judge.identity import judge_config_id
from rlaif.judge.judges import JUDGES, Judge, with_models
from rlaif.judge.panel import Panel, VotePolicy
from rlaif.judge.ports import LanguageModel
from rlaif.judge.routes import RetryPolicy, Route
from rlaif.judge.settings import JudgeSettings


@dataclass(frozen=True)
class Bench:
    """The judges, ready to be asked.

    Attributes:
        judges: Who judges what.
        routes: Judge name → its route.
        panel: Asks them.
        rules: What their scores are made with.
        client: The HTTP client of the routes; to be closed at the end.
    """

    judges: tuple[Judge, ...]
    routes: Mapping[str, Route]
    panel: Panel
    rules: ScoringRules
    client: httpx.AsyncClient


def build_bench(settings: JudgeSettings) -> Bench:
    """Put the judges together; opens no connection yet."""
    times = CallTimes(
        connect=settings.connect_timeout_seconds,
        read=settings.read_timeout_seconds,
        total=settings.call_timeout_seconds,
    )
    key = settings.llm_api_key.get_secret_value() if settings.llm_api_key else None
    client = http_client(api_key=key, times=times, connections=settings.llm_concurrency)
    judges = with_models(JUDGES, _models(settings))
    routes = _routes(settings, judges, lambda url: OpenAiModel(client, url, times))
    policy = VotePolicy(
        votes=settings.votes,
        temperature=settings.temperature,
        seed=settings.seed,
        max_tokens=settings.max_tokens,
    )
    return Bench(judges, routes, Panel(judges, routes, policy), _rules(settings, judges), client)


def judge_urls(settings: JudgeSettings, judges: tuple[Judge, ...]) -> dict[str, str]:
    """Judge name → URL of its model: its own setting, or its route below LLM_BASE_URL."""
    own = {
        "state": settings.llm_state_url,
        "puzzle": settings.llm_puzzle_url,
        "vision": settings.llm_vision_url,
    }
    base = settings.llm_base_url.rstrip("/")
    return {judge.name: own.get(judge.name) or f"{base}{judge.route}" for judge in judges}


def _models(settings: JudgeSettings) -> dict[str, str]:
    return {
        "state": settings.state_model,
        "puzzle": settings.puzzle_model,
        "vision": settings.vision_model,
    }


def _routes(
    settings: JudgeSettings, judges: tuple[Judge, ...], model_at: Callable[[str], LanguageModel]
) -> dict[str, Route]:
    slots = asyncio.Semaphore(settings.llm_concurrency)
    return {
        name: Route(
            # The path without the host: it goes into scores, which must not name a cluster.
            urlsplit(url).path.removesuffix("/v1") or "/",
            model_at(url),
            slots=slots,
            retry=RetryPolicy(attempts=settings.call_attempts),
            breaker=Breaker(settings.breaker_failures, settings.breaker_pause_seconds),
        )
        for name, url in judge_urls(settings, judges).items()
    }


def _rules(settings: JudgeSettings, judges: tuple[Judge, ...]) -> ScoringRules:
    config = judge_config_id(
        judges,
        weights=RUBRIC_WEIGHTS,
        votes=settings.votes,
        temperature=settings.temperature,
        seed=settings.seed,
    )
    pictures = max(judge.pictures for judge in judges)
    return ScoringRules(judge_config=config, weights=RUBRIC_WEIGHTS, pictures=pictures)
