"""From a planner's question to its answer: who answers, and in which shape."""

import json
from collections.abc import Collection
from typing import Any, Literal

from rlaif.contracts.planning.briefing import Briefing
from rlaif.mock_llm.expert.situation import situation_of
from rlaif.mock_llm.manners import seeded
from rlaif.mock_llm.planners import guided, malicious, random_planner
from rlaif.mock_llm.reading import read_evidence
from rlaif.mock_llm.settings import MannerSettings
from rlaif.mock_llm.wire import ChatRequest

Asked = Literal["plan", "suggestion"]

_MACRO_KEYS = ("kind", "room", "column", "row", "direction", "item", "choice")


def planner_asked(keys: Collection[str]) -> Asked | None:
    """What the keys of an answer's schema ask a planner for; None where they ask a judge."""
    if "macros" in keys:
        return "plan"
    return "suggestion" if "button" in keys else None


def planner_answer(asked: Asked, chat: ChatRequest, manner: MannerSettings) -> str:
    """The answer of the planner that `manner` names, as text.

    Raises:
        UnreadablePromptError: The prompt carries no briefing.
    """
    told = read_evidence(Briefing, chat.messages)
    draw = seeded(manner.seed, chat.seed, told.to_json(), manner.planner)
    if manner.planner == "malicious":
        return malicious.answer(draw)
    if manner.planner == "random":
        drawn = random_planner.plan if asked == "plan" else random_planner.suggestion
        return _text(drawn(draw))
    thought = guided.plan if asked == "plan" else guided.suggestion
    return _text(thought(situation_of(told)))


def _text(answer: dict[str, Any]) -> str:
    """The answer as a server with constrained decoding writes it: null for keys without use."""
    macros = answer.get("macros")
    if macros is None:
        return json.dumps(answer)
    flat = [{key: macro.get(key) for key in _MACRO_KEYS} for macro in macros]
    return json.dumps(answer | {"macros": flat})
