"""From a chat request to the stand-in's answer: rules, then seeded noise, in the asked shape.

The noise depends on the server's seed, the request's seed and the prompt, never on time or on how
many came before: the same request gets the same answer.
"""

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rlaif.contracts.evidence import Evidence, EvidencePair
from rlaif.mock_llm.comparing import BETTER, preferred_segment
from rlaif.mock_llm.reading import INSUFFICIENT, criteria_of, injected, read_evidence
from rlaif.mock_llm.rules import RULES
from rlaif.mock_llm.settings import MannerSettings
from rlaif.mock_llm.teachers.teachers import Teacher
from rlaif.mock_llm.teaching import taught_comparison, taught_opinions
from rlaif.mock_llm.wire import ChatRequest

_CHARACTERS_PER_TOKEN = 4
_PICTURE_TOKENS = 256


@dataclass(frozen=True)
class Completion:
    """The stand-in's answer: JSON in the asked shape, and about as many tokens as it would have."""

    text: str
    prompt_tokens: int
    completion_tokens: int
    finish_reason: str


def answer(chat: ChatRequest, manner: MannerSettings, teacher: Teacher | None = None) -> Completion:
    """Answer one judge prompt, with the keys of its schema in their order.

    A `teacher` errs in its own way instead of the noise.

    Raises:
        UnreadablePromptError: Not a judge prompt.
    """
    names = criteria_of(chat.response_format, chat.messages)
    if names == [BETTER]:
        pair = read_evidence(EvidencePair, chat.messages)
        opinions = taught_comparison(teacher, pair) if teacher else preferred_segment(pair)
    else:
        evidence = read_evidence(Evidence, chat.messages)
        opinions = (
            taught_opinions(teacher, evidence, names)
            if teacher
            else _opinions(evidence, names, chat, manner)
        )
    if manner.gullible and (order := injected(chat.messages)) is not None:
        opinions = {"rationale": order, **dict.fromkeys(names, 2)}
    text = json.dumps(opinions)
    text_tokens, most = len(text) // _CHARACTERS_PER_TOKEN + 1, chat.longest_answer()
    cut = text_tokens > most
    return Completion(
        text=text[: most * _CHARACTERS_PER_TOKEN] if cut else text,
        prompt_tokens=_prompt_tokens(chat.messages),
        completion_tokens=min(text_tokens, most),
        finish_reason="length" if cut else "stop",
    )


def seeded(*parts: object) -> random.Random:
    """A generator that depends on `parts` and nothing else."""
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return random.Random(int.from_bytes(digest[:8]))


def _opinions(
    evidence: Evidence, names: Sequence[str], chat: ChatRequest, manner: MannerSettings
) -> dict[str, Any]:
    prompt = json.dumps(chat.messages, sort_keys=True)
    draw = seeded(manner.seed, chat.seed, prompt)
    chance = min(0.5, max(0.0, manner.noise * chat.temperature))
    levels: dict[str, int | str] = {}
    reasons = []
    for name in names:
        rule = RULES.get(name)
        level, reason = rule(evidence) if rule else (None, "this stand-in has no rule for it")
        reasons.append(f"{name}: {reason}")
        levels[name] = INSUFFICIENT if level is None else _blur(level, draw, chance)
    return {"rationale": "; ".join(reasons)[:500], **levels}


def _blur(level: int, draw: random.Random, chance: float) -> int:
    """The level, or with `chance` a neighbour of it."""
    if draw.random() >= chance:
        return level
    return min(2, max(0, level + draw.choice((-1, 1))))


def _prompt_tokens(messages: Sequence[Mapping[str, Any]]) -> int:
    characters, pictures = 0, 0
    for message in messages:
        content = message.get("content")
        parts = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
        for part in parts:
            characters += len(str(part.get("text", "")))
            pictures += part.get("type") == "image_url"
    return characters // _CHARACTERS_PER_TOKEN + pictures * _PICTURE_TOKENS
