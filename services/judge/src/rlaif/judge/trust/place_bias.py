"""Whether a judge of pairs looks at the segments or at the places in which they are shown."""

from dataclasses import dataclass

from rlaif.contracts.comparisons import ComparisonRecord


@dataclass
class PairStanding:
    """What a judge's comparisons show since the service started.

    Attributes:
        pairs: Compared pairs.
        both_answered: Of these, the ones answered in both orders.
        agreed: Of these, the ones whose answers agree; two ties do.
        preferring: Answers that prefer one of the two.
        preferring_first_shown: Of these, the ones that prefer the segment that was shown first.
    """

    pairs: int = 0
    both_answered: int = 0
    agreed: int = 0
    preferring: int = 0
    preferring_first_shown: int = 0

    def compared(self, record: ComparisonRecord) -> None:
        """Note one pair."""
        straight, swapped = record.first_shown_first, record.second_shown_first
        self.pairs += 1
        if straight is not None and swapped is not None:
            self.both_answered += 1
            self.agreed += straight == swapped
        self.preferring += (straight in _DECIDED) + (swapped in _DECIDED)
        self.preferring_first_shown += (straight == "first") + (swapped == "second")

    @property
    def first_slot(self) -> float | None:
        """Share of the preferences for what was shown first; None without any."""
        return self.preferring_first_shown / self.preferring if self.preferring else None

    @property
    def consistency(self) -> float | None:
        """Share of the pairs answered in both orders whose answers agree; None without any."""
        return self.agreed / self.both_answered if self.both_answered else None


_DECIDED = ("first", "second")
