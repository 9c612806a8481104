"""Builds the panel from the settings: judges, routes, votes, and the id of all that."""

import asyncio
import contextlib
import re
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from rlaif.contracts.scores import RUBRIC_WEIGHTS
from rlaif.guides.guides import guided_games
from rlaif.judge.consumers import ScoringParts
from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.panel import prompts
from rlaif.judge.panel.comparisons import Comparisons
from rlaif.judge.panel.identity import judge_config_id
from rlaif.judge.panel.pair_choice import Kind
from rlaif.judge.panel.panel import Panel
from rlaif.judge.panel.scoring import ScoringRules
from rlaif.judge.rejudging import Rejudging
from rlaif.judge.routes.cache import AnswerCache
from rlaif.judge.routes.examining import Examination, Examiner
from rlaif.judge.routes.metered import MeteredModel
from rlaif.judge.routes.route import Route, RouteLimits
from rlaif.judge.routes.trouble_words import Advice
from rlaif.judge.rubric.judges import JUDGES, Judge, briefed, with_models
from rlaif.judge.rubric.panel_file import PanelFileError, read_panel
from rlaif.judge.settings import CompareSettings, JudgeSettings
from rlaif.judge.trust.canary_rounds import CanaryRounds, known_questions
from rlaif.judge.trust.token_budget import TokenBudget
from rlaif.llm.addresses import routed
from rlaif.llm.connections import Connections
from rlaif.llm.openai import OpenAiModel, connections_to
from rlaif.llm.ports import ClientSetupError, CompletionRequest, ModelError
from rlaif.network.addresses import is_http_url, without_credentials
from rlaif.service.cli import StartupError
from rlaif.storage.ports import ObjectStore

_OWN_URLS = ("state", "puzzle", "vision")
"""Judges whose URL has a setting of its own."""

_READER = "puzzle"
"""Judge that compares pairs without pictures; a panel without it uses its first one."""

EVIDENCE_TOKENS = 1250
"""Room for the evidence of the busiest segment, so that a prompt that fits once fits always."""


@dataclass(frozen=True)
class JudgeParts:
    """The judges with their routes by judge name, ready to be asked; to be closed at the end."""

    judges: tuple[Judge, ...]
    routes: Mapping[str, Route]
    panel: Panel
    canary_rounds: CanaryRounds
    metrics: JudgeMetrics
    rules: ScoringRules
    connections: Connections
    budget: TokenBudget

    def judge(self, name: str) -> Judge | None:
        """The judge of that name."""
        return next((judge for judge in self.judges if judge.name == name), None)

    def scoring(self, store: ObjectStore, comparisons: Comparisons | None = None) -> ScoringParts:
        """What a segment is scored with."""
        return ScoringParts(
            self.panel,
            self.rules,
            self.metrics,
            self.canary_rounds,
            comparisons,
            self.budget,
            Rejudging(store, self.rules.judge_config, distrusted=self.unheard),
        )

    def unheard(self) -> frozenset[str]:
        """Judges that are not believed on something now, or whose answers cannot be read."""
        unreadable = (name for name, each in self.examiners().items() if each.unreadable)
        return frozenset(self.canary_rounds.distrusted()).union(unreadable)

    def examiners(self) -> dict[str, Examiner]:
        """Judge name → who knows how its route is."""
        return {n: route.examiner for n, route in self.routes.items() if route.examiner}

    @contextlib.asynccontextmanager
    async def examined(self, *, at_start: bool = True) -> AsyncIterator[None]:
        """Look after the routes in the background while the context is open."""
        tasks = [
            asyncio.create_task(examiner.run(at_start=at_start))
            for examiner in self.examiners().values()
        ]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def close(self) -> None:
        """Give the connections back."""
        for route in self.routes.values():
            await route.close()
        await self.connections.aclose()


def build_parts(
    settings: JudgeSettings,
    make_metrics: Callable[[tuple[Judge, ...]], JudgeMetrics],
    *,
    name: str = "judge",
) -> JudgeParts:
    """Put the judges together; opens no connection yet.

    `name` tells apart what runs on one machine with the same port.

    Raises:
        StartupError: The panel file, the CA file or a prompt's length is wrong.
    """
    judges = judges_of(settings)
    judges_of_pairs(settings.compare, judges)
    check_budgets(judges, settings.voting.answer_tokens)
    urls = judge_urls(settings, judges)
    connections = _connections(settings, [url for url, _ in urls.values()])
    metrics = make_metrics(judges)
    budget = TokenBudget(
        settings.tokens_per_day,
        replica=_replica(f"{name}-{socket.gethostname()}-{settings.port}"),
        on_spent=metrics.spent,
    )
    routes = _routes(settings, judges, metrics, connections, budget, urls)
    canary_rounds = CanaryRounds(
        judges,
        routes,
        settings.trust,
        max_tokens=settings.voting.answer_tokens,
        on_belief=metrics.known,
        on_call=metrics.called,
    )
    rules = _rules(settings, judges)
    panel = Panel(
        judges,
        routes,
        settings.voting,
        cache=AnswerCache(settings.cached_answers),
        distrusted=canary_rounds.distrusted,
    )
    return JudgeParts(judges, routes, panel, canary_rounds, metrics, rules, connections, budget)


def _replica(text: str) -> str:
    """A name as object keys may have it."""
    return re.sub(r"[^a-z0-9-]+", "-", text.lower())[:100]


def judges_of(settings: JudgeSettings) -> tuple[Judge, ...]:
    """The judges of the panel file, else the built-in ones with the models of the settings."""
    if settings.panel_file is None:
        return with_models(
            JUDGES,
            {
                "state": settings.state_model,
                "puzzle": settings.puzzle_model,
                "vision": settings.vision_model,
            },
        )
    try:
        return read_panel(settings.panel_file)
    except PanelFileError as error:
        raise StartupError(f"{error}; set JUDGE_PANEL_FILE") from error


def judges_of_pairs(compare: CompareSettings, judges: tuple[Judge, ...]) -> dict[Kind, Judge]:
    """Where a pair comes from → the judge that compares it; empty if pairs are not compared."""
    if not compare.share:
        return {}
    reader = next((judge for judge in judges if judge.name == _READER), judges[0])
    viewer = next((judge for judge in judges if judge.pictures), None)
    of_text: dict[Kind, Judge] = {"near_tie": reader, "wanted": reader}
    return of_text if viewer is None else of_text | {"ram_tie": viewer}


def check_budgets(judges: tuple[Judge, ...], max_tokens: int) -> None:
    """See that every judge's prompt of any game and its answer fit its model, else StartupError."""
    for judge in judges:
        games = (None, *guided_games())
        ready = [prompts.system_prompt(briefed(judge, game)) for game in games]
        frozen = max(prompts.tokens([{"content": text}]) for text in ready)
        pictures = prompts.PICTURE_TOKENS if judge.pictures else 0
        needed = frozen + EVIDENCE_TOKENS + pictures + max_tokens
        if needed > judge.context_tokens:
            raise StartupError(
                f"judge {judge.name} needs about {needed} tokens (frozen part {frozen}, answer "
                f"{max_tokens}) and its model takes {judge.context_tokens}; shorten its guide or "
                "lower JUDGE_MAX_TOKENS or JUDGE_THINKING_TOKENS"
            )


def judge_urls(
    settings: JudgeSettings, judges: tuple[Judge, ...]
) -> dict[str, tuple[str, str | None]]:
    """Judge name → (URL, URL to ask where a server has no such route).

    The URL is its own setting, else its workload service or route, as LLM_USE_DIRECT says.
    """
    base_url = settings.llm_base_url
    own = {
        "state": settings.llm_state_url,
        "puzzle": settings.llm_puzzle_url,
        "vision": settings.llm_vision_url,
    }
    urls: dict[str, tuple[str, str | None]] = {}
    for judge in judges:
        direct = ""
        if settings.llm_use_direct:
            direct = direct_url(judge.model, settings.llm_namespace)
        url = own.get(judge.name) or direct
        if not is_http_url(url or base_url):
            raise StartupError(
                f"the URL of judge {judge.name}, {without_credentials(url or base_url)!r}, is "
                f"not valid: set LLM_BASE_URL or LLM_{judge.name.upper()}_URL to one like "
                "http://host:8000/v1"
            )
        urls[judge.name] = (url, None) if url else routed(base_url, judge.route)
    return urls


def direct_url(model: str, namespace: str) -> str:
    """The workload service that KServe makes for the LLMInferenceService `model`."""
    return f"https://{model}-kserve-workload-svc.{namespace}.svc.cluster.local:8000"


def _connections(settings: JudgeSettings, urls: Iterable[str]) -> Connections:
    key = settings.llm_api_key.get_secret_value() if settings.llm_api_key else None
    if key is not None and not (key.isascii() and key.isprintable()):
        raise StartupError(
            "LLM_API_KEY has characters that no header may hold, such as a line break at its end; "
            "set it without them"
        )
    try:
        return connections_to(settings.calls, api_key=key, ca_file=settings.llm_ca_file, urls=urls)
    except ClientSetupError as error:
        raise StartupError(str(error)) from error
    except OSError as error:
        raise StartupError(
            f"{settings.llm_ca_file} is no PEM file of certificates: {error}; set LLM_CA_FILE"
        ) from error


def _routes(
    settings: JudgeSettings,
    judges: tuple[Judge, ...],
    metrics: JudgeMetrics,
    connections: Connections,
    budget: TokenBudget,
    urls: Mapping[str, tuple[str, str | None]],
) -> dict[str, Route]:
    routes: dict[str, Route] = {}

    def any_well() -> bool:
        return any(
            routes[judge.name].is_well("pictures" if judge.pictures else "text") for judge in judges
        )

    for judge in judges:
        url, base = urls[judge.name]
        model = OpenAiModel(connections, url, settings.calls, settings.dialect, base=base)
        routes[judge.name] = Route(
            _route_name(url, judge.name),
            MeteredModel(
                model,
                prompt_tokens=lambda request: prompts.tokens(request.messages),
                on_spent=budget.spend,
            ),
            RouteLimits(settings.calls, settings.breaker),
            examination=Examination(
                questions=known_questions(judge, max_tokens=settings.voting.answer_tokens),
                patience=settings.patience,
                pause_seconds=settings.route_check_seconds,
                advice=_advice(settings, judge),
                on_question=partial(_checked, metrics, judge.name),
                is_up=model.is_up,
                any_well=any_well,
            ),
        )
    return routes


def _checked(
    metrics: JudgeMetrics, judge: str, request: CompletionRequest, error: ModelError | None
) -> None:
    metrics.route_checked(judge, request.modality, error)


def _advice(settings: JudgeSettings, judge: Judge) -> Advice:
    """Where a person sets what a route of the judge needs."""
    base = "LLM_NAMESPACE" if settings.llm_use_direct else "LLM_BASE_URL"
    own = f"LLM_{judge.name.upper()}_URL"
    return Advice(
        url=f"{own} or {base}" if judge.name in _OWN_URLS else base,
        model=(
            f"the model {judge.model} of {settings.panel_file.name} (JUDGE_PANEL_FILE)"
            if settings.panel_file
            else f"JUDGE_{judge.name.upper()}_MODEL ({judge.model})"
        ),
        lost=", ".join(criterion.name for criterion in judge.criteria),
    )


def _route_name(url: str, judge: str) -> str:
    """The path without the host: it goes into scores, which must not name a cluster."""
    return urlsplit(url).path.rstrip("/").removesuffix("/v1") or f"/{judge}"


def _rules(settings: JudgeSettings, judges: tuple[Judge, ...]) -> ScoringRules:
    weights, computed = RUBRIC_WEIGHTS, settings.computed_kinds()
    config = judge_config_id(
        judges,
        weights=weights,
        voting=settings.voting,
        computed=computed,
        dialect=settings.dialect,
    )
    return ScoringRules(config, weights, judges, computed, settings.audit_share)
