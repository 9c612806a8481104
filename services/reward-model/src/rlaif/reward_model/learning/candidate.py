"""One training: labels in; a fitted network, its measurements and the gate's checks out.

labels - merge duplicates - split by episode -+- train ---- fit ------------+- measure - checks
+- heldout -- cross-fit ------+
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from rlaif.contracts.reward_models import GateMetrics, Lineage
from rlaif.reward_model.labels.labels import LabelledSegment, label_digest, vote_digest, vote_ids
from rlaif.reward_model.labels.preferences import judged_share
from rlaif.reward_model.learning.fit.bradley_terry import fit_side
from rlaif.reward_model.learning.fit.sides import Side, split_sides
from rlaif.reward_model.learning.gate.checks import Check, failed, heldout_checks, label_checks
from rlaif.reward_model.learning.gate.crossfit import CrossFit, cross_fit, make_folds
from rlaif.reward_model.learning.gate.evaluation import predictions
from rlaif.reward_model.learning.gate.measuring import Examination
from rlaif.reward_model.learning.settings import CandidateSettings, settings_digest, settings_text
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.pay import Potential

_PROBES = 16
_STATISTIC = "paid_rise"
"""What is compared of a segment, for readers of the manifest."""


class ComparedPair(BaseModel, frozen=True):
    """One pair of a training."""

    a: str = Field(description="Segment id.")
    b: str = Field(description="Segment id.")
    side: str = Field(description="`train`, or `heldout` for pairs that the network never saw.")
    margin: float = Field(description="Label value of A minus that of B, criteria judged in both.")
    decided: bool = Field(description="Whether the margin reaches the tie band.")
    target: float = Field(description="P(A better) by the judges.")
    predicted: float | None = Field(description="P(A better) by the network; null without one.")
    side_by_side: bool = Field(
        default=False,
        description="Judges or people were shown both; otherwise scores alone made the pair.",
    )
    voted: bool = Field(default=False, description="People were shown both; the target is theirs.")


@dataclass(frozen=True)
class Candidate:
    """The result of one training.

    Attributes:
        candidate_id: Equal labels and settings give equal ids.
        net: None if there was too little data to fit one; so are `probes` and `lineage`.
        checks: Everything that the gate asked.
        labels: Scored segments.
        preferences: Pairs of the training side.
        probes: `[P, inputs]`, a few training observations; their potentials go into the published
            file for readers to verify.
        folds: All episodes, each ranked by a network of the others; None without a fit.
    """

    candidate_id: str
    net: RewardNet | None
    checks: tuple[Check, ...]
    metrics: GateMetrics
    labels: int
    episodes: int
    preferences: int
    label_digest: str
    pairs: tuple[ComparedPair, ...]
    probes: NDArray[np.float32] | None = field(default=None, compare=False, repr=False)
    lineage: Lineage | None = None
    folds: CrossFit | None = field(default=None, compare=False, repr=False)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the gate rejected it; empty if it passed."""
        return tuple(check.sentence for check in failed(self.checks))

    @property
    def passed(self) -> bool:
        return self.net is not None and not failed(self.checks)


def train_candidate(
    labels: Sequence[LabelledSegment],
    *,
    settings: CandidateSettings,
    champion: Potential | None = None,
) -> Candidate:
    """Fit a network to the labels and put it before the gate.

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
        *label_checks(len(unique), episodes, settings.gate),
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
    probes = _probes(train) if net else None
    lineage = _lineage(labels, len(labels) - len(unique), settings) if net else None
    digest, votes = label_digest(labels), sorted(vote_ids(unique))
    return Candidate(
        candidate_id=_candidate_id(digest, unique, votes, settings),
        net=net,
        checks=checks,
        metrics=metrics,
        labels=len(labels),
        episodes=episodes,
        preferences=len(train.preferences),
        label_digest=digest,
        pairs=_compared(net, sides),
        probes=probes,
        folds=folds,
        lineage=lineage,
    )


def _probes(train: Side) -> NDArray[np.float32]:
    """`[P, inputs]`: the middle observation of evenly spaced segments."""
    count = min(_PROBES, len(train.segments))
    places = np.linspace(0, len(train.segments) - 1, count).round().astype(np.int64)
    rows = [train.segments[place].observations for place in places]
    return np.stack([each[len(each) // 2] for each in rows]).astype(np.float32)


def _compared(net: RewardNet | None, sides: Sequence[Side]) -> tuple[ComparedPair, ...]:
    found: list[ComparedPair] = []
    for side in sides:
        pairs = side.preferences
        guesses: list[float | None] = [None] * len(pairs)
        if net is not None and pairs:
            guesses = list(predictions(net, side).tolist())
        found += [
            ComparedPair(
                **item._asdict()
                | {
                    "a": side.segments[item.a].segment_id,
                    "b": side.segments[item.b].segment_id,
                    "side": side.name,
                    "predicted": guess,
                }
            )
            for item, guess in zip(pairs, guesses, strict=True)
        ]
    return tuple(found)


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
    # Left out without votes: ids of candidates from before votes existed stay the same.
    made_of = (digest, compared, settings_digest(settings), *([votes] if votes else []))
    return f"candidate-{hashlib.sha256(repr(made_of).encode()).hexdigest()[:24]}"
