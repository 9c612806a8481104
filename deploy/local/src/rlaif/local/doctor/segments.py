"""I1 to I3: the outcome of each segment."""

from collections.abc import Iterator

from rlaif.local.doctor.facts import Facts
from rlaif.local.doctor.findings import Finding
from rlaif.storage import keys


def check_segments(facts: Facts) -> list[Finding]:
    """Segments without an outcome, with two, or with inconsistent events and scores."""
    return [*_ends(facts), *_scores(facts), *_letters(facts)]


def unexported(facts: Facts) -> list[str]:
    """Captured segments without a pending event, manifest, score or dead letter.

    A scored segment was exported and may have been deleted since (EXPORTER_KEEP_DAYS).
    """
    known = facts.captured | facts.captures.keys()
    return sorted(known - facts.manifests.keys() - facts.scored - facts.dead - facts.pending)


def unscored(facts: Facts) -> list[str]:
    """Exported segments without a pending event, score or dead letter."""
    return sorted(facts.manifests.keys() - facts.scored - facts.dead - facts.pending)


def unannounced(facts: Facts) -> list[tuple[str, str]]:
    """Scores without an event; empty if the stream has dropped events."""
    if not facts.all_announced:
        return []
    return sorted(each for each in facts.scores if each not in facts.announced)


def _ends(facts: Facts) -> Iterator[Finding]:
    for segment in unexported(facts):
        text = f"{segment} was captured and is neither exported nor dead-lettered"
        yield Finding("I1", "capture_orphaned", segment, text)
    for segment in unscored(facts):
        text = f"{segment} was exported and has neither score nor dead letter"
        yield Finding("I1", "segment_orphaned", segment, text)
    for segment in sorted((facts.scored & facts.dead) - facts.pending):
        text = f"{segment} has a score and a dead letter"
        yield Finding("I1", "scored_and_dead", segment, text)


def _scores(facts: Facts) -> Iterator[Finding]:
    for key, digests in sorted(facts.announced.items()):
        name = keys.score(*key)
        if key not in facts.scores:
            text = f"{key[1]} was announced as scored and has no score object"
            yield Finding("I2", "score_missing", name, text)
            continue
        if set(digests) != {facts.scores[key]}:
            text = f"the event of {key[1]} has another digest than the object"
            yield Finding("I2", "score_changed", name, text)
        if digests.total() > 1:
            text = f"{key[1]} has one score object and {digests.total()} events"
            yield Finding("I2", "score_announced_twice", name, text)
    for config, segment in unannounced(facts):
        text = f"{segment} has one score object and 0 events"
        yield Finding("I2", "score_unannounced", keys.score(config, segment), text)


def _letters(facts: Facts) -> Iterator[Finding]:
    for letter in facts.letters:
        if not letter.data.reason:
            yield Finding("I3", "letter_without_reason", letter.id, f"{letter.id} has no reason")
