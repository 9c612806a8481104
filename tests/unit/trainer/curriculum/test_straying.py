"""Augmentation: rows with fields of other rows, so that only relevant inputs count."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st
from ray.rllib.core.columns import Columns

from rlaif.game.policy_input.layout import ALLOWED, POLICY_INPUT, SIZE
from rlaif.trainer.learner.algorithm.demonstrated import WarmStart, warm_start
from rlaif.trainer.learner.algorithm.imitation import strayed

INPUTS = "policy_inputs"
ROWS = 64


def numbered(count: int = ROWS) -> dict[str, torch.Tensor]:
    """Rows in which each value identifies its row."""
    own = torch.arange(count, dtype=torch.float32)
    return {
        Columns.OBS: own[:, None].repeat(1, 128),
        INPUTS: own[:, None].repeat(1, SIZE),
        Columns.ACTIONS: torch.arange(count),
    }


@given(st.floats(0.05, 0.9), st.integers(0, 2**32 - 1))
def test_augmentation_copies_whole_fields_but_never_the_mask(share: float, seed: int) -> None:
    rows = numbered()
    found = strayed(rows, rows, share, np.random.default_rng(seed))
    assert torch.equal(found[Columns.ACTIONS], rows[Columns.ACTIONS])
    assert torch.equal(found[INPUTS][:, ALLOWED], rows[INPUTS][:, ALLOWED])
    for number in range(ROWS):
        shown = torch.cat([found[Columns.OBS][number], found[INPUTS][number]])
        assert len(set(shown.tolist()) - {float(number)}) <= 1
        for field in POLICY_INPUT.fields:
            assert len(found[INPUTS][number, field.span].unique()) == 1


def test_half_of_the_rows_are_augmented_by_the_given_share() -> None:
    rows = numbered(4096)
    found = strayed(rows, rows, 0.2, np.random.default_rng(0))
    other = (found[Columns.OBS] != rows[Columns.OBS]).float().mean(dim=1)
    assert 0.45 < (other == 0).float().mean() < 0.55
    assert 0.18 < other[other > 0].mean() < 0.22


def test_a_share_of_0_changes_nothing() -> None:
    rows = numbered()
    assert strayed(rows, rows, 0.0, np.random.default_rng(0)) is rows


class Policy(torch.nn.Module):
    """Two decisions."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.pi, self.vf = torch.nn.Linear(128, 2), torch.nn.Linear(128, 1)

    def forward_train(self, batch: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return {Columns.ACTION_DIST_INPUTS: self.pi(batch[Columns.OBS])}

    def compute_values(self, batch: dict[str, torch.Tensor], embeddings: object) -> torch.Tensor:
        values: torch.Tensor = self.vf(batch[Columns.OBS]).squeeze(-1)
        return values


def test_augmentation_reduces_spurious_correlations() -> None:
    """Thirty inputs determine the decision.

    Another one correlates with it, but with the opposite sign later.
    """
    decided = torch.arange(ROWS) % 2
    seen = torch.zeros(ROWS, 128)
    seen[:, :30] = decided[:, None] * 0.2
    seen[:, 30] = decided * 5.0
    rows = {Columns.OBS: seen, Columns.ACTIONS: decided, "returns": torch.zeros(ROWS)}
    later = seen.clone()
    later[:, 30] = (1 - decided) * 5.0

    def sure(share: float) -> float:
        policy = Policy()
        warm_start(policy, rows, WarmStart(learning_rate=1e-2, strayed=share), seed=0)
        with torch.no_grad():
            logits = policy.pi(later)
        return float(torch.softmax(logits, dim=-1)[torch.arange(ROWS), decided].mean())

    assert sure(0.0) < sure(0.5)
