"""Imitation of demonstrations, before and during PPO: cross-entropy among the allowed decisions."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from ray.rllib.core.columns import Columns
from torch import Tensor

from rlaif.game.policy_input.layout import ALLOWED, POLICY_INPUT, SIZE

RETURNS = "returns"
"""Column of the rows: `[B] float32`, discounted, in the units of the rewards."""

SUBTASKS = "subtasks"
"""Column of the rows: `[B] int64`, index of the curriculum's subtask."""

UNCHANGED = 0.5
"""Share of the rows that augmentation leaves unchanged."""

Rows = dict[str, npt.NDArray[Any]]
Loss = Callable[[Any, dict[str, Tensor]], Tensor]
"""Maps module and rows to a scalar."""

_WARM_START_MINIBATCH = 256
_VALUE_WEIGHT = 0.5
_ENTROPY = 0.01
"""Of the warm start; without it the policy is too deterministic for PPO to explore."""

_GRADIENT_NORM = 0.5
_MAX_ROWS = 1024


def augmented(
    rows: dict[str, Tensor], among: dict[str, Tensor], share: float, rng: np.random.Generator
) -> dict[str, Tensor]:
    """Return rows of which some have a part of their inputs replaced by those of other rows.

    Args:
        rows: Columns, `[B]`, or `[B, D]` for inputs.
        among: The same columns of all rows, from which the replacements are drawn.
        share: Share of the fields of a policy input, and of the numbers of an observation, that a
            changed row takes from another row. The mask of allowed decisions is not changed.
        rng: Generator for rows and fields.

    Returns:
        The columns; `rows` itself if `share` is 0.
    """
    count = len(rows[Columns.ACTIONS])
    if share <= 0 or not count:
        return rows
    other = torch.from_numpy(rng.integers(0, len(among[Columns.ACTIONS]), count))
    touched = torch.from_numpy(rng.random((count, 1)) >= UNCHANGED)
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
    for number, each in enumerate(POLICY_INPUT.fields):
        found[each.span] = number
    return found


_FIELD_OF_SLOT = _field_of_slot()


class ImitationTerm:
    """A term of the loss that imitates some rows.

    Attributes:
        weight: Weight in the loss; with 0 the term is not computed.
        augmentation: Share of inputs from other rows (`augmented`).
    """

    def __init__(self, loss: Loss, *, share: float = 1.0) -> None:
        """Create a term with `share` rows for each row of a minibatch."""
        self._loss, self._share = loss, share
        self._rows: dict[str, Tensor] = {}
        self._chosen = np.empty(0, dtype=np.int64)
        self.weight = self.augmentation = 0.0

    def take(self, rows: Rows | None, device: Any) -> None:
        self._rows = {
            name: torch.as_tensor(array).to(device) for name, array in (rows or {}).items()
        }
        self.choose(None)

    def choose(self, mask: npt.NDArray[np.bool_] | None) -> None:
        """Imitate only the rows of a mask, `[R] bool`, from now on; all rows if None.

        The weight of a row does not depend on the number of chosen rows.
        """
        count = len(self._rows[Columns.ACTIONS]) if self._rows else 0
        self._chosen = np.arange(count) if mask is None else np.flatnonzero(mask)

    def of(self, module: Any, size: int, rng: np.random.Generator) -> Tensor | None:
        """Return the weighted term for a minibatch of `size`; None without rows or weight."""
        if not len(self._chosen) or not self.weight:
            return None
        part = len(self._chosen) / len(self._rows[Columns.ACTIONS])
        count = max(1, round(size * self._share * part))
        order = torch.from_numpy(self._chosen[rng.integers(0, len(self._chosen), count)])
        drawn = {name: column[order] for name, column in self._rows.items()}
        drawn = augmented(drawn, self._rows, self.augmentation, rng)
        return self.weight * part * self._loss(module, drawn)


def demonstration_loss(module: Any, rows: dict[str, Tensor]) -> Tensor:
    """Return the negative mean log probability of the decisions, a scalar."""
    logits = module.forward_train(rows)[Columns.ACTION_DIST_INPUTS]
    return torch.nn.functional.cross_entropy(logits, rows[Columns.ACTIONS])


def warm_start(
    module: Any,
    rows: dict[str, Tensor],
    *,
    steps: int,
    seed: int,
    augmentation: float = 0.0,
    learning_rate: float = 1e-3,
) -> None:
    """Train a module on `rows`, with `actions` and `returns`, for `steps` steps of Adam."""
    module.observe(rows)
    module.vf.follow(rows[RETURNS])
    optimizer = torch.optim.Adam(module.parameters(), lr=learning_rate)
    rng = np.random.default_rng([seed, 0xB0C])
    for order in islice(_minibatches(len(rows[Columns.ACTIONS]), rng), steps):
        batch = {name: column[order] for name, column in rows.items()}
        loss = _warm_start_loss(module, augmented(batch, rows, augmentation, rng))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]  # torch is untyped here
        torch.nn.utils.clip_grad_norm_(module.parameters(), _GRADIENT_NORM)
        optimizer.step()


def accuracy(module: Any, rows: dict[str, Tensor]) -> float:
    """Return the share of rows in which the most probable decision is the demonstrated one."""
    actions, right = rows[Columns.ACTIONS], 0
    if not len(actions):
        return float("nan")
    with torch.no_grad():
        for order in torch.split(torch.arange(len(actions)), _MAX_ROWS):
            batch = {name: column[order] for name, column in rows.items()}
            logits = module.forward_train(batch)[Columns.ACTION_DIST_INPUTS]
            right += int((logits.argmax(dim=-1) == actions[order]).sum())
    return right / len(actions)


def _warm_start_loss(module: Any, batch: dict[str, Tensor]) -> Tensor:
    out = module.forward_train(batch)
    values = module.compute_values(batch, embeddings=out.get(Columns.EMBEDDINGS))
    log_probabilities = torch.log_softmax(out[Columns.ACTION_DIST_INPUTS], dim=-1)
    entropy = -(log_probabilities.exp() * log_probabilities).sum(dim=-1).mean()
    unit = module.vf.spread
    errors = torch.nn.functional.huber_loss(values / unit, batch[RETURNS] / unit, reduction="none")
    loss: Tensor = (
        torch.nn.functional.nll_loss(log_probabilities, batch[Columns.ACTIONS])
        + _VALUE_WEIGHT * errors.mean()
        - _ENTROPY * entropy
    )
    return loss


def _minibatches(rows: int, rng: np.random.Generator) -> Iterator[Tensor]:
    while rows:
        yield from torch.split(torch.from_numpy(rng.permutation(rows)), _WARM_START_MINIBATCH)
