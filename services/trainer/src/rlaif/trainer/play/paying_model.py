"""The reward model that pays, as runners have it."""

from dataclasses import dataclass

from rlaif.reward_net.pay import Potential


@dataclass(frozen=True)
class PayingModel:
    """The reward model that counts.

    Attributes:
        gamma: Discount of the run.
        weight: Scale of the potential.
    """

    version: int
    potential: Potential
    gamma: float
    weight: float
