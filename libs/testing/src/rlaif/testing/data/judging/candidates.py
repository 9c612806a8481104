"""Labels, in-process trainings, and accepted reward models without a training."""

import asyncio
import hashlib
import pickle

import torch

from rlaif.contracts.judging.scores import RUBRIC_WEIGHTS
from rlaif.contracts.reward_models import GateMetrics, RewardNetSpec
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.learning.candidate import Candidate
from rlaif.reward_model.learning.training import train_candidate
from rlaif.reward_model.training_process import Request
from rlaif.reward_net.network import RewardNet
from rlaif.testing.data.judging.scored_segments import ScoredSegment


def as_label(segment: ScoredSegment) -> LabelledSegment:
    """The label that a scored segment becomes."""
    return LabelledSegment(
        segment_id=segment.segment_id,
        episode_id=segment.episode_id,
        env_step=segment.env_step,
        start_step=segment.start_step,
        layout_version="layout-1",
        observations=segment.observations,
        values=segment.values,
        weights=dict(RUBRIC_WEIGHTS),
        score_sha256=hashlib.sha256(segment.segment_id.encode()).hexdigest(),
    )


def passed_candidate(seed: int) -> Candidate:
    """A candidate whose weights and label digest depend only on `seed`."""
    spec = RewardNetSpec(layout_version="layout-1", shift=0.1, spread=0.5)
    net = RewardNet(spec, generator=torch.Generator().manual_seed(seed))
    return Candidate(
        candidate_id=f"candidate-{seed}",
        net=net,
        rm_pt=net.to_rm_pt(),
        checks=(),
        metrics=GateMetrics(heldout_accuracy=0.8, heldout_pairs=40),
        labels=50,
        episodes=6,
        preferences=300,
        label_digest=f"{seed:064x}",
        pairs=(),
    )


_trained: dict[str, Candidate] = {}


async def train_here(request: Request) -> Candidate:
    """Train as the service does, in this process; cached for equal requests."""
    arguments = (list(request.labels), request.settings, request.champion)
    key = hashlib.sha256(pickle.dumps(arguments)).hexdigest()
    if key not in _trained:
        torch.set_num_threads(1)
        _trained[key] = await asyncio.to_thread(
            train_candidate, request.labels, settings=request.settings, champion=request.champion
        )
    return _trained[key]
