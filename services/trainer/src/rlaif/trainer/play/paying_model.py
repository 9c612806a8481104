"""The reward model that pays, as runners have it."""

from dataclasses import dataclass

from rlaif.reward_net.pay import Potential


@dataclass(frozen=True)
class PayingModel:
    """The reward model that counts.

    Attributes:
        gamma: Discount of the run.
        weight: Of what it pays as a potential; None when it pays in another way.
    """

    version: int
    potential: Potential
    gamma: float
    weight: float | None
