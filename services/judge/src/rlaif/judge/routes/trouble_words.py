"""Sentences about a route in trouble: what is wrong, why, and what to check."""

from dataclasses import dataclass

from rlaif.judge.routes.condition import Trouble
from rlaif.llm.ports import ModelError, ThrottledError


@dataclass(frozen=True)
class Advice:
    """Where a route's address and model are set, and the criteria that are lost without it."""

    url: str = "LLM_BASE_URL"
    model: str = "the model's name"
    lost: str = "its criteria"


def trouble_sentence(route: str, trouble: Trouble, advice: Advice, *, waited_for: bool) -> str:
    """What is wrong with `route`, why, what to check, and what it costs.

    Segments wait for a route that is `waited_for`, and are scored without another.
    """
    cost = (
        f"Segments that need it for {advice.lost} wait"
        if waited_for
        else f"Segments are scored without its word on {advice.lost}"
    )
    what = _what_and_fix(trouble, advice)
    return f"{route} {what}{'' if what.endswith('?') else '.'} {cost}"


def silence_sentence(route: str, seconds: float) -> str:
    """What is said of a route that owes an answer for long."""
    return (
        f"{route} has not answered for {seconds:.0f} s; is its server overloaded or hung? "
        "See its log"
    )


def _what_and_fix(trouble: Trouble, advice: Advice) -> str:
    url, model, error = advice.url, advice.model, trouble.error
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
    if trouble.kind == "down":
        return f"does not answer: {error}; is the server up, and {url} right?"
    return f"refuses every call: {error}; check {_what_to_check(trouble.error, advice)}"


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
