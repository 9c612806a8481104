"""Agreement of votes with known levels: accuracy, kappa, and the order of pairs."""

import math
from collections import Counter

from pydantic import BaseModel, Field, computed_field


class Confusion(BaseModel):
    """Confusion matrix of the votes on one criterion and the levels known from RAM."""

    counts: Counter[tuple[int, int]] = Field(default_factory=Counter, exclude=True)
    """(known level, voted level) → votes."""

    def count(self, known: int, voted: int, times: int = 1) -> None:
        self.counts[known, voted] += times

    @computed_field  # type: ignore[prop-decorator]  # unsupported by mypy
    @property
    def votes(self) -> int:
        return self.counts.total()

    @computed_field  # type: ignore[prop-decorator]  # unsupported by mypy
    @property
    def accuracy(self) -> float | None:
        """Share of correct votes; None without votes."""
        right = sum(n for (known, voted), n in self.counts.items() if known == voted)
        return right / self.votes if self.votes else None

    @computed_field  # type: ignore[prop-decorator]  # unsupported by mypy
    @property
    def kappa(self) -> float | None:
        """Cohen's kappa: 1 is perfect, 0 is chance. None without votes, or if both are constant.

        If most levels are 0, a judge that always answers 0 is accurate; its kappa is 0.
        """
        accuracy = self.accuracy
        if accuracy is None:
            return None
        known, voted = self._margins()
        chance = sum(known[level] * voted[level] for level in known) / self.votes**2
        return None if chance >= 1 else (accuracy - chance) / (1 - chance)

    @property
    def kappa_error(self) -> float | None:
        """Standard error of kappa for independent votes; None without a kappa.

        Large-sample variance of Fleiss, Cohen and Everitt, Psychological Bulletin 72 (1969) 323. It
        is 0 for constant votes.
        """
        right = self.accuracy
        if right is None or self.kappa is None:
            return None
        n = self.votes
        known, voted = self._margins()
        chance = sum(known[level] * voted[level] for level in known) / n**2
        same = other = 0.0
        for (a, b), times in self.counts.items():
            if a == b:
                both = (known[a] + voted[a]) / n
                same += times / n * ((1 - chance) - both * (1 - right)) ** 2
            else:
                other += times / n * ((known[b] + voted[a]) / n) ** 2
        level = (right * chance - 2 * chance + right) ** 2
        variance = same + (1 - right) ** 2 * other - level
        return math.sqrt(max(0.0, variance) / n) / (1 - chance) ** 2

    def _margins(self) -> tuple[Counter[int], Counter[int]]:
        known: Counter[int] = Counter()
        voted: Counter[int] = Counter()
        for (a, b), n in self.counts.items():
            known[a] += n
            voted[b] += n
        return known, voted


def upper_bound_of_share(right: int, of: int, *, z: float) -> float:
    """One-sided upper Wilson bound of a proportion, from `right` of `of` (at least 1) trials.

    `z` is the normal quantile of the confidence, 1.645 for 95 %.
    """
    share, spread = right / of, z * z / of
    root = math.sqrt(share * (1 - share) * spread + spread * spread / 4)
    return min(1.0, (share + spread / 2 + root) / (1 + spread))
