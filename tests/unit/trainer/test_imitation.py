"""The best segments are kept, for a while, and pull the policy towards what was done in them."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from ray.rllib.core.columns import Columns

from rlaif.trainer.learner.algorithm.imitation import (
    MAX_AGE,
    TopSegments,
    imitation_loss,
    weights_of,
)
from rlaif.trainer.learner.networks.decision_module import POLICY_INPUTS
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


def test_the_segments_of_the_highest_rewards_stay():
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


def test_what_a_policy_of_decisions_read_is_kept_with_what_it_did():
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


def test_a_segment_is_of_one_episode_and_was_paid():
    top = TopSegments(keep=9, steps=4)
    paid = rewards(t1n0=1.0, t5n0=1.0, t5n1=-1.0)
    top.add([fragment(ended=(1, 0))], [paid], [paid], iteration=1)
    assert [int(each.observations[0, 0]) for each in top.segments] == [4]
    top = TopSegments(keep=9, steps=4)
    top.add([fragment(ended=(3, 0))], [paid], [paid], iteration=1)
    assert len(top.segments) == 2, "an end with the last step cuts nothing"


def test_old_segments_are_forgotten():
    top = TopSegments(keep=2, steps=4)
    paid = rewards(t1n0=9.0)
    top.add([fragment()], [paid], [paid], iteration=1)
    top.add([fragment()], [rewards()], [paid], iteration=MAX_AGE)
    assert len(top.segments) == 1
    top.add([fragment()], [rewards()], [paid], iteration=MAX_AGE + 1)
    assert top.rows() is None


def test_they_survive_a_checkpoint():
    one, two = TopSegments(keep=2, steps=4), TopSegments(keep=2, steps=4)
    paid = rewards(t1n0=1.0, t5n1=3.0)
    one.add([fragment()], [paid], [paid], iteration=1)
    two.load_state_dict(one.state_dict())
    first, second = one.rows(), two.rows()
    assert first is not None
    assert second is not None
    assert all(np.array_equal(first[name], second[name]) for name in first)


class Module(torch.nn.Module):
    """Logits and value of a state by two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.pi = torch.nn.Linear(128, 8)
        self.vf = torch.nn.Linear(128, 1)

    def forward_train(self, batch: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return {Columns.ACTION_DIST_INPUTS: self.pi(batch[Columns.OBS])}

    def compute_values(self, batch: dict[str, torch.Tensor], embeddings: object) -> torch.Tensor:
        return self.vf(batch[Columns.OBS]).squeeze(-1)


def test_the_loss_raises_the_chance_of_what_went_well_and_leaves_the_critic_alone():
    torch.manual_seed(1)
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
    assert module.vf.weight.grad is None
    chances = torch.softmax(module.pi(rows[Columns.OBS]), dim=-1).mean(dim=0)
    assert chances[2] > 0.6
    assert chances[2] > 3 * chances[5]


def test_one_row_cannot_weigh_more_than_twenty():
    weights = weights_of(torch.tensor([0.0] * 99 + [100.0]))
    assert float(weights.max()) == pytest.approx(20.0)
    assert torch.isfinite(weights_of(torch.zeros(4))).all()
