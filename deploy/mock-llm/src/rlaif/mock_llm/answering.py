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

from rlaif.mock_llm.comparing import BETTER, compare
from rlaif.mock_llm.reading import INSUFFICIENT, Evidence, criteria_of, evidence_of, injected
from rlaif.mock_llm.rules import RULES
from rlaif.mock_llm.teachers.teachers import Teacher
from rlaif.mock_llm.teaching import taught_comparison, taught_opinions

_CHARACTERS_PER_TOKEN = 4
_PICTURE_TOKENS = 256


@dataclass(frozen=True)
class Completion:
    """The stand-in's answer.

    Attributes:
        text: JSON in the asked shape.
        prompt_tokens: About what a tokenizer would count.
        completion_tokens: Likewise.
        finish_reason: `stop`, or `length` when `max_tokens` cut the text off.
    """

    text: str
    prompt_tokens: int
    completion_tokens: int
    finish_reason: str


def answer(
    messages: Sequence[Mapping[str, Any]],
    *,
    response_format: Mapping[str, Any] | None,
    server_seed: int,
    request_seed: int,
    temperature: float,
    noise: float,
    max_tokens: int,
    gullible: bool = False,
    teacher: Teacher | None = None,
) -> Completion:
    """Answer one judge prompt.

    Args:
        messages: Chat messages of the request.
        response_format: The request's; with a JSON schema, the answer has its keys in its order.
        server_seed: Seed of this server.
        request_seed: Seed of the request.
        temperature: 0 gives the bare rules; more gives more noise.
        noise: Chance at temperature 1 that a level is off by one.
        max_tokens: Longest answer.
        gullible: Obey what the evidence says, as a model without defences may.
        teacher: Errs in its own way instead of the noise; None for the noise.

    Raises:
        UnreadablePromptError: Not a judge prompt.
    """
    evidence = evidence_of(messages)
    names = criteria_of(response_format, messages)
    prompt = json.dumps(list(messages), sort_keys=True)
    chance = min(0.5, max(0.0, noise * temperature))
    draw = seeded(server_seed, request_seed, prompt)
    if gullible and (told := injected(messages)) is not None:
        opinions: dict[str, Any] = {"rationale": told, **dict.fromkeys(names, 2)}
    elif teacher is not None and names == [BETTER]:
        opinions = taught_comparison(teacher, evidence)
    elif teacher is not None:
        opinions = taught_opinions(teacher, evidence, names)
    elif names == [BETTER]:
        opinions = compare(evidence)
    else:
        opinions = _opinions(evidence, names, draw, chance)
    text = json.dumps(opinions)
    text_tokens = len(text) // _CHARACTERS_PER_TOKEN + 1
    cut = text_tokens > max_tokens
    return Completion(
        text=text[: max_tokens * _CHARACTERS_PER_TOKEN] if cut else text,
        prompt_tokens=_prompt_tokens(messages),
        completion_tokens=min(text_tokens, max_tokens),
        finish_reason="length" if cut else "stop",
    )


def seeded(*parts: object) -> random.Random:
    """A generator that depends on `parts` and nothing else."""
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return random.Random(int.from_bytes(digest[:8]))


def _opinions(
    evidence: Evidence, names: Sequence[str], draw: random.Random, chance: float
) -> dict[str, Any]:
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
