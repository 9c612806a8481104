"""The result of one training; `rlaif.reward_model.learning.training` makes it."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from pydantic import BaseModel, Field

from rlaif.contracts.reward_models import GateMetrics, Lineage
from rlaif.reward_model.learning.fit.sides import Side
from rlaif.reward_model.learning.gate.checks import Check, failed
from rlaif.reward_model.learning.gate.evaluation import predictions
from rlaif.reward_model.learning.gate.folds import CrossFit
from rlaif.reward_net.artifact import ProbeValues
from rlaif.reward_net.weights import Weighted


class ComparedPair(BaseModel, frozen=True):
    """One pair of a training."""

    a: str = Field(description="Segment id.")
    b: str = Field(description="Segment id.")
    side: str = Field(description="`train`, or `heldout` for pairs that are not in the fit.")
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
        net: None if there was too little data for a fit; then the next three are None too.
        checks: The gate's checks.
        labels: Scored segments.
        preferences: Pairs of the training side.
        probes: Potentials of a few training observations, for readers of the published file.
        rm_pt: The file `rm.pt`.
        folds: All episodes, each ranked by a network fitted to others; None without a fit.
    """

    candidate_id: str
    net: Weighted | None
    checks: tuple[Check, ...]
    metrics: GateMetrics
    labels: int
    episodes: int
    preferences: int
    label_digest: str
    pairs: tuple[ComparedPair, ...]
    probes: ProbeValues | None = field(default=None, compare=False, repr=False)
    rm_pt: bytes = field(default=b"", compare=False, repr=False)
    lineage: Lineage | None = None
    folds: CrossFit | None = field(default=None, compare=False, repr=False)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the gate rejected it; empty if it passed."""
        return tuple(check.sentence for check in failed(self.checks))

    @property
    def passed(self) -> bool:
        return self.net is not None and not failed(self.checks)


def compared_pairs(sides: Iterable[Side], net: Weighted | None = None) -> tuple[ComparedPair, ...]:
    """The pairs of both sides, with the predictions of a network."""
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
