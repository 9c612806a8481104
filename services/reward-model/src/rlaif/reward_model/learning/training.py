"""Trains a candidate: fits a network to labels, measures it and runs the gate's checks.

labels - merge duplicates - split by episode -+- train ---- fit ------------+- measure - checks
+- heldout -- cross-fit ------+
"""

import hashlib
from collections.abc import Sequence

import numpy as np
import torch

from rlaif.contracts.reward_models import GateMetrics, Lineage
from rlaif.reward_model.labels.labels import LabelledSegment, label_digest, vote_digest, vote_ids
from rlaif.reward_model.labels.preferences import judged_share
from rlaif.reward_model.learning.candidate import Candidate, compared_pairs
from rlaif.reward_model.learning.fit.bradley_terry import fit_side
from rlaif.reward_model.learning.fit.sides import Side, split_sides
from rlaif.reward_model.learning.gate.checks import Check, failed, heldout_checks, label_checks
from rlaif.reward_model.learning.gate.crossfit import cross_fit
from rlaif.reward_model.learning.gate.folds import make_folds
from rlaif.reward_model.learning.gate.measuring import Examination
from rlaif.reward_model.learning.settings import CandidateSettings, settings_digest, settings_text
from rlaif.reward_net.artifact import ProbeValues
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.pay import Float32, Potential

_PROBES = 16
_STATISTIC = "paid_rise"
"""Name of the statistic of a segment that is compared, for readers of the manifest."""


def train_candidate(
    labels: Sequence[LabelledSegment],
    *,
    settings: CandidateSettings,
    champion: Potential | None = None,
) -> Candidate:
    """Fit a network to the labels and run the gate's checks.

    Needs at least one label; all are of one observation layout, which the champion reads. Equal
    arguments give an equal candidate on one machine; the champion affects the checks only.
    """
    train, heldout = sides = split_sides(labels, settings)
    unique = [*train.segments, *heldout.segments]
    metrics = GateMetrics(
        heldout_pairs=len(heldout.decided),
        heldout_episodes=heldout.episodes,
        llm_only_share=judged_share(*((s.segments, s.decided) for s in sides)),
    )
    episodes = train.episodes + heldout.episodes
    checks = (
        *label_checks(
            len(unique), episodes, settings.gate, "labels without near-duplicate segments"
        ),
        *heldout_checks(metrics),
        Check("train_pairs", "decided training pairs", len(train.decided), bound=1),
    )
    net, folds = None, None
    if not failed(checks):
        folds = cross_fit(make_folds(train, heldout, settings), train, settings)
        exam = Examination(train, heldout, folds, metrics, settings.seed, champion)
        net = exam.calibrated(fit_side(train, settings))
        metrics, found = exam.examine(net, settings)
        checks = (*checks, *found)
    lineage = _lineage(labels, len(labels) - len(unique), settings) if net else None
    digest, votes = label_digest(labels), sorted(vote_ids(unique))
    return Candidate(
        candidate_id=_candidate_id(digest, unique, votes, settings),
        net=net.weights() if net else None,
        checks=checks,
        metrics=metrics,
        labels=len(labels),
        episodes=episodes,
        preferences=len(train.preferences),
        label_digest=digest,
        pairs=compared_pairs(sides, net),
        probes=_probes(net, train) if net else None,
        rm_pt=net.to_rm_pt() if net else b"",
        folds=folds,
        lineage=lineage,
    )


def _probes(net: RewardNet, train: Side) -> ProbeValues:
    """Potentials of the middle observations of evenly spaced segments."""
    count = min(_PROBES, len(train.segments))
    places = np.linspace(0, len(train.segments) - 1, count).round().astype(np.int64)
    rows = [train.segments[place].observations for place in places]

    def potential(observations: Float32, /) -> Float32:
        with torch.inference_mode():
            found: Float32 = net.potential(torch.from_numpy(observations)).numpy()
        return found

    return ProbeValues.of(potential, np.stack([each[len(each) // 2] for each in rows]))


def _lineage(
    labels: Sequence[LabelledSegment], duplicates: int, settings: CandidateSettings
) -> Lineage:
    return Lineage(
        statistic=_STATISTIC,
        duplicates=duplicates,
        overrides=sum(item.revision > 0 for item in labels),
        comparisons=sum(len(item.preferred) for item in labels) // 2,
        votes=sum(len(item.voted) for item in labels) // 2,
        vote_digest=vote_digest(labels),
        rubrics=tuple(sorted({digest for item in labels for digest in item.rubrics})),
        models=tuple(sorted({model for item in labels for model in item.models})),
        newest_env_step=max(item.env_step for item in labels),
        settings=settings_text(settings),
        settings_digest=settings_digest(settings),
    )


def _candidate_id(
    digest: str, unique: Sequence[LabelledSegment], votes: list[str], settings: CandidateSettings
) -> str:
    compared = sorted((i.segment_id, sorted(i.preferred.items())) for i in unique if i.preferred)
    # Left out without votes, so that the ids of older candidates stay the same.
    made_of = (digest, compared, settings_digest(settings), *([votes] if votes else []))
    return f"candidate-{hashlib.sha256(repr(made_of).encode()).hexdigest()[:24]}"
