"""Which of two segments the stand-in prefers: the one that its rules rate higher."""

from typing import Any

from rlaif.mock_llm.reading import INSUFFICIENT, Evidence
from rlaif.mock_llm.rules import RULES

BETTER = "better"
"""The key that asks for a comparison."""

WEIGHTS = {"progress": 0.4, "dialog": 0.2, "puzzle": 0.2, "novelty": 0.1, "efficiency": 0.1}
"""The rubric of the seeds."""


def compare(evidence: Evidence) -> dict[str, Any]:
    """The answer to a comparison of the parts `segment_1` and `segment_2` of the evidence."""
    first, second = evidence.part("segment_1"), evidence.part("segment_2")
    if first is None or second is None:
        return {"rationale": "there are no two segments", BETTER: INSUFFICIENT}
    one, other = _worth(first), _worth(second)
    better = "tie" if one == other else "segment_1" if one > other else "segment_2"
    return {"rationale": f"worth {one:.2f} against {other:.2f}", BETTER: better}


def _worth(evidence: Evidence) -> float:
    """Weighted sum of the levels, and the way walked, which breaks ties."""
    levels = {name: rule(evidence)[0] for name, rule in RULES.items()}
    sum_of_levels = sum(WEIGHTS[name] * (level or 0) for name, level in levels.items())
    pixels = evidence.number("movement", "pixels") or 0.0
    return round(sum_of_levels + min(pixels, 1000.0) / 1e5, 4)
