"""The loss of PPO and its gradient against torch's gradient of the same loss."""

from typing import Any

import numpy as np
import pytest
import torch
from ray.rllib.core.columns import Columns
from ray.rllib.evaluation.postprocessing import Postprocessing
from torch.nn.functional import huber_loss

from rlaif.trainer.learner.algorithm.loss import PpoLoss, ValueLoss
from rlaif.trainer.learner.networks.decision_layout import NEVER

INPUTS, ROWS, ACTIONS = 6, 40, 5
ENTROPY, SPREAD = 0.02, 3.0


def played() -> tuple[torch.Tensor, torch.Tensor, np.ndarray, dict[str, Any]]:
    """Logits and values of the distinct inputs, the input of each row, and what was played."""
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(INPUTS, ACTIONS)).astype(np.float32)
    logits[1:3, 4] = NEVER
    rows = {
        Columns.ACTIONS: rng.integers(0, 4, ROWS),
        # Some of the ratios are clipped.
        Columns.ACTION_LOGP: rng.uniform(-2.5, -0.7, ROWS).astype(np.float32),
        Postprocessing.ADVANTAGES: rng.normal(size=ROWS).astype(np.float32),
        Postprocessing.VALUE_TARGETS: rng.normal(scale=5, size=ROWS).astype(np.float32),
    }
    values = rng.normal(size=INPUTS).astype(np.float32)
    made = (torch.tensor(each, requires_grad=True) for each in (logits, values))
    return (*made, rng.integers(0, INPUTS, ROWS), rows)  # type: ignore[return-value]


def test_gradients_are_torchs_of_the_same_loss():
    logits, values, which, rows = played()
    actions, chosen, advantages, returns = map(torch.tensor, rows.values())
    policy = torch.distributions.Categorical(logits=logits[which])
    ratio = (policy.log_prob(actions) - chosen).exp()
    clipped = ratio.clamp(0.5, 1.5)
    assert 5 < int((ratio != clipped).sum()) < ROWS - 5
    objective = torch.min(ratio * advantages, clipped * advantages).mean()
    error = huber_loss(values[which] / SPREAD, returns / SPREAD)
    loss = 0.5 * error - objective - ENTROPY * policy.entropy().mean()
    expected = torch.autograd.grad(loss, [logits, values])

    given = logits.detach().numpy(), values.detach().numpy(), which, rows
    found = PpoLoss(0.5, ValueLoss("huber"), 0.5).gradients(
        *given, entropy_weight=ENTROPY, spread=SPREAD
    )
    assert np.allclose(found.logits, expected[0].numpy(), atol=1e-7)
    assert np.allclose(found.values, expected[1].numpy(), atol=1e-7)
    assert found.logits.dtype == found.values.dtype == np.float32
    assert found.figures["total_loss"] == pytest.approx(float(loss.detach()), rel=1e-5)
    assert not found.logits[1:3, 4].any(), "what is not allowed gets none"
    share = ((ratio - 1).abs() > 0.5).float().mean()
    assert found.figures["clip_fraction"] == pytest.approx(float(share))


def test_the_divergence_of_a_policy_from_itself_is_none_and_of_another_one_is_the_exact_one():
    rng = np.random.default_rng(0)
    old, new = (torch.tensor(rng.normal(size=(1, ACTIONS)).astype(np.float32)) for _ in range(2))
    policy = torch.distributions.Categorical(logits=old[0])
    actions = policy.sample((200_000,))
    rows = {
        Columns.ACTIONS: actions.numpy(),
        Columns.ACTION_LOGP: policy.log_prob(actions).numpy(),
        Postprocessing.ADVANTAGES: np.zeros(len(actions), dtype=np.float32),
        Postprocessing.VALUE_TARGETS: np.ones(len(actions), dtype=np.float32),
    }
    which, values = np.zeros(len(actions), dtype=np.int64), np.zeros(1, dtype=np.float32)
    found = [
        PpoLoss(0.2, ValueLoss(), 1.0)
        .gradients(logits.numpy(), values, which, rows, entropy_weight=0.0, spread=1.0)
        .figures["mean_kl_loss"]
        for logits in (old, new)
    ]
    exact = torch.distributions.kl_divergence(
        policy, torch.distributions.Categorical(logits=new[0])
    )
    assert found == pytest.approx([0.0, float(exact)], rel=0.05, abs=1e-6)


def test_nan_has_a_nan_gradient():
    logits, values, which, rows = played()
    rows[Postprocessing.ADVANTAGES][7] = np.nan
    given = logits.detach().numpy(), values.detach().numpy(), which, rows
    found = PpoLoss(0.2, ValueLoss(), 1.0).gradients(*given, entropy_weight=0.0, spread=1.0)
    assert np.isnan(found.logits[which[7]]).any()


def test_huber_is_half_the_square_within_a_unit_and_straight_beyond():
    errors = np.array([0.0, 0.5, -1.0, 3.0], dtype=np.float32)
    assert [each.tolist() for each in ValueLoss("huber")(errors)] == [
        [0, 0.125, 0.5, 2.5],
        [0, 0.5, -1, 1],
    ]
    assert ValueLoss("squared")(errors)[0].tolist() == [0, 0.25, 1, 9]
    loss, slope = ValueLoss("squared", 4.0)(errors)
    assert (loss.tolist(), slope.tolist()) == ([0, 0.25, 1, 4], [0, 1, -2, 0])
