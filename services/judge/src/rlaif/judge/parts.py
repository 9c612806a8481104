"""Builds the parts of the judge from its settings."""

import contextlib
import re
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from functools import partial

from rlaif.bus.ports import Publisher, TelemetryPublisher
from rlaif.contracts.judging.scores import RUBRIC_WEIGHTS
from rlaif.guides.guides import guided_games, use_worlds
from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.pairs.choice import RequestedPairs
from rlaif.judge.pairs.comparisons import Comparisons
from rlaif.judge.pairs.pair_judge import PairJudge
from rlaif.judge.panel import prompts
from rlaif.judge.panel.panel import Panel
from rlaif.judge.panel.prompts import judge_config_id
from rlaif.judge.routes import build_routes, judge_urls, open_connections
from rlaif.judge.rubric.judges import (
    JUDGES,
    Judge,
    PanelFileError,
    briefed,
    read_panel,
    with_models,
)
from rlaif.judge.scoring.handler import SegmentHandler
from rlaif.judge.scoring.judging import ScoringRules, SegmentJudge
from rlaif.judge.scoring.provisional import ProvisionalScores
from rlaif.judge.scoring.scores import Scores
from rlaif.judge.settings import JudgeSettings
from rlaif.judge.trust.canary_rounds import CanaryRounds
from rlaif.judge.trust.token_budget import TokenBudget
from rlaif.llm.connections import Connections
from rlaif.llm.probing import Prober
from rlaif.llm.route import Route
from rlaif.service.background import BackgroundTasks
from rlaif.service.cli import StartupError
from rlaif.storage.ports import ObjectStore

EVIDENCE_TOKENS = 1250
"""Tokens reserved for the evidence of one segment, by the largest case."""


@dataclass(frozen=True)
class JudgeParts:
    """Judges and their routes by judge name; must be closed."""

    settings: JudgeSettings
    judges: tuple[Judge, ...]
    routes: Mapping[str, Route]
    panel: Panel
    canary_rounds: CanaryRounds
    metrics: JudgeMetrics
    rules: ScoringRules
    connections: Connections
    budget: TokenBudget

    def probers(self) -> dict[str, Prober]:
        return {name: route.prober for name, route in self.routes.items() if route.prober}

    def handler(
        self,
        episodes: ObjectStore,
        models: ObjectStore,
        publisher: Publisher,
        telemetry: TelemetryPublisher,
    ) -> SegmentHandler:
        config, metrics = self.rules.judge_config, self.metrics
        return SegmentHandler(
            episodes,
            SegmentJudge(episodes, telemetry, self.panel, self.rules, metrics, self.canary_rounds),
            Scores(episodes, publisher, config),
            metrics,
            self._comparisons(episodes, models),
            ProvisionalScores(episodes, config, unreadable=self._unreadable),
            self.budget,
        )

    def _comparisons(self, episodes: ObjectStore, models: ObjectStore) -> Comparisons | None:
        if not self.settings.compare_share:
            return None
        config, tokens = self.rules.judge_config, self.settings.voting.answer_tokens
        judge = next(judge for judge in self.judges if judge.answers_for("puzzle"))
        return Comparisons(
            episodes,
            config,
            PairJudge(
                judge, self.routes[judge.name], max_tokens=tokens, on_call=self.metrics.called
            ),
            RequestedPairs(models, episodes, config),
            share=self.settings.compare_share,
            on_compared=self.metrics.compared,
            excluded=self.canary_rounds.excluded,
        )

    def _unreadable(self) -> frozenset[str]:
        return frozenset(name for name, prober in self.probers().items() if prober.unreadable)

    @contextlib.asynccontextmanager
    async def probing(self, *, at_start: bool = True) -> AsyncIterator[None]:
        """Probe the routes in the background inside the context."""
        probes = {
            f"probes of {name}": partial(prober.run, at_start=at_start)
            for name, prober in self.probers().items()
        }
        async with BackgroundTasks(probes).running():
            yield

    async def close(self) -> None:
        for route in self.routes.values():
            await route.close()
        await self.connections.aclose()


def build_parts(
    settings: JudgeSettings,
    make_metrics: Callable[[tuple[Judge, ...]], JudgeMetrics],
    *,
    judges: tuple[Judge, ...] | None = None,
    name: str = "judge",
) -> JudgeParts:
    """Build all parts without opening connections.

    `judges` replace those of the settings. `name` distinguishes processes on one machine with the
    same port.

    Raises:
        StartupError: The panel file, a URL, the CA file or the length of a prompt is invalid.
    """
    use_worlds(settings.worlds_dir)
    judges, tokens = judges or judges_of(settings), settings.voting.answer_tokens
    check_prompt_lengths(judges, tokens)
    urls = [url for url, _ in judge_urls(settings, judges).values()]
    connections = open_connections(settings, urls)
    metrics = make_metrics(judges)
    # A name allowed in object keys.
    replica = re.sub(r"[^a-z0-9-]+", "-", f"{name}-{socket.gethostname()}-{settings.port}".lower())
    budget = TokenBudget(settings.tokens_per_day, replica=replica[:100], on_spent=metrics.spent)
    routes = build_routes(settings, judges, connections, on_spent=budget.spend)
    canary_rounds = CanaryRounds(
        judges,
        routes,
        settings.canary_every,
        max_tokens=tokens,
        on_known=metrics.known,
        on_call=metrics.called,
    )
    panel = Panel(judges, routes, settings.voting, excluded=canary_rounds.excluded)
    rules = _rules(settings, judges)
    return JudgeParts(
        settings, judges, routes, panel, canary_rounds, metrics, rules, connections, budget
    )


def judges_of(settings: JudgeSettings) -> tuple[Judge, ...]:
    """The judges of the panel file, else the built-in ones with the models of the settings."""
    if settings.panel_file is None:
        names = {
            "state": settings.state_model,
            "puzzle": settings.puzzle_model,
            "vision": settings.vision_model,
        }
        return with_models(JUDGES, names)
    try:
        return read_panel(settings.panel_file)
    except PanelFileError as error:
        raise StartupError(f"{error}; set JUDGE_PANEL_FILE") from error


def check_prompt_lengths(judges: tuple[Judge, ...], max_tokens: int) -> None:
    """Raise StartupError unless the prompts and answers of all games fit the judges' models."""
    for judge in judges:
        games = (None, *guided_games())
        ready = [prompts.system_prompt(briefed(judge, game)) for game in games]
        frozen = max(prompts.tokens([{"content": text}]) for text in ready)
        pictures = prompts.PICTURE_TOKENS if judge.pictures else 0
        needed = frozen + EVIDENCE_TOKENS + pictures + max_tokens
        if needed > judge.context_tokens:
            raise StartupError(
                f"judge {judge.name} needs about {needed} tokens (frozen part {frozen}, answer "
                f"{max_tokens}), but the context of its model has {judge.context_tokens}; shorten "
                "its guide or lower JUDGE_MAX_TOKENS or JUDGE_THINKING_TOKENS"
            )


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
