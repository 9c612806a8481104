"""Prompts of the judges: the frozen part first, the segment last.

The system message is byte-identical for all segments of a game and all votes of a judge, so that
the server's prefix cache applies. The user message has one segment as fenced JSON. Votes differ in
the order of the facts and in the wording around them, because repeating a prompt adds nothing.
"""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rlaif.contracts.judging.evidence import EVIDENCE_VERSION, Evidence
from rlaif.contracts.judging.quest import FARTHEST
from rlaif.guides.guides import guided_games
from rlaif.judge.panel.schema import answer_schema
from rlaif.judge.rubric.judges import INSUFFICIENT, QUEST, Criterion, Judge, briefed
from rlaif.judge.settings import VoteSettings
from rlaif.llm.fence import fence
from rlaif.llm.settings import PLAIN, DialectSettings

PROMPT_VERSION = "judge-prompt-3"
"""Part of the judge configuration, which also hashes the prompt texts. Increase it if this code
assembles them differently."""

PICTURE_TOKENS = 512
"""Estimated tokens of one strip."""

Message = dict[str, Any]
"""One chat message in the format of the OpenAI API."""

_LEADS = (
    "This is the evidence of the segment, as JSON:",
    "Facts of one segment follow as JSON. Weigh them in any order:",
    "Read these JSON facts, the end of the segment first if that helps:",
)
_CLOSES = (
    "Judge this segment by the rubric. Answer with one JSON object that fits the schema.",
    "Now rate it by the anchors. Reply with one JSON object in the schema's shape.",
    "Give your rationale, then the answer to each question, as one JSON object of the schema.",
)

VARIANTS = len(_LEADS)
"""Number of wordings; further votes repeat them with other seeds."""


def system_prompt(judge: Judge) -> str:
    """The frozen part: rules, guide of the game, rubric and schema of a briefed judge."""
    rubric = "\n".join(
        ([_quest_text(judge)] if judge.tells_quest else [])
        + [_criterion_text(criterion) for criterion in judge.rated]
    )
    schema = json.dumps(answer_schema(judge), separators=(",", ":"))
    return f"{judge.guide}\nRubric\n{rubric}\nSchema of the answer\n{schema}\n"


def messages(
    judge: Judge, evidence: Evidence, strip: bytes | None, *, variant: int
) -> tuple[Message, ...]:
    """Chat messages of one vote; `strip` is a PNG for judges that see pictures.

    `judge` is briefed for the game of the evidence. `variant` selects the wording and the order of
    the facts: any integer from 0.
    """
    text = _segment_text(evidence, variant % VARIANTS)
    return (
        {"role": "system", "content": system_prompt(judge)},
        {"role": "user", "content": _content(text, strip if judge.pictures else None)},
    )


def tokens(prompt: Sequence[Message]) -> int:
    """Estimated tokens of a prompt; an upper estimate.

    Three characters per token: JSON of short words and numbers has 3 to 4. A strip of four pictures
    has 640x576 pixels, and a Qwen2.5-VL token covers 28x28 of them.
    """
    characters, pictures = 0, 0
    for message in prompt:
        content = message["content"]
        parts = content if isinstance(content, list) else [{"text": content}]
        characters += sum(len(part.get("text", "")) for part in parts)
        pictures += sum(part.get("type") == "image_url" for part in parts)
    return characters // 3 + pictures * PICTURE_TOKENS


def digest(prompt: Sequence[Message]) -> str:
    """SHA-256 of the messages in hex."""
    text = json.dumps(list(prompt), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def judge_config_id(
    judges: tuple[Judge, ...],
    *,
    weights: Mapping[str, float],
    voting: VoteSettings,
    computed: Iterable[str] = (),
    dialect: DialectSettings = PLAIN,
) -> str:
    """Id of a judge configuration: "j" and 12 hex digits, a hash of everything that affects scores.

    After a change of model, rubric, prompt, guide, schema, weights or number of votes, segments are
    scored again, and scores of two configurations are never mixed.
    """
    identity = {
        "prompt": PROMPT_VERSION,
        "evidence": EVIDENCE_VERSION,
        "judges": [
            {
                "name": judge.name,
                "model": judge.model,
                "pictures": judge.pictures,
                "asked": [
                    [system_prompt(ready), answer_schema(ready)]
                    for game in (None, *guided_games())
                    for ready in [briefed(judge, game)]
                ],
            }
            for judge in judges
        ],
        "weights": dict(weights),
        "votes": voting.votes,
        "temperature": voting.temperature,
        "seed": voting.seed,
        "adaptive": False,
        "computed": sorted(computed),
        # Constants are included and defaults omitted, so that ids of earlier versions remain valid.
        **dialect.model_dump(exclude_defaults=True),
        **({"thinking": voting.thinking_tokens} if voting.thinking_tokens else {}),
    }
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    return "j" + hashlib.sha256(text.encode()).hexdigest()[:12]


def _segment_text(evidence: Evidence, variant: int) -> str:
    facts = evidence.model_dump()
    names = list(facts)
    turned = names[-variant * len(names) // VARIANTS :] if variant else names
    order = [*turned, *(name for name in names if name not in turned)]
    block = fence({name: facts[name] for name in order})
    return f"{_LEADS[variant]}\n{block}\n{_CLOSES[variant]}"


def _content(text: str, png: bytes | None) -> str | list[dict[str, Any]]:
    if not png:
        return text
    # Text before the picture, so that its prefix remains cacheable.
    url = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    return [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": url}}]


def _criterion_text(criterion: Criterion) -> str:
    anchors = "\n".join(f"  {level}: {text}" for level, text in enumerate(criterion.anchors))
    return (
        f"- {criterion.name}: {criterion.question}\n{anchors}\n"
        f"  {INSUFFICIENT}: {criterion.abstain_when}"
    )


def _quest_text(judge: Judge) -> str:
    return QUEST.format(objectives=judge.objectives, farthest=FARTHEST, insufficient=INSUFFICIENT)
