"""Which of two segments the stand-in prefers: the one that is worth more to it."""

from typing import Any

from rlaif.mock_llm.expert.view import View
from rlaif.mock_llm.reading import INSUFFICIENT

BETTER = "better"
"""The key that asks for a comparison."""

TIE_BAND = 0.01
"""Worths nearer than this are alike: about 18 pixels of the way."""


def preferred_segment(first: View, second: View) -> dict[str, Any]:
    """The answer to a comparison of two segments."""
    one, other = first.worth, second.worth
    if one is None or other is None or (first.rise is None) is not (second.rise is None):
        return {"rationale": "where the player stands is unknown", BETTER: INSUFFICIENT}
    better = "segment_1" if one > other else "segment_2"
    alike = abs(one - other) < TIE_BAND
    rationale = f"worth {one:.2f} against {other:.2f}"
    return {"rationale": rationale, BETTER: "tie" if alike else better}
