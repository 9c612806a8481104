"""Reward models that passed the gate, made without a training."""

import torch

from rlaif.contracts.reward_models import GateMetrics, RewardNetSpec
from rlaif.reward_model.learning.candidate import Candidate
from rlaif.reward_net.network import RewardNet


def passed_candidate(seed: int) -> Candidate:
    """A candidate whose weights and label digest depend on `seed` alone."""
    spec = RewardNetSpec(layout_version="layout-1", shift=0.1, spread=0.5)
    return Candidate(
        candidate_id=f"candidate-{seed}",
        net=RewardNet(spec, generator=torch.Generator().manual_seed(seed)),
        checks=(),
        metrics=GateMetrics(heldout_accuracy=0.8, heldout_pairs=40),
        labels=50,
        episodes=6,
        preferences=300,
        label_digest=f"{seed:064x}",
        pairs=(),
    )
