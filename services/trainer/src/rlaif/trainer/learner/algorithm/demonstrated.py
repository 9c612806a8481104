"""Imitates demonstrations: before PPO as a warm start, and as a term beside its loss.

Cross-entropy of what was decided, among the decisions that are allowed at the moment, and in the
warm start the critic's error on the returns.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from ray.rllib.core.columns import Columns
from torch import Tensor

from rlaif.files.whole import write_whole
from rlaif.trainer.learner.algorithm.imitation import strayed

RETURNS = "returns"
"""Column of the rows: `[B] float32`, discounted, in the units of the rewards."""

SUBTASKS = "legs"
"""Column of the rows: `[B] int64`, the segment of the curriculum that each leads through."""

IMITATION = "imitation.json"
"""In a run's directory: `ImitationFigures` of its policy before PPO."""

_IMPOSSIBLE = -1e8
"""Logits below stand for decisions that are not allowed."""

_GRADIENT_NORM = 0.5
_AT_ONCE = 1024

ValueLoss = Callable[[Any, Tensor, Tensor], Tensor]
"""Module, values and returns, `[B]` each, to the critic's loss of each row."""


@dataclass(frozen=True)
class WarmStart:
    """How a new policy imitates.

    Attributes:
        steps: Of the gradient.
        minibatch_size: Rows a step; all, when there are fewer.
        learning_rate: Of Adam.
        value_weight: Of the critic's loss beside the policy's.
        entropy: Weight of the policy's entropy: what imitates without it is too sure of itself for
            PPO to try anything else.
        strayed: See `straying.strayed`.
    """

    steps: int = 600
    minibatch_size: int = 256
    learning_rate: float = 1e-3
    value_weight: float = 0.5
    entropy: float = 0.01
    strayed: float = 0.0


@dataclass(frozen=True)
class ImitationFigures:
    """How well a policy imitates.

    Attributes:
        rows: It learned from.
        accuracy: Share of those in which its most probable decision is the demonstration's.
        tested: Rows of a demonstration that it did not learn from, in states of their own.
        tested_accuracy: The same there; None without any.
        chance: What a uniform choice among the allowed decisions would reach there.
        most_frequent: What the most frequent decision of the rows learned from would reach there.
        value_error: Root of the mean squared error of the critic on the rows learned from.
    """

    rows: int
    accuracy: float
    tested: int
    tested_accuracy: float | None
    chance: float | None
    most_frequent: float | None
    value_error: float

    def write(self, path: Path) -> None:
        write_whole(path, (json.dumps(asdict(self), indent=1) + "\n").encode())


def demonstration_loss(module: Any, rows: dict[str, Tensor]) -> Tensor:
    """Minus the mean log probability of the decisions, a scalar."""
    logits = module.forward_train(rows)[Columns.ACTION_DIST_INPUTS]
    return torch.nn.functional.cross_entropy(logits, rows[Columns.ACTIONS])


def warm_start(
    module: Any,
    rows: dict[str, Tensor],
    settings: WarmStart,
    *,
    seed: int,
    value_loss: ValueLoss | None = None,
) -> None:
    """Let a module imitate `rows`: its columns, `actions` and `returns`.

    Running figures of a module that keeps some (`observe`, `vf.follow`) take the rows in first.
    """
    if hasattr(module, "observe"):
        module.observe(rows)
    if hasattr(module.vf, "follow"):
        module.vf.follow(rows[RETURNS])
    optimizer = torch.optim.Adam(module.parameters(), lr=settings.learning_rate)
    rng = np.random.default_rng([seed, 0xB0C])
    orders = _orders(len(rows[Columns.ACTIONS]), settings.minibatch_size, rng)
    for order in islice(orders, settings.steps):
        batch = {name: column[order] for name, column in rows.items()}
        batch = strayed(batch, rows, settings.strayed, rng)
        loss = _loss(module, batch, settings, value_loss or _huber)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]  # torch is untyped here
        torch.nn.utils.clip_grad_norm_(module.parameters(), _GRADIENT_NORM)
        optimizer.step()


def figures_of(module: Any, rows: dict[str, Tensor], tested: dict[str, Tensor]) -> ImitationFigures:
    """How well `module` imitates what it learned from, and what it did not."""
    right, _, values = _judged(module, rows)
    test_right, allowed, _ = _judged(module, tested)
    decided = tested[Columns.ACTIONS].numpy()
    has_tests = len(decided) > 0
    most = np.bincount(rows[Columns.ACTIONS].numpy()).argmax()
    errors = values - rows[RETURNS].numpy()
    return ImitationFigures(
        rows=len(right),
        accuracy=float(right.mean()),
        tested=len(decided),
        tested_accuracy=float(test_right.mean()) if has_tests else None,
        chance=float((1.0 / allowed).mean()) if has_tests else None,
        most_frequent=float((decided == most).mean()) if has_tests else None,
        value_error=float(np.sqrt((errors**2).mean())),
    )


def _loss(
    module: Any, batch: dict[str, Tensor], settings: WarmStart, value_loss: ValueLoss
) -> Tensor:
    out = module.forward_train(batch)
    logits = out[Columns.ACTION_DIST_INPUTS]
    values = module.compute_values(batch, embeddings=out.get(Columns.EMBEDDINGS))
    log_probabilities = torch.log_softmax(logits, dim=-1)
    entropy = -(log_probabilities.exp() * log_probabilities).sum(dim=-1).mean()
    loss: Tensor = (
        torch.nn.functional.nll_loss(log_probabilities, batch[Columns.ACTIONS])
        + settings.value_weight * value_loss(module, values, batch[RETURNS]).mean()
        - settings.entropy * entropy
    )
    return loss


def _huber(module: Any, values: Tensor, returns: Tensor) -> Tensor:
    unit = getattr(module.vf, "spread", 1.0)
    return torch.nn.functional.huber_loss(values / unit, returns / unit, reduction="none")


def _orders(rows: int, size: int, rng: np.random.Generator) -> Iterator[Tensor]:
    while rows:
        yield from torch.split(torch.from_numpy(rng.permutation(rows)), size)


def _judged(
    module: Any, rows: dict[str, Tensor]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """Of each row: whether the most probable decision is right, how many are allowed, V."""
    right, allowed, values = [], [], []
    with torch.no_grad():
        for start in range(0, len(rows[Columns.ACTIONS]), _AT_ONCE):
            batch = {name: column[start : start + _AT_ONCE] for name, column in rows.items()}
            out = module.forward_train(batch)
            logits = out[Columns.ACTION_DIST_INPUTS]
            right.append((logits.argmax(dim=-1) == batch[Columns.ACTIONS]).numpy())
            allowed.append((logits > _IMPOSSIBLE).sum(dim=-1).numpy())
            told = module.compute_values(batch, embeddings=out.get(Columns.EMBEDDINGS))
            values.append(told.numpy())
    return (
        np.concatenate([np.zeros(0, np.bool_), *right]),
        np.concatenate([np.zeros(0, np.int64), *allowed]),
        np.concatenate([np.zeros(0, np.float32), *values]),
    )
