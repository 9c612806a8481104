"""A simulated teacher in place of the manners: the expert's view is the truth, and it errs its way.

What it answers depends on the evidence alone, not on the vote, the wording or the seed of the
request: its mistakes are systematic, as those of language models are.
"""

import math

from rlaif.contracts.judging.evidence import Evidence
from rlaif.contracts.judging.quest import FARTHEST, Standing
from rlaif.mock_llm.comparing import BETTER
from rlaif.mock_llm.expert.view import View, look, standing_at
from rlaif.mock_llm.reading import INSUFFICIENT
from rlaif.mock_llm.teachers.teachers import Answer, Teacher
from rlaif.mock_llm.teachers.truth import Truth

_HIGHEST_LEVEL = 2
_PROGRESS, _WORTH = "progress", "worth"

_USUAL_RISE = 0.15
"""Rise of a segment that walks towards the objective nearly all the time."""

_LARGEST = 0.99
"""Value from which on a rise is larger than the whole quest."""


def taught(teacher: Teacher, view: View, evidence: Evidence) -> View:
    """What a teacher makes of a segment: its rise and its levels as the teacher tells them."""
    truth = _truth(view, evidence)
    answer = teacher.score(truth)
    levels = {
        name: round(answer[name] * _HIGHEST_LEVEL) if name in answer else None
        for name in view.levels
    }
    start, end = None, None
    if _PROGRESS in answer and view.start is not None and view.end is not None:
        start, end = _told(answer[_PROGRESS], truth.values[_PROGRESS], view.start, view.end)
    return View(start, end, levels, f"said by the simulated teacher {teacher.kind.value}")


def _told(
    value: float, true_value: float, start: Standing, end: Standing
) -> tuple[Standing, Standing]:
    """The moments that a teacher tells whose progress is `value`."""
    if math.isclose(value, true_value):
        return start, end
    if math.isclose(value, 1.0 - true_value):
        return end, start
    return start, standing_at(start.position + _rise_of(value))


def taught_comparison(teacher: Teacher, first: Evidence, second: Evidence) -> dict[str, object]:
    """The answer to a comparison of two segments."""
    truths = [_worth(first), _worth(second)]
    preferred = None
    if truths[0] is not None and truths[1] is not None:
        preferred = teacher.prefer(truths[0], truths[1], {_WORTH: 1.0})
    said = {None: INSUFFICIENT, 0.5: "tie", 1.0: "segment_1", 0.0: "segment_2"}[preferred]
    return {"rationale": f"said by the simulated teacher {teacher.kind.value}", BETTER: said}


def _truth(view: View, evidence: Evidence) -> Truth:
    """Criterion → value in [0, 1]; at the end of a segment only its place is seen."""
    known = {name: level for name, level in view.levels.items() if level is not None}
    values: Answer = {name: level / _HIGHEST_LEVEL for name, level in known.items()}
    if view.rise is None:
        return Truth(evidence.sha256(), values, values)
    rest = {name: value for name, value in values.items() if name != _PROGRESS}
    whole, late = _value_of(view.rise), _at_the_end(view)
    return Truth(evidence.sha256(), {_PROGRESS: whole, **rest}, {_PROGRESS: late, **rest})


def _worth(evidence: Evidence) -> Truth | None:
    view = look(evidence)
    if view.worth is None:
        return None
    return Truth(evidence.sha256(), {_WORTH: _value_of(view.worth)}, {_WORTH: _at_the_end(view)})


def _at_the_end(view: View) -> float:
    """The value of a segment to whoever saw its end only: he takes it to have begun half way."""
    if view.end is None:
        return 0.0
    half_way = view.end.model_copy(update={"distance": FARTHEST / 2})
    return _value_of(view.end.position - half_way.position)


def _value_of(rise: float) -> float:
    """A rise in [0, 1]: 0.5 for none, 0.75 for a usual one."""
    return 0.5 + 0.5 * rise / (_USUAL_RISE + abs(rise))


def _rise_of(value: float) -> float:
    """The rise that has a value; the inverse of `_value_of`."""
    share = min(_LARGEST, max(-_LARGEST, 2.0 * value - 1.0))
    return _USUAL_RISE * share / (1.0 - abs(share))
