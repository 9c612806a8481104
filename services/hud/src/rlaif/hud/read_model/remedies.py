"""What to do about a call of a language model that went wrong, in one sentence with its route."""

_JUDGE = {
    "throttled": "{route} is asked too often for its server: it is tried again by itself. If that "
    "lasts, lower JUDGE_LLM_CONCURRENCY or set JUDGE_LLM_CALLS_PER_SECOND.",
    "refused": "The server of {route} refused: check LLM_API_KEY, the URL of the route and the "
    "model's name {model}.",
    "timeout": "{route} gave no answer in time: see whether its server is overloaded or hangs. A "
    "slow one needs a higher JUDGE_CALL_TIMEOUT_SECONDS.",
    "error": "{route} could not be reached or failed: see its server's log. Segments wait, and are "
    "judged when it answers again.",
    "invalid": "{model} answered in another shape than asked for: if that is often, check "
    "JUDGE_SCHEMA_MODE and the model's chat template.",
    "length": "{model} was cut off: raise JUDGE_MAX_TOKENS, or JUDGE_THINKING_TOKENS for a model "
    "that thinks first.",
}

_PLANNER = {
    "throttled": "The route {route} is asked too often for its server: lower PLANNER_IN_FLIGHT or "
    "PLANNER_CALLS_PER_SECOND.",
    "refused": "The server of the route {route} refused: check PLANNER_API_KEY, the route's URL "
    "and its model's name.",
    "timeout": "The route {route} gave no answer in time; the policy played on. See whether its "
    "server is overloaded, or raise the route's PLANNER_…_SECONDS.",
    "error": "The route {route} could not be reached or failed; the policy played on. See its "
    "server's log.",
    "invalid": "The answer of the route {route} could not be read or played: if that is often, "
    "check PLANNER_SCHEMA_MODE and PLANNER_MAX_TOKENS.",
    "dropped": "The question on {route} was given up because its episode ended first: nothing to "
    "do.",
}

_OTHER = "This version knows no remedy for `{outcome}` of {route}; see the log of the {service}."


def of_judge(outcome: str, *, route: str, model: str) -> str:
    """For a call of a judge."""
    text = _JUDGE.get(outcome, _OTHER)
    return text.format(route=route, model=model, outcome=outcome, service="judge")


def of_planner(outcome: str, *, route: str) -> str:
    """For a question of the planner."""
    return _PLANNER.get(outcome, _OTHER).format(route=route, outcome=outcome, service="trainer")
