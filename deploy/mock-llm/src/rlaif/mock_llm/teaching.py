"""A simulated teacher in place of the seeded noise: the rules are the truth, and it errs its way.

What it answers depends on the evidence alone, not on the vote, the wording or the seed of the
request: its mistakes are systematic, as those of language models are.
"""

import hashlib

from rlaif.mock_llm.comparing import BETTER, WEIGHTS
from rlaif.mock_llm.reading import INSUFFICIENT, Evidence
from rlaif.mock_llm.rules import RULES
from rlaif.mock_llm.teachers.teachers import Teacher
from rlaif.mock_llm.teachers.truth import Truth

_HIGHEST_LEVEL = 2


def taught_opinions(teacher: Teacher, evidence: Evidence, names: list[str]) -> dict[str, object]:
    """The answer to a judge prompt: the rules' levels as the teacher tells them."""
    # All criteria, whichever are asked, so that the judges of one segment meet one teacher.
    true = {name: rule(evidence)[0] for name, rule in RULES.items()}
    told = teacher.levels(true, key=_key(evidence))
    levels = {name: told.get(name) for name in names}
    return {
        "rationale": f"said by the simulated teacher {teacher.kind.value}",
        **{name: INSUFFICIENT if level is None else level for name, level in levels.items()},
    }


def taught_comparison(teacher: Teacher, evidence: Evidence) -> dict[str, object]:
    """The answer to a comparison of the parts `segment_1` and `segment_2`."""
    first, second = evidence.part("segment_1"), evidence.part("segment_2")
    preferred = None
    if first is not None and second is not None:
        preferred = teacher.prefer(_truth(first), _truth(second), WEIGHTS)
    said = {None: INSUFFICIENT, 0.5: "tie", 1.0: "segment_1", 0.0: "segment_2"}[preferred]
    return {"rationale": f"said by the simulated teacher {teacher.kind.value}", BETTER: said}


def _truth(evidence: Evidence) -> Truth:
    levels = {name: rule(evidence)[0] for name, rule in RULES.items()}
    known = {name: level / _HIGHEST_LEVEL for name, level in levels.items() if level is not None}
    return Truth(_key(evidence), known)


def _key(evidence: Evidence) -> str:
    """Names a segment by its evidence, whatever the order in which the facts were told."""
    return hashlib.sha256(evidence.canonical().encode()).hexdigest()
