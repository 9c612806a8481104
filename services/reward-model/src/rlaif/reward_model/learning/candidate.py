"""One attempt: labels in; a fitted network, its measurements and the gate's verdict out.

labels ─ merge duplicates ─ split by episode ─┬─ train ────┐
                                              └─ heldout ──┴─ exam (exam.py) ─ candidate
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from rlaif.contracts.reward_models import GateMetrics, Lineage
from rlaif.reward_model.labels.duplicates import merge_duplicates
from rlaif.reward_model.labels.judged_share import judged_share
from rlaif.reward_model.labels.labels import LabelledSegment, label_digest
from rlaif.reward_model.labels.split import split_episodes
from rlaif.reward_model.labels.votes import vote_digest, vote_ids
from rlaif.reward_model.learning.crossfit import Crossfit
from rlaif.reward_model.learning.exam import (
    ChampionToBeat,
    Exam,
    known_before_a_fit,
    predictions,
)
from rlaif.reward_model.learning.gate import heldout_needs, label_needs, unmet
from rlaif.reward_model.learning.settings import CandidateSettings, settings_digest, settings_text
from rlaif.reward_model.learning.spending import LABELS_BETWEEN_LOOKS
from rlaif.reward_model.learning.split_halves import HELDOUT_STREAM, TRAIN_STREAM, Side, make_side
from rlaif.reward_net.network import RewardNet

_PROBES = 16
_STATISTIC = "paid_rise"
"""What of a segment is compared, for readers of the manifest."""


class ComparedPair(BaseModel, frozen=True):
    """One pair of an attempt."""

    a: str = Field(description="Segment id.")
    b: str = Field(description="Segment id.")
    side: str = Field(description="`train`, or `heldout` for pairs that the network never saw.")
    margin: float = Field(description="Rubric mean of A minus that of B, criteria judged in both.")
    decided: bool = Field(description="Whether the margin reaches the tie band.")
    target: float = Field(description="P(A better) by the judges.")
    predicted: float | None = Field(description="P(A better) by the network; null without one.")
    side_by_side: bool = Field(
        default=False,
        description="Judges or people were shown both; else scores alone made the pair.",
    )
    voted: bool = Field(default=False, description="People were shown both; the target is theirs.")


@dataclass(frozen=True)
class Candidate:
    """What one attempt gave.

    Attributes:
        candidate_id: Equal labels and settings give equal ids.
        net: None when there was too little data to fit one; so are `probes` and `lineage`.
        reasons: Why the gate refused it; empty when it passed.
        labels: Scored segments.
        preferences: Pairs that the fit used.
        probes: `[P, inputs]` float32, a few training observations; their potentials go into the
            published file for readers to check.
        folds: All episodes, each ranked by a network of the others; None without a fit.
    """

    candidate_id: str
    net: RewardNet | None
    reasons: tuple[str, ...]
    metrics: GateMetrics
    labels: int
    episodes: int
    preferences: int
    label_digest: str
    pairs: tuple[ComparedPair, ...]
    probes: NDArray[np.float32] | None = field(default=None, compare=False, repr=False)
    lineage: Lineage | None = None
    folds: Crossfit | None = field(default=None, compare=False, repr=False)

    @property
    def passed(self) -> bool:
        """Whether it may go live."""
        return self.net is not None and not self.reasons


def train_candidate(
    labels: Sequence[LabelledSegment],
    *,
    settings: CandidateSettings,
    champion: ChampionToBeat | None = None,
    new_labels: int = LABELS_BETWEEN_LOOKS,
) -> Candidate:
    """Fit a network to the labels and put it before the gate.

    `new_labels` are those since the look before; fewer make the gate stricter (`spending.py`).

    At least one label is needed, and all are of one observation layout, which the champion reads.
    Equal arguments give an equal candidate on one machine, and the champion has a say in the
    verdict only.
    """
    train, heldout = split_sides(labels, settings)
    unique = [*train.segments, *heldout.segments]
    episodes = train.episodes + heldout.episodes
    share = _judged_share(train, heldout)
    known = replace(known_before_a_fit(heldout), llm_only_share=share)
    reasons = [
        *unmet(label_needs(len(unique), episodes, settings.gate)),
        *unmet(heldout_needs(known, settings.gate)),
    ]
    if not train.decided:
        reasons.append("no decided pair to learn from: the judges put every segment alike")
    digest = label_digest(labels)
    refused = Candidate(
        candidate_id=_candidate_id(digest, unique, settings),
        net=None,
        reasons=tuple(reasons),
        metrics=known.flat(),
        labels=len(labels),
        episodes=episodes,
        preferences=len(train.preferences),
        label_digest=digest,
        pairs=tuple(_compared(None, (train, heldout), settings)) if reasons else (),
    )
    if reasons:
        return refused
    exam = Exam.prepare(train, heldout, settings, champion=champion, new_labels=new_labels)
    result = exam.take()
    return replace(
        refused,
        net=result.net,
        reasons=result.reasons,
        metrics=replace(result.measurements, llm_only_share=share).flat(),
        pairs=tuple(_compared(result.net, (train, heldout), settings)),
        probes=_probes(train),
        folds=exam.evidence.folds,
        lineage=_lineage(labels, len(labels) - len(unique), settings),
    )


def split_sides(
    labels: Sequence[LabelledSegment], settings: CandidateSettings
) -> tuple[Side, Side]:
    """(training, held out) without near-duplicates; the order of `labels` has no influence."""
    unique = merge_duplicates(sorted(labels, key=lambda item: item.segment_id))
    split = split_episodes(
        (item.episode_id for item in unique), heldout_fraction=settings.heldout_fraction
    )
    train = [item for item in unique if item.episode_id in split.train]
    heldout = [item for item in unique if item.episode_id in split.heldout]
    return (
        make_side("train", train, settings, stream=TRAIN_STREAM),
        make_side("heldout", heldout, settings, stream=HELDOUT_STREAM),
    )


def _judged_share(train: Side, heldout: Side) -> float | None:
    """Share of the decided pairs of both sides that only judges decide."""
    moved = [
        replace(item, a=item.a + len(train.segments), b=item.b + len(train.segments))
        for item in heldout.preferences
    ]
    return judged_share([*train.segments, *heldout.segments], [*train.preferences, *moved])


def _probes(train: Side) -> NDArray[np.float32]:
    """`[P, inputs]`: the middle observation of segments that are evenly spaced over the side."""
    count = min(_PROBES, len(train.segments))
    places = np.linspace(0, len(train.segments) - 1, count).round().astype(np.int64)
    chosen = [train.segments[place].observations for place in places]
    return np.stack([rows[len(rows) // 2] for rows in chosen]).astype(np.float32)


def _compared(
    net: RewardNet | None, sides: Sequence[Side], settings: CandidateSettings
) -> list[ComparedPair]:
    found: list[ComparedPair] = []
    for side in sides:
        if not side.preferences:
            continue
        guesses: Sequence[float | None] = (
            predictions(net, side, settings).tolist() if net else [None] * len(side.preferences)
        )
        found.extend(
            ComparedPair(
                a=side.segments[item.a].segment_id,
                b=side.segments[item.b].segment_id,
                side=side.name,
                margin=item.margin,
                decided=item.decided,
                target=item.target,
                predicted=guess,
                side_by_side=item.side_by_side,
                voted=item.voted,
            )
            for item, guess in zip(side.preferences, guesses, strict=True)
        )
    return found


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
    digest: str, unique: Sequence[LabelledSegment], settings: CandidateSettings
) -> str:
    compared = sorted((i.segment_id, sorted(i.preferred.items())) for i in unique if i.preferred)
    # Without votes the id is what it was before there were any.
    voted = sorted(vote_ids(unique))
    made_of = (digest, compared, settings_digest(settings), *([voted] if voted else []))
    return f"candidate-{hashlib.sha256(repr(made_of).encode()).hexdigest()[:24]}"
