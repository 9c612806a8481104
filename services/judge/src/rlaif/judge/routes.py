"""Builds the route of each judge from the settings, and describes outages to the operator."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from rlaif.judge.panel import prompts
from rlaif.judge.rubric.judges import Judge
from rlaif.judge.settings import JudgeSettings
from rlaif.judge.trust.canary_rounds import known_questions
from rlaif.judge.trust.token_budget import MeteredModel
from rlaif.llm.addresses import routed
from rlaif.llm.cache import AnswerCache
from rlaif.llm.connections import Connections
from rlaif.llm.openai import OpenAiModel, connections_to
from rlaif.llm.ports import (
    CallTimeoutError,
    ClientSetupError,
    CompletionRequest,
    ModelError,
    ThrottledError,
)
from rlaif.llm.probing import Outage, Probe
from rlaif.llm.reply import CUT_OFF
from rlaif.llm.route import Completion, Route
from rlaif.network.addresses import is_http_url, without_credentials
from rlaif.service.cli import StartupError

_BUILT_IN = ("state", "puzzle", "vision")
"""Judges with their own URL settings."""
_CHECKS: dict[str, tuple[str, ...]] = {
    "JUDGE_CHAT_TEMPLATE_KWARGS": ("chat_template", "enable_thinking"),
    "JUDGE_SCHEMA_MODE: the server does not accept the schema in this mode": (
        "response_format", "schema", "guided", "grammar", "structured",
    ),
    "the context of its server (vLLM: --max-model-len, llama.cpp: -c), JUDGE_MAX_TOKENS, "
    "JUDGE_THINKING_TOKENS": ("context", "max_tokens", "max_new_tokens", "max_completion_tokens"),
}  # fmt: skip
"""Settings to check → words in the message of a rejection."""


@dataclass(frozen=True)
class Advice:
    """Describes outages of a judge's route: problem, settings to check, and consequences.

    Attributes:
        url: Settings of its URL.
        model: Setting of its model.
        lost: The criteria that it judges.
        any_healthy: Whether any route of the panel works; otherwise all segments wait.
    """

    url: str = "LLM_BASE_URL"
    model: str = "the name of the model"
    lost: str = "its criteria"
    any_healthy: Callable[[], bool] = lambda: True

    def describe(self, outage: Outage, waiting: bool) -> str:
        if outage.kind == "silent":
            return (
                f"{outage.error}; is its server overloaded or hung? See its log. "
                "A call may take JUDGE_CALL_TIMEOUT_SECONDS"
            )
        problem = self._problem(outage)
        end = "" if problem.endswith("?") else "."
        return f"{problem}{end} {self._consequence(outage, waiting)}"

    def _consequence(self, outage: Outage, waiting: bool) -> str:
        if waiting:
            return f"Segments that need it for {self.lost} wait"
        if not self.any_healthy():
            return "No judge can be asked now, so all segments wait"
        if outage.kind == "unreadable":
            return (
                f"Segments are scored without {self.lost} for now, and again once its answers can "
                "be read"
            )
        return f"Segments are scored without its votes on {self.lost}"

    def _problem(self, outage: Outage) -> str:
        url, model, error = self.url, self.model, outage.error
        if outage.kind == "unreadable":
            return f"answers in a format that cannot be parsed: {error}; {self._readable(error)}"
        if outage.kind == "blind":
            return (
                f"answers text and fails on every picture: {error}; check {model} and {url}; the "
                "model must accept pictures"
            )
        if outage.kind == "partial":
            return (
                "answers control questions and rejects most segments, which are longer: "
                f"{error}; check {self._to_check(error)}"
            )
        if isinstance(error, ThrottledError):
            return (
                f"answers nothing but 429: {error}; is a quota used up? "
                "Or set JUDGE_LLM_CALLS_PER_SECOND"
            )
        if isinstance(error, CallTimeoutError) and error.is_slow:
            return (
                f"is slow: {error}, but its server answers /models; raise "
                f"JUDGE_CALL_TIMEOUT_SECONDS, lower JUDGE_LLM_CONCURRENCY, or change {model}"
            )
        if outage.kind == "down":
            return f"does not answer: {error}; is the server up, and {url} right?"
        return f"refuses every call: {error}; check {self._to_check(error)}"

    def _readable(self, error: ModelError) -> str:
        """Settings that may help; the message of a truncated answer names its own."""
        change = f"or change {self.model}"
        if error.fault == CUT_OFF:
            return change
        if "content_filter" in str(error):
            return f"see the content filter of its provider, {change}"
        return (
            "set JUDGE_SCHEMA_MODE to a mode that its server enforces (now the output is not "
            f"constrained), raise JUDGE_MAX_TOKENS, {change}"
        )

    def _to_check(self, error: ModelError) -> str:
        """Settings that may cause a rejection; some servers name the parameter."""
        if error.status in (401, 403):
            return f"LLM_API_KEY, {self.url}, {self.model}"
        if error.status == 402:
            return "the credit of the account that LLM_API_KEY belongs to"
        message = str(error).lower()
        named = (check for check, words in _CHECKS.items() if any(w in message for w in words))
        return next(named, f"{self.model}, {self.url}")


def build_routes(
    settings: JudgeSettings,
    judges: tuple[Judge, ...],
    connections: Connections,
    *,
    on_spent: Callable[[int], None],
) -> dict[str, Route]:
    """Judge name → route."""
    routes: dict[str, Route] = {}
    cache: AnswerCache[str, Completion] = AnswerCache(settings.cached_answers)
    urls = judge_urls(settings, judges)

    def any_healthy() -> bool:
        return any(
            routes[judge.name].is_healthy("pictures" if judge.pictures else "text")
            for judge in judges
        )

    def made(judge: Judge) -> Route:
        url, base = urls[judge.name]
        model = OpenAiModel(connections, url, settings.calls, settings.dialect, base=base)
        probe = Probe(
            questions=known_questions(judge, max_tokens=settings.voting.answer_tokens),
            interval_seconds=settings.route_check_seconds,
            refused_patience_seconds=settings.patience_refused_seconds,
            outage_patience_seconds=settings.patience_outage_seconds,
            describe=_advice(settings, judge, any_healthy).describe,
            is_up=model.is_up,
        )
        metered = MeteredModel(model, prompt_tokens=_prompt_tokens, on_spent=on_spent)
        # The path without the host, because it is stored in scores.
        name = urlsplit(url).path.rstrip("/").removesuffix("/v1") or f"/{judge.name}"
        return Route(name, metered, settings.route_limits, probe=probe, cache=cache)

    routes.update({judge.name: made(judge) for judge in judges})
    return routes


def _prompt_tokens(request: CompletionRequest) -> int:
    return prompts.tokens(request.messages)


def judge_urls(
    settings: JudgeSettings, judges: tuple[Judge, ...]
) -> Mapping[str, tuple[str, str | None]]:
    """Judge name → (URL, fallback URL for a server without routes).

    The URL is its own setting, else its workload service or its route, depending on LLM_USE_DIRECT.

    Raises:
        StartupError: A URL is not valid, or LLM_USE_DIRECT would have no effect.
    """
    own = {
        "state": settings.llm_state_url,
        "puzzle": settings.llm_puzzle_url,
        "vision": settings.llm_vision_url,
    }
    if settings.llm_use_direct and all(own.get(judge.name) for judge in judges):
        raise StartupError(
            "LLM_USE_DIRECT has no effect, since each judge has a URL of its own: leave "
            f"{', '.join(f'LLM_{judge.name.upper()}_URL' for judge in judges)} empty"
        )
    urls: dict[str, tuple[str, str | None]] = {}
    for judge in judges:
        direct = direct_url(judge.model, settings.llm_namespace) if settings.llm_use_direct else ""
        url = own.get(judge.name) or direct
        asked = url or settings.llm_base_url
        if not is_http_url(asked):
            raise StartupError(
                f"the URL of judge {judge.name}, {without_credentials(asked)!r}, is "
                f"not valid: set LLM_BASE_URL or LLM_{judge.name.upper()}_URL to one like "
                "http://host:8000/v1"
            )
        urls[judge.name] = (url, None) if url else routed(settings.llm_base_url, judge.route)
    return urls


def direct_url(model: str, namespace: str) -> str:
    """The workload service that KServe creates for the LLMInferenceService `model`."""
    return f"https://{model}-kserve-workload-svc.{namespace}.svc.cluster.local:8000"


def open_connections(settings: JudgeSettings, urls: Iterable[str]) -> Connections:
    """Connections for all routes; StartupError if the API key or the CA file is unusable."""
    key = settings.llm_api_key.get_secret_value() if settings.llm_api_key else None
    if key is not None and not (key.isascii() and key.isprintable()):
        raise StartupError(
            "LLM_API_KEY has characters that are not allowed in a header, such as a line break at "
            "its end; set it without them"
        )
    try:
        return connections_to(settings.calls, api_key=key, ca_file=settings.llm_ca_file, urls=urls)
    except ClientSetupError as error:
        raise StartupError(str(error)) from error
    except OSError as error:
        raise StartupError(
            f"{settings.llm_ca_file} is not a PEM file of certificates: {error}; set LLM_CA_FILE"
        ) from error


def _advice(settings: JudgeSettings, judge: Judge, any_healthy: Callable[[], bool]) -> Advice:
    url = "LLM_NAMESPACE" if settings.llm_use_direct else "LLM_BASE_URL"
    name = judge.name.upper()
    model = f"JUDGE_{name}_MODEL ({judge.model})"
    if settings.panel_file:
        model = f"the model {judge.model} of {settings.panel_file.name} (JUDGE_PANEL_FILE)"
    if judge.name in _BUILT_IN:
        url = f"LLM_{name}_URL or {url}"
    return Advice(url, model, ", ".join(each.name for each in judge.criteria), any_healthy)
