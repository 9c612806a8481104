"""Imitation: warm start before PPO, and an additional loss term during PPO."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from ray.rllib.core.columns import Columns

from rlaif.trainer.learner.algorithm.demonstrated import (
    RETURNS,
    WarmStart,
    demonstration_loss,
    figures_of,
    warm_start,
)
from rlaif.trainer.learner.algorithm.imitation import ImitationTerm

SETTINGS = WarmStart(steps=500, minibatch_size=16, learning_rate=1e-2)


class Policy(torch.nn.Module):
    """Four decisions, of which the last is never allowed, and a separate critic."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.pi, self.vf = torch.nn.Linear(8, 4), torch.nn.Linear(8, 1)
        self.observed = 0

    def observe(self, batch: dict[str, torch.Tensor]) -> None:
        self.observed += len(batch[Columns.OBS])

    def forward_train(self, batch: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        logits = self.pi(batch[Columns.OBS])
        never = torch.tensor([False, False, False, True])
        return {Columns.ACTION_DIST_INPUTS: torch.where(never, -1e9, logits)}

    def compute_values(self, batch: dict[str, torch.Tensor], embeddings: Any) -> torch.Tensor:
        values: torch.Tensor = self.vf(batch[Columns.OBS]).squeeze(-1)
        return values


def rows(count: int, seed: int) -> dict[str, torch.Tensor]:
    """The decision is the index of the largest of three inputs, the return their sum."""
    rng = np.random.default_rng(seed)
    seen = rng.normal(size=(count, 8)).astype(np.float32)
    return {
        Columns.OBS: torch.from_numpy(seen),
        Columns.ACTIONS: torch.from_numpy(seen[:, :3].argmax(axis=1)),
        RETURNS: torch.from_numpy(seen[:, :3].sum(axis=1)),
    }


def test_a_warm_start_generalizes_decisions_and_values() -> None:
    policy, shown, new = Policy(), rows(300, seed=1), rows(100, seed=2)
    before = figures_of(policy, shown, new)
    warm_start(policy, shown, SETTINGS, seed=0)
    after = figures_of(policy, shown, new)
    assert (after.rows, after.tested) == (300, 100)
    assert before.tested_accuracy is not None
    assert after.tested_accuracy is not None
    assert before.tested_accuracy < 0.6 < 0.85 < after.tested_accuracy
    assert after.value_error < before.value_error / 3
    assert policy.observed == 300


def test_baselines_use_the_mask_and_the_training_rows() -> None:
    shown, new = rows(300, seed=1), rows(100, seed=2)
    figures = figures_of(Policy(), shown, new)
    assert figures.chance == pytest.approx(1 / 3)
    most = int(torch.bincount(shown[Columns.ACTIONS]).argmax())
    share = float((new[Columns.ACTIONS] == most).float().mean())
    assert figures.most_frequent == pytest.approx(share)


def test_without_a_test_set_no_test_figures_are_reported() -> None:
    figures = figures_of(Policy(), rows(30, seed=1), rows(0, seed=2))
    assert (figures.tested, figures.tested_accuracy, figures.chance) == (0, None, None)


def test_equal_seeds_give_equal_results() -> None:
    policies = [Policy(), Policy()]
    for policy in policies:
        warm_start(policy, rows(50, seed=1), SETTINGS, seed=3)
    first, second = (policy.pi.weight for policy in policies)
    assert torch.equal(first, second)


def test_figures_are_written_unchanged(tmp_path: Path) -> None:
    figures = figures_of(Policy(), rows(30, seed=1), rows(10, seed=2))
    figures.write(tmp_path / "imitation.json")
    assert json.loads((tmp_path / "imitation.json").read_text())["rows"] == 30


def test_a_term_is_the_loss_times_its_weight() -> None:
    policy, shown = Policy(), rows(1, seed=1)
    term = ImitationTerm(demonstration_loss)
    term.take({name: column.numpy() for name, column in shown.items()}, "cpu")
    term.weight = 0.5
    loss = term.of(policy, 4, np.random.default_rng(0))
    assert loss is not None
    alone = demonstration_loss(policy, shown)
    assert loss.item() == pytest.approx(0.5 * alone.item())


@pytest.mark.parametrize(("count", "weight"), [(0, 1.0), (5, 0.0)])
def test_there_is_no_term_without_rows_or_weight(count: int, weight: float) -> None:
    term = ImitationTerm(demonstration_loss)
    given = {name: column.numpy() for name, column in rows(count, seed=1).items()}
    term.take(given if count else None, "cpu")
    term.weight = weight
    assert term.of(Policy(), 4, np.random.default_rng(0)) is None


def test_a_term_imitates_only_the_selected_rows() -> None:
    asked: list[list[int]] = []

    def loss(module: Any, drawn: dict[str, torch.Tensor]) -> torch.Tensor:
        asked.append(sorted(set(drawn[Columns.ACTIONS].tolist())))
        return torch.zeros(())

    term, rng = ImitationTerm(loss), np.random.default_rng(0)
    given = {Columns.ACTIONS: np.arange(6)}
    term.take(given, "cpu")
    term.weight = 1.0
    term.choose(np.array([False, True, False, False, True, False]))
    term.of(Policy(), 64, rng)
    term.choose(np.zeros(6, dtype=np.bool_))
    assert term.of(Policy(), 64, rng) is None
    term.take(given, "cpu")
    term.of(Policy(), 64, rng)
    assert asked == [[1, 4], [0, 1, 2, 3, 4, 5]]


def test_the_weight_of_a_row_does_not_depend_on_the_number_of_rows() -> None:
    policy, shown = Policy(), rows(4, seed=1)
    shown = {
        name: column[:1].repeat(4, *[1] * (column.dim() - 1)) for name, column in shown.items()
    }
    term, rng = ImitationTerm(demonstration_loss), np.random.default_rng(0)
    term.take({name: column.numpy() for name, column in shown.items()}, "cpu")
    term.weight = 0.5
    whole = term.of(policy, 8, rng)
    term.choose(np.array([True, False, False, False]))
    part = term.of(policy, 8, rng)
    assert whole is not None
    assert part is not None
    assert part.item() == pytest.approx(whole.item() / 4)


def test_a_term_may_take_fewer_rows_than_the_minibatch_has() -> None:
    asked: list[int] = []

    def loss(module: Any, drawn: dict[str, torch.Tensor]) -> torch.Tensor:
        asked.append(len(drawn[Columns.ACTIONS]))
        return torch.zeros(())

    term = ImitationTerm(loss, share=0.25)
    term.take({name: column.numpy() for name, column in rows(50, seed=1).items()}, "cpu")
    term.weight = 1.0
    term.of(Policy(), 16, np.random.default_rng(0))
    assert asked == [4]
