"""The id of a judge configuration: everything that can change a score, in one short hash."""

import hashlib
import json
from collections.abc import Iterable, Mapping

from rlaif.contracts.evidence import EVIDENCE_VERSION
from rlaif.guides.guides import guided_games
from rlaif.judge.panel.prompts import PROMPT_VERSION, system_prompt
from rlaif.judge.panel.schema import answer_schema
from rlaif.judge.rubric.judges import Judge, briefed
from rlaif.judge.settings import VoteSettings
from rlaif.llm.settings import PLAIN, DialectSettings


def judge_config_id(
    judges: tuple[Judge, ...],
    *,
    weights: Mapping[str, float],
    voting: VoteSettings,
    computed: Iterable[str] = (),
    dialect: DialectSettings = PLAIN,
) -> str:
    """Id under which scores of these judges are stored: "j" and 12 hexadecimal digits.

    Another model, rubric, prompt, guide of a game, schema, weight or number of votes gives another
    id, so segments are scored again by design and scores of two configurations never mix.
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
        "adaptive": voting.adaptive,
        "computed": sorted(computed),
        # Left out as long as it is the default: ids stay as they were before it could be set.
        **dialect.model_dump(exclude_defaults=True),
        **({"thinking": voting.thinking_tokens} if voting.thinking_tokens else {}),
    }
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"))
    return "j" + hashlib.sha256(text.encode()).hexdigest()[:12]
