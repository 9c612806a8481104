"""Outcome of the captured segments, from stored events and objects."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from rlaif.local.doctor.facts import Facts


@dataclass(frozen=True)
class Verdict:
    """Segments without exactly one outcome.

    Attributes:
        lost: Without a score and without a dead letter.
        duplicates: With several scores, several events of one, or a score and a dead letter.
        dead_healthy: With a dead letter although none of their objects was damaged.
        unscored: Without a score, those with a dead letter included.
    """

    lost: tuple[str, ...]
    duplicates: tuple[str, ...]
    dead_healthy: tuple[str, ...]
    unscored: tuple[str, ...]


def verdict(facts: Facts, captured: Collection[str], damaged: Collection[str]) -> Verdict:
    """Check the segments of an idle pipeline.

    Args:
        facts: Its events and objects.
        captured: All captured segments, as recorded by the producer.
        damaged: Those of which an object was damaged: they may end as dead letters.
    """
    mine, healthy = set(captured), set(captured) - set(damaged)
    scores = Counter(segment for _, segment in facts.scores)
    several = {segment for segment, count in scores.items() if count > 1}
    several |= {s for (_, s), digests in facts.announced.items() if digests.total() > 1}
    several |= facts.scored & facts.dead & healthy
    return Verdict(
        lost=tuple(sorted(mine - facts.scored - facts.dead)),
        duplicates=tuple(sorted(several & mine)),
        dead_healthy=tuple(sorted(facts.dead & healthy)),
        unscored=tuple(sorted(mine - facts.scored)),
    )
