"""The optimiser of the fit gives the numbers of torch's own."""

import pytest
import torch

from rlaif.reward_model.learning.fit.one_cycle import OneCycleAdamW


@pytest.mark.parametrize("steps", [2, 3, 10, 201])
def test_every_weight_is_that_of_adamw_under_one_cycle_bit_for_bit(steps: int):
    generator = torch.Generator().manual_seed(steps)
    ours = [torch.rand(shape, generator=generator) for shape in ((5, 64, 41), (5, 64), (3,))]
    theirs = [torch.nn.Parameter(each.clone()) for each in ours]
    reference = torch.optim.AdamW(theirs, lr=0.04, weight_decay=1e-3, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(reference, 0.04, total_steps=steps)
    optimiser = OneCycleAdamW(ours, peak=0.04, weight_decay=1e-3, steps=steps)
    for _ in range(steps):
        for one, other in zip(ours, theirs, strict=True):
            one.grad = torch.rand(one.shape, generator=generator) - 0.5
            other.grad = one.grad.clone()
        optimiser.step()
        reference.step()
        schedule.step()
        assert all(torch.equal(one, other) for one, other in zip(ours, theirs, strict=True))
    assert [each.grad for each in ours] == [None] * 3
