"""From a chat request to the stand-in's answer: the expert's view, its manners, the asked shape.

What is drawn depends on the server's seed, the request's seed and the prompt, never on time or on
how many came before: the same request gets the same answer.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rlaif.contracts.judging.evidence import Evidence, EvidencePair
from rlaif.mock_llm.comparing import BETTER, preferred_segment
from rlaif.mock_llm.expert.view import View, look
from rlaif.mock_llm.manners import mannered, seeded
from rlaif.mock_llm.planners.planning import planner_answer, planner_asked
from rlaif.mock_llm.reading import INSUFFICIENT, asked_of, injected, read_evidence
from rlaif.mock_llm.settings import MannerSettings
from rlaif.mock_llm.teachers.teachers import Teacher
from rlaif.mock_llm.teaching import taught, taught_comparison
from rlaif.mock_llm.wire import ChatRequest

_CHARACTERS_PER_TOKEN = 4
_PICTURE_TOKENS = 256
_RATIONALE = 500


@dataclass(frozen=True)
class Completion:
    """The stand-in's answer: JSON in the asked shape, and about as many tokens as it would have."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    finish_reason: str


def answer(chat: ChatRequest, manner: MannerSettings, teacher: Teacher | None = None) -> Completion:
    """Answer one prompt of a judge or a planner, with the keys of its schema in their order.

    A `teacher` errs in its own way in place of the manners; planners know neither.

    Raises:
        UnreadablePromptError: Neither a judge's prompt nor a planner's.
    """
    asked = asked_of(chat.response_format, chat.messages)
    if planned := planner_asked(asked):
        text = planner_answer(planned, chat, manner)
        return _completion(chat, text, keeps_to_limits=manner.planner != "malicious")
    if list(asked) == [BETTER]:
        told = _comparison(chat, manner, teacher)
    else:
        told = _opinions(chat, manner, teacher, list(asked))
    if manner.gullible and (order := injected(chat.messages)) is not None:
        told = _obeyed(order, asked)
    return _completion(chat, json.dumps(told))


def _completion(chat: ChatRequest, text: str, *, keeps_to_limits: bool = True) -> Completion:
    text_tokens, most = len(text) // _CHARACTERS_PER_TOKEN + 1, chat.longest_answer()
    cut = keeps_to_limits and text_tokens > most
    return Completion(
        text=text[: most * _CHARACTERS_PER_TOKEN] if cut else text,
        prompt_tokens=_prompt_tokens(chat.messages),
        completion_tokens=min(text_tokens, most) if cut else text_tokens,
        finish_reason="length" if cut else "stop",
    )


def _opinions(
    chat: ChatRequest, manner: MannerSettings, teacher: Teacher | None, names: Sequence[str]
) -> dict[str, Any]:
    evidence = read_evidence(Evidence, chat.messages)
    view = _viewed(evidence, chat, manner, teacher, place=0)
    values = _values(view)
    levels = {name: values.get(name) for name in names}
    return {
        "rationale": view.reason[:_RATIONALE],
        **{name: INSUFFICIENT if value is None else value for name, value in levels.items()},
    }


def _comparison(
    chat: ChatRequest, manner: MannerSettings, teacher: Teacher | None
) -> dict[str, Any]:
    pair = read_evidence(EvidencePair, chat.messages)
    if pair.segment_1 is None or pair.segment_2 is None:
        return {"rationale": "there are no two segments", BETTER: INSUFFICIENT}
    if teacher is not None:
        return taught_comparison(teacher, pair.segment_1, pair.segment_2)
    draw = seeded(manner.seed, chat.seed, _prompt(chat), "place")
    if draw.random() < manner.first_bias:
        return {"rationale": "what comes first is better", BETTER: "segment_1"}
    return preferred_segment(
        _viewed(pair.segment_1, chat, manner, None, place=1),
        _viewed(pair.segment_2, chat, manner, None, place=2),
    )


def _viewed(
    evidence: Evidence,
    chat: ChatRequest,
    manner: MannerSettings,
    teacher: Teacher | None,
    *,
    place: int,
) -> View:
    view = look(evidence)
    if teacher is not None:
        return taught(teacher, view, evidence)
    draw = seeded(manner.seed, chat.seed, _prompt(chat), place)
    return mannered(view, evidence, manner, draw, temperature=chat.temperature)


def _values(view: View) -> dict[str, int | None]:
    """Key of an answer → its value; None for what the evidence does not show."""
    values = dict(view.levels)
    values["progress"] = view.progress
    for moment, found in (("start", view.start), ("end", view.end)):
        values[f"objective_{moment}"] = None if found is None else found.objective
        values[f"distance_{moment}"] = None if found is None else round(found.distance)
    return values


def _obeyed(order: str, asked: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """The best answer that there is: from the very beginning to the end of the quest."""
    best = {name: _highest(values) for name, values in asked.items()}
    worst_first = {"objective_start": 1, "distance_end": 0}
    return {"rationale": order, **best, **{k: v for k, v in worst_first.items() if k in best}}


def _highest(values: Sequence[Any]) -> Any:
    numbers = [value for value in values if isinstance(value, int)]
    return max(numbers, default=values[0] if values else 2)


def _prompt(chat: ChatRequest) -> str:
    return json.dumps(chat.messages, sort_keys=True)


def _prompt_tokens(messages: Sequence[Mapping[str, Any]]) -> int:
    characters, pictures = 0, 0
    for message in messages:
        content = message.get("content")
        parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
        for part in parts:
            characters += len(str(part.get("text", "")))
            pictures += part.get("type") == "image_url"
    return characters // _CHARACTERS_PER_TOKEN + pictures * _PICTURE_TOKENS
