"""Rows to imitate that differ in what does not matter: parts of one moment shown in another.

A demonstration goes one way, so all that goes with it looks like a reason: hearts, money, what was
taken along. A policy that imitates it bare does as shown where it was shown, and something else
with one heart more. Here parts of what a row shows come from another row, the decision stays: what
it does not depend on stops to count.

Source: swapping inputs between rows as noise is from denoising autoencoders (Vincent et al. 2008),
for tables as in Jahrer's solution of Porto Seguro (2017).
"""

import numpy as np
import torch
from ray.rllib.core.columns import Columns
from torch import Tensor

from rlaif.game.policy_input.layout import ALLOWED, POLICY_INPUT, SIZE

UNTOUCHED = 0.5
"""Share of the rows that are shown as they are: what matters has to stay readable."""


def strayed(
    rows: dict[str, Tensor], among: dict[str, Tensor], share: float, rng: np.random.Generator
) -> dict[str, Tensor]:
    """Rows of which a part shows something of other rows.

    Args:
        rows: Columns, `[B]`, or `[B, numbers]` where they are what is seen.
        among: The same columns of all rows that there are; where the other parts come from.
        share: Of the fields of a policy input, and of the numbers of an observation, that such a
            row has from one other row. What is allowed stays its own.
        rng: Draws rows and parts.

    Returns:
        The columns, what is seen in part from elsewhere. With `share` 0 they are `rows`.
    """
    count = len(rows[Columns.ACTIONS])
    if share <= 0 or not count:
        return rows
    other = torch.from_numpy(rng.integers(0, len(among[Columns.ACTIONS]), count))
    touched = torch.from_numpy(rng.random((count, 1)) >= UNTOUCHED)
    found = dict(rows)
    for name, seen in rows.items():
        if seen.dim() != 2:
            continue
        has_fields = seen.shape[1] == SIZE
        parts = len(POLICY_INPUT.fields) if has_fields else seen.shape[1]
        taken = touched & torch.from_numpy(rng.random((count, parts)) < share)
        if has_fields:
            taken = taken[:, _FIELD_OF_SLOT]
            taken[:, ALLOWED] = False
        found[name] = torch.where(taken, among[name][other], seen)
    return found


def _field_of_slot() -> Tensor:
    found = torch.empty(SIZE, dtype=torch.int64)
    for number, field in enumerate(POLICY_INPUT.fields):
        found[field.span] = number
    return found


_FIELD_OF_SLOT = _field_of_slot()
