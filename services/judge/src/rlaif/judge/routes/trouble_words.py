"""Sentences about a route in trouble: what is wrong, why, and what to check."""

from dataclasses import dataclass

from rlaif.judge.routes.condition import Trouble
from rlaif.judge.routes.ports import ThrottledError


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
    check = f"LLM_API_KEY, {url}, {model}" if error.status in (401, 403) else f"{model}, {url}"
    return f"refuses every call: {error}; check {check}"
