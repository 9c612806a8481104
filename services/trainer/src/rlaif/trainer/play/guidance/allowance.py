"""What an episode may still be paid for following suggestions."""

import numpy as np


class Allowance:
    """The bonuses of one episode; together never more than `most`.

    A bonus is paid whole or not at all. Amounts are rounded to float32 before they are counted, as
    the rewards are, so that the limit holds for the very numbers that are learned from.

    Attributes:
        paid: Sum of what the episode was paid.
    """

    def __init__(self, most: float | None) -> None:
        """None sets no limit."""
        self._most = most
        self.paid = 0.0

    def covers(self, bonus: float) -> bool:
        """Whether a bonus would still be paid."""
        return self._most is None or self.paid + float(np.float32(bonus)) <= self._most

    def pay(self, bonus: float) -> float:
        """What of a bonus is paid: all or nothing."""
        if not self.covers(bonus):
            return 0.0
        amount = float(np.float32(bonus))
        self.paid += amount
        return amount
