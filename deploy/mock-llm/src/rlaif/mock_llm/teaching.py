"""A simulated teacher in place of the seeded noise: the rules are the truth, and it errs its way.

What it answers depends on the evidence alone, not on the vote, the wording or the seed of the
request: its mistakes are systematic, as those of language models are.
"""

import hashlib
import json
from collections.abc import Sequence

from rlaif.contracts.evidence import Evidence, EvidencePair
from rlaif.mock_llm.comparing import BETTER, WEIGHTS
from rlaif.mock_llm.reading import INSUFFICIENT
from rlaif.mock_llm.rules import levels_of
from rlaif.mock_llm.teachers.teachers import Teacher
from rlaif.mock_llm.teachers.truth import Truth

_HIGHEST_LEVEL = 2


def taught_opinions(
    teacher: Teacher, evidence: Evidence, names: Sequence[str]
) -> dict[str, object]:
    """The answer to a judge prompt: the rules' levels as the teacher tells them."""
    # All criteria, whichever are asked, so that the judges of one segment meet one teacher.
    taught = teacher.levels(levels_of(evidence), key=_key(evidence))
    levels = {name: taught.get(name) for name in names}
    return {
        "rationale": f"said by the simulated teacher {teacher.kind.value}",
        **{name: INSUFFICIENT if level is None else level for name, level in levels.items()},
    }


def taught_comparison(teacher: Teacher, pair: EvidencePair) -> dict[str, object]:
    """The answer to a comparison of two segments."""
    preferred = None
    if pair.segment_1 is not None and pair.segment_2 is not None:
        preferred = teacher.prefer(_truth(pair.segment_1), _truth(pair.segment_2), WEIGHTS)
    said = {None: INSUFFICIENT, 0.5: "tie", 1.0: "segment_1", 0.0: "segment_2"}[preferred]
    return {"rationale": f"said by the simulated teacher {teacher.kind.value}", BETTER: said}


def _truth(evidence: Evidence) -> Truth:
    levels = levels_of(evidence).items()
    known = {name: level / _HIGHEST_LEVEL for name, level in levels if level is not None}
    return Truth(_key(evidence), known)


def _key(evidence: Evidence) -> str:
    """Names a segment by its evidence, whatever the order of its facts."""
    text = json.dumps(evidence.model_dump(), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
