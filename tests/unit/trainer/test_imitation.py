"""Imitation of demonstrations, before PPO and beside it, and of the best segments of own play."""

from dataclasses import replace

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
    TopSegments,
    accuracy,
    augmented,
    demonstration_loss,
    imitation_loss,
    warm_start,
)
from rlaif.trainer.learner.networks.decision_module import POLICY_INPUTS
from rlaif.trainer.learner.networks.running_scale import ValueHead
from rlaif.trainer.play.fragment import Fragment
from rlaif.trainer.rewards.learned.shaping import Transitions

STEPS, ENVS = 12, 2


def fragment(ended: tuple[int, int] | None = None) -> Fragment:
    """Observations that say when and where: (t, n) in their first two numbers."""
    observations = np.zeros((STEPS + 1, ENVS, 128), dtype=np.float32)
    observations[..., 0] = np.arange(STEPS + 1)[:, None]
    observations[..., 1] = np.arange(ENVS)
    terminated = np.zeros((STEPS, ENVS), dtype=np.bool_)
    if ended is not None:
        terminated[ended] = True
    empty = np.zeros((STEPS, ENVS), dtype=np.float32)
    return Fragment(
        runner=1,
        continues=True,
        transitions=Transitions(
            observations=observations,
            terminated=terminated,
            truncated=np.zeros_like(terminated),
            final_index=np.zeros((0, 2), dtype=np.int64),
            final_observations=np.zeros((0, 128), dtype=np.float32),
        ),
        actions=np.tile(np.arange(STEPS)[:, None] % 8, ENVS),
        action_logp=empty,
        action_dist_inputs=np.zeros((STEPS, ENVS, 8), dtype=np.float32),
        rewards=empty,
    )


def rewards(**paid: float) -> np.ndarray:
    """`t3n1=2.0` pays 2 in step 3 of environment 1."""
    grid = np.zeros((STEPS, ENVS), dtype=np.float32)
    for place, amount in paid.items():
        t, n = place[1:].split("n")
        grid[int(t), int(n)] = amount
    return grid


def test_the_segments_with_the_highest_rewards_are_kept():
    top = TopSegments(keep=2, steps=4)
    paid = rewards(t1n0=1.0, t5n1=3.0, t9n0=2.0)
    top.add([fragment()], [paid], [paid * 10], iteration=1)
    assert [each.score for each in top.segments] == [3.0, 2.0]
    best = top.segments[0]
    assert best.observations[:, 0].tolist() == [4, 5, 6, 7]
    assert set(best.observations[:, 1]) == {1.0}
    assert best.actions.tolist() == [4, 5, 6, 7]
    assert best.returns.tolist() == [0, 30, 0, 0]
    rows = top.rows()
    assert rows is not None
    assert rows[Columns.OBS].shape == (8, 128)
    top.add([fragment()], [rewards(t0n0=2.5)], [paid], iteration=2)
    assert [each.score for each in top.segments] == [3.0, 2.5]


def test_segments_keep_policy_inputs_also_in_a_checkpoint():
    inputs = np.arange((STEPS + 1) * ENVS * 5, dtype=np.float32).reshape(STEPS + 1, ENVS, 5)
    top = TopSegments(keep=2, steps=4)
    paid = rewards(t1n0=1.0, t5n1=3.0)
    top.add([replace(fragment(), policy_inputs=inputs)], [paid], [paid], iteration=1)
    rows = top.rows()
    assert rows is not None
    assert np.array_equal(rows[POLICY_INPUTS], np.concatenate([inputs[4:8, 1], inputs[:4, 0]]))
    resumed = TopSegments(keep=2, steps=4)
    resumed.load_state_dict(top.state_dict())
    again = resumed.rows()
    assert again is not None
    assert np.array_equal(again[POLICY_INPUTS], rows[POLICY_INPUTS])


def test_a_segment_lies_in_one_episode_and_has_a_positive_reward():
    top = TopSegments(keep=9, steps=4)
    paid = rewards(t1n0=1.0, t5n0=1.0, t5n1=-1.0)
    top.add([fragment(ended=(1, 0))], [paid], [paid], iteration=1)
    assert [int(each.observations[0, 0]) for each in top.segments] == [4]
    top = TopSegments(keep=9, steps=4)
    top.add([fragment(ended=(3, 0))], [paid], [paid], iteration=1)
    assert len(top.segments) == 2, "an end with the last step cuts nothing"


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


def test_the_loss_raises_the_probability_of_good_actions_and_does_not_train_the_critic():
    module = Module()
    rows = {
        Columns.OBS: torch.full((32, 128), 0.5),
        Columns.ACTIONS: torch.cat([torch.full((16,), 2), torch.full((16,), 5)]),
        "returns": torch.cat([torch.full((16,), 10.0), torch.full((16,), -10.0)]),
    }
    optimizer = torch.optim.Adam(module.parameters(), lr=0.01)
    for _ in range(150):
        optimizer.zero_grad()
        imitation_loss(module, rows).backward()
        optimizer.step()
    assert module.vf.linear.weight.grad is None
    chances = torch.softmax(module.pi(rows[Columns.OBS]), dim=-1).mean(dim=0)
    assert chances[2] > 0.6
    assert chances[2] > 3 * chances[5]


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
