"""The question which of two segments is better, and the parser of its answer.

Language models are biased towards one of the two positions, by a share that depends on model and
prompt. So a pair is asked in both orders, and a preference that follows the position is a tie.
"""

import base64
from typing import Any

from rlaif.contracts.comparisons import Preference
from rlaif.contracts.evidence import Evidence, EvidencePair
from rlaif.judge.panel.prompts import Message
from rlaif.judge.panel.schema import (
    RATIONALE_CHARACTERS,
    InvalidAnswerError,
    choice_of,
    parse_answer,
    rationale_of,
)
from rlaif.judge.rubric.judges import INSUFFICIENT, Judge
from rlaif.llm.fence import fence

_QUESTION = """\
You get two segments, "segment_1" and "segment_2". They need not follow one another, and may begin
at different places. No levels are asked for: say which of the two is better, that is, did more:
- it brought the player closer to the objective that was next when it began, by the way that has to
  be walked and not as the crow flies; or
- it taught or solved something useful: a text that says what to do next, a puzzle that gave way.
Going away from the objective is worse than standing still. Judge what a segment changed, not how
far the player already was. The order in which they are shown means nothing.

Answers
- segment_1: the first one is better.
- segment_2: the second one is better.
- tie: there is no difference that counts.
- {insufficient}: the evidence does not show it.
"""

_PLACES: dict[str, Preference] = {"segment_1": "first", "segment_2": "second", "tie": "tie"}

Strips = tuple[bytes, bytes]
"""PNG files of two segments, in the order of display."""


def comparison_schema() -> dict[str, Any]:
    """JSON schema of the answer; the rationale comes first."""
    return {
        "type": "object",
        "properties": {
            "rationale": {"type": "string", "maxLength": RATIONALE_CHARACTERS},
            "better": {"enum": [*_PLACES, INSUFFICIENT]},
        },
        "required": ["rationale", "better"],
        "additionalProperties": False,
    }


def comparison_messages(
    judge: Judge, shown_first: Evidence, shown_second: Evidence, strips: Strips | None = None
) -> tuple[Message, ...]:
    """Chat messages: the frozen part first, then both segments as one fenced block.

    Pictures come last, so that the prefix of the text stays cacheable.
    """
    question = _QUESTION.format(insufficient=INSUFFICIENT)
    block = fence(EvidencePair(segment_1=shown_first, segment_2=shown_second).model_dump())
    text = (
        f"The evidence of both segments, as JSON:\n{block}\n"
        "Which one is better? Answer with one JSON object: rationale, then better."
    )
    return (
        {"role": "system", "content": f"{judge.guide}\n{question}"},
        {"role": "user", "content": text if strips is None else _illustrated(text, strips)},
    )


def _illustrated(text: str, strips: Strips) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}]
    for name, png in zip(("segment_1", "segment_2"), strips, strict=True):
        url = f"data:image/png;base64,{base64.b64encode(png).decode()}"
        parts.append({"type": "text", "text": f"The pictures of {name}:"})
        parts.append({"type": "image_url", "image_url": {"url": url}})
    return parts


def read_comparison(text: str) -> tuple[Preference | None, str]:
    """(preference, or None for an abstention; rationale), else InvalidAnswerError."""
    answer = parse_answer(text, "rationale", "better")
    rationale, better = rationale_of(answer), choice_of(answer["better"])
    if better == INSUFFICIENT:
        return None, rationale
    if better not in _PLACES:
        raise InvalidAnswerError(f"better is {str(better)[:40]!r}, not one of {list(_PLACES)}")
    return _PLACES[better], rationale


def turned(preference: Preference | None) -> Preference | None:
    """The same preference for swapped segments."""
    if preference is None or preference == "tie":
        return preference
    return "second" if preference == "first" else "first"
