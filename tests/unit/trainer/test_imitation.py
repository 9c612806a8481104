"""Imitation of demonstrations, before PPO and beside it."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from ray.rllib.core.columns import Columns

from rlaif.game.policy_input.layout import ALLOWED, POLICY_INPUT, SIZE
from rlaif.trainer.learner.algorithm.imitation import (
    RETURNS,
    ImitationTerm,
    accuracy,
    augmented,
    demonstration_loss,
    warm_start,
)
from rlaif.trainer.learner.networks.decision_module import POLICY_INPUTS
from rlaif.trainer.learner.networks.running_scale import ValueHead


class Module(torch.nn.Module):
    """Logits and value by one layer each; the last decision is never allowed."""

    def __init__(self, inputs: int = 128, decisions: int = 8) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.pi, self.vf = torch.nn.Linear(inputs, decisions), ValueHead(inputs)
        self.observed = 0

    def observe(self, batch: dict[str, torch.Tensor]) -> None:
        self.observed += len(batch[Columns.OBS])

    def forward_train(self, batch: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        logits = self.pi(batch[Columns.OBS])
        never = torch.arange(logits.shape[1]) == logits.shape[1] - 1
        return {Columns.ACTION_DIST_INPUTS: torch.where(never, -1e9, logits)}

    def compute_values(self, batch: dict[str, torch.Tensor], embeddings: object) -> torch.Tensor:
        return self.vf(batch[Columns.OBS]).squeeze(-1)


def rows(count: int, seed: int) -> dict[str, torch.Tensor]:
    """The decision is the index of the largest of three inputs, the return their sum."""
    seen = np.random.default_rng(seed).normal(size=(count, 8)).astype(np.float32)
    return {
        Columns.OBS: torch.from_numpy(seen),
        Columns.ACTIONS: torch.from_numpy(seen[:, :3].argmax(axis=1)),
        RETURNS: torch.from_numpy(seen[:, :3].sum(axis=1)),
    }


def test_a_warm_start_generalizes_decisions_and_values():
    module, shown, new = Module(8, 4), rows(300, seed=1), rows(100, seed=2)
    assert accuracy(module, new) < 0.6
    warm_start(module, shown, steps=500, learning_rate=1e-2, seed=0)
    assert accuracy(module, new) > 0.85
    error = module.compute_values(new, None) - new[RETURNS]
    assert error.std() < new[RETURNS].std() / 2
    assert module.observed == 300


def term_of(given: dict[str, torch.Tensor], weight: float, **options: float) -> ImitationTerm:
    term = ImitationTerm(demonstration_loss, **options)
    term.take({name: column.numpy() for name, column in given.items()} or None, "cpu")
    term.weight = weight
    return term


@pytest.mark.parametrize(("count", "weight"), [(0, 1.0), (5, 0.0)])
def test_there_is_no_term_without_rows_or_weight(count: int, weight: float):
    term = term_of(rows(count, seed=1) if count else {}, weight)
    assert term.of(Module(8, 4), 4, np.random.default_rng(0)) is None


def test_a_term_is_the_loss_times_its_weight_and_the_share_of_chosen_rows():
    module, rng = Module(8, 4), np.random.default_rng(0)
    same = {name: column.repeat(4, *[1] * (column.dim() - 1)) for name, column in
            rows(1, seed=1).items()}  # fmt: skip
    term, alone = term_of(same, 0.5), demonstration_loss(module, same).item()
    for chosen, part in ([True] * 4, 1.0), ([True, False, False, False], 0.25):
        term.choose(np.array(chosen))
        loss = term.of(module, 8, rng)
        assert loss is not None
        assert loss.item() == pytest.approx(0.5 * part * alone)


def test_a_term_draws_its_share_of_rows_from_the_chosen_ones():
    drawn: list[list[int]] = []

    def loss(module: object, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        drawn.append(batch[Columns.ACTIONS].tolist())
        return torch.zeros(())

    term, rng = ImitationTerm(loss, share=0.25), np.random.default_rng(0)
    term.take({Columns.ACTIONS: np.arange(6)}, "cpu")
    term.weight = 1.0
    term.choose(np.array([False, True, False, False, True, False]))
    term.of(None, 240, rng)
    term.choose(np.zeros(6, dtype=np.bool_))
    assert term.of(None, 64, rng) is None
    assert len(drawn) == 1
    assert (len(drawn[0]), set(drawn[0])) == (20, {1, 4})


def numbered(count: int = 64) -> dict[str, torch.Tensor]:
    """Rows in which each value identifies its row."""
    own = torch.arange(count, dtype=torch.float32)
    return {
        Columns.OBS: own[:, None].repeat(1, 128),
        POLICY_INPUTS: own[:, None].repeat(1, SIZE),
        Columns.ACTIONS: torch.arange(count),
    }


@settings(max_examples=25, deadline=None)
@given(st.floats(0.05, 0.9), st.integers(0, 2**32 - 1))
def test_augmentation_copies_whole_fields_but_never_the_mask(share: float, seed: int):
    given = numbered()
    found = augmented(given, given, share, np.random.default_rng(seed))
    assert torch.equal(found[Columns.ACTIONS], given[Columns.ACTIONS])
    assert torch.equal(found[POLICY_INPUTS][:, ALLOWED], given[POLICY_INPUTS][:, ALLOWED])
    for number in range(64):
        shown = torch.cat([found[Columns.OBS][number], found[POLICY_INPUTS][number]])
        assert len(set(shown.tolist()) - {float(number)}) <= 1
        for field in POLICY_INPUT.fields:
            assert len(found[POLICY_INPUTS][number, field.span].unique()) == 1


def test_half_of_the_rows_are_augmented_by_the_given_share():
    given = numbered(4096)
    found = augmented(given, given, 0.2, np.random.default_rng(0))
    other = (found[Columns.OBS] != given[Columns.OBS]).float().mean(dim=1)
    assert 0.45 < (other == 0).float().mean() < 0.55
    assert 0.18 < other[other > 0].mean() < 0.22
    assert augmented(given, given, 0.0, np.random.default_rng(0)) is given


def test_augmentation_reduces_spurious_correlations():
    """Thirty inputs determine the decision; another one correlates with it, but not later."""
    decided = torch.arange(64) % 2
    seen = torch.zeros(64, 128)
    seen[:, :30] = decided[:, None] * 0.2
    seen[:, 30] = decided * 5.0
    shown = {Columns.OBS: seen, Columns.ACTIONS: decided, RETURNS: torch.zeros(64)}
    later = seen.clone()
    later[:, 30] = (1 - decided) * 5.0

    def certainty(share: float) -> float:
        module = Module(128, 3)
        warm_start(module, shown, steps=600, learning_rate=1e-2, augmentation=share, seed=0)
        with torch.no_grad():
            logits = module.pi(later)[:, :2]
        return float(torch.softmax(logits, dim=-1)[torch.arange(64), decided].mean())

    assert certainty(0.0) < certainty(0.5)
