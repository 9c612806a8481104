"""Which of two segments the stand-in prefers: the one that its rules rate higher."""

from typing import Any

from rlaif.contracts.evidence import Evidence, EvidencePair
from rlaif.mock_llm.reading import INSUFFICIENT
from rlaif.mock_llm.rules import levels_of

BETTER = "better"
"""The key that asks for a comparison."""

WEIGHTS = {"progress": 0.4, "dialog": 0.2, "puzzle": 0.2, "novelty": 0.1, "efficiency": 0.1}
"""The rubric of the seeds."""


def preferred_segment(pair: EvidencePair) -> dict[str, Any]:
    """The answer to a comparison of two segments."""
    if pair.segment_1 is None or pair.segment_2 is None:
        return {"rationale": "there are no two segments", BETTER: INSUFFICIENT}
    one, other = _worth(pair.segment_1), _worth(pair.segment_2)
    better = "tie" if one == other else "segment_1" if one > other else "segment_2"
    return {"rationale": f"worth {one:.2f} against {other:.2f}", BETTER: better}


def _worth(evidence: Evidence) -> float:
    """Weighted sum of the levels, and the way walked, which breaks ties."""
    levels = levels_of(evidence)
    sum_of_levels = sum(WEIGHTS[name] * (level or 0) for name, level in levels.items())
    pixels = evidence.movement.pixels or 0
    return round(sum_of_levels + min(pixels, 1000.0) / 1e5, 4)
