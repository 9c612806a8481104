"""Sentences about a route in trouble: what is wrong, why, and what to check."""

from dataclasses import dataclass
from typing import Literal

from rlaif.judge.routes.condition import Trouble
from rlaif.llm.ports import CallTimeoutError, ModelError, ThrottledError
from rlaif.llm.reply import CUT_OFF


@dataclass(frozen=True)
class Advice:
    """Where a route's address and model are set, and the criteria that are lost without it."""

    url: str = "LLM_BASE_URL"
    model: str = "the model's name"
    lost: str = "its criteria"


Cost = Literal["wait", "all wait", "scored without", "provisional"]
"""What becomes of segments: those that need the route wait; all wait, as no judge can be asked;
they are scored without it for good; or until it can be read."""

_COSTS: dict[Cost, str] = {
    "wait": "Segments that need it for {lost} wait",
    "all wait": "No judge can be asked now, so all segments wait",
    "scored without": "Segments are scored without its word on {lost}",
    "provisional": "Segments are scored without {lost} for now, and again once it can be read",
}


def trouble_sentence(route: str, trouble: Trouble, advice: Advice, cost: Cost) -> str:
    """What is wrong with `route`, why, what to check, and what it costs."""
    what = _what_and_fix(trouble, advice)
    end = "" if what.endswith("?") else "."
    return f"{route} {what}{end} {_COSTS[cost].format(lost=advice.lost)}"


def silence_sentence(route: str, seconds: float) -> str:
    """What is said of a route that owes an answer for long."""
    return (
        f"{route} has not answered for {seconds:.0f} s; is its server overloaded or hung? See its "
        "log. A call may take JUDGE_CALL_TIMEOUT_SECONDS"
    )


def _what_and_fix(trouble: Trouble, advice: Advice) -> str:
    url, model, error = advice.url, advice.model, trouble.error
    if trouble.kind == "unreadable":
        return f"answers in a form that cannot be read: {error}; {_how_to_be_read(error, model)}"
    if trouble.blind:
        return (
            f"answers text and fails on every picture: {error}; check {model} and {url}, the model "
            "must see pictures"
        )
    if isinstance(error, ThrottledError):
        return (
            f"answers nothing but 429: {error}; is a quota used up? "
            "Or set JUDGE_LLM_CALLS_PER_SECOND"
        )
    if isinstance(error, CallTimeoutError) and error.is_slow:
        return (
            f"is slow: {error}, while its server answers /models; raise "
            f"JUDGE_CALL_TIMEOUT_SECONDS, lower JUDGE_LLM_CONCURRENCY, or change {model}"
        )
    if trouble.kind == "down":
        return f"does not answer: {error}; is the server up, and {url} right?"
    return f"refuses every call: {error}; check {_what_to_check(trouble.error, advice)}"


def _how_to_be_read(error: ModelError, model: str) -> str:
    """The settings that help; an answer that was cut off names its own."""
    if error.fault == CUT_OFF:
        return f"or change {model}"
    if "content_filter" in str(error):
        return f"see the content filter of its provider, or change {model}"
    return (
        "set JUDGE_SCHEMA_MODE to a form that its server enforces (now the model may write what "
        f"it likes), raise JUDGE_MAX_TOKENS, or change {model}"
    )


_OF_THE_SHAPE = ("response_format", "json_schema", "schema", "guided", "grammar", "structured")
_OF_THE_TEMPLATE = ("chat_template", "enable_thinking")


def _what_to_check(error: ModelError, advice: Advice) -> str:
    """The settings that a refusal may come from; some servers name what they do not take."""
    if error.status in (401, 403):
        return f"LLM_API_KEY, {advice.url}, {advice.model}"
    said = str(error).lower()
    if any(word in said for word in _OF_THE_TEMPLATE):
        return "JUDGE_CHAT_TEMPLATE_KWARGS"
    if any(word in said for word in _OF_THE_SHAPE):
        return "JUDGE_SCHEMA_MODE: the server does not take the schema of the answer in this form"
    return f"{advice.model}, {advice.url}"
