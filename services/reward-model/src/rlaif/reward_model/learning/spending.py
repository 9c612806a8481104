"""How much of the level one look may spend, so that all looks together stay below it.

Labels come, and every few of them a candidate is tried. A test that chance passes once in a
hundred looks is passed once in a while when it is tried hundreds of times. So the chance of a false
pass is a budget: a look that grows the labels from n0 to n spends

    level * log2(n / n0) / 10

of it. A run that grows from the first 12 labels to 12,288 has then spent all of it, however many
looks it took on the way.
"""

import math

LABELS_BETWEEN_LOOKS = 12
"""New labels of a look when nothing else is known: what the service waits for by default."""

_FIRST = 12
"""Labels from which on the level is spent; a look at fewer may spend nothing."""

_DOUBLINGS = 10.0
"""Doublings of the labels over which the whole level is spent."""


def level_of_look(labels: int, new: int, *, level: float) -> float:
    """The level at which a look at `labels`, `new` of them since the look before, is tested.

    Nothing has to be remembered: looks that are at least `new` labels apart never spend more
    together than the budget, whatever was looked at before and however often the service starts.
    """
    before = max(_FIRST, labels - max(1, new))
    return level * min(1.0, max(0.0, math.log2(labels / before)) / _DOUBLINGS)
