"""Judges' answers on pairs, made by hand."""

from datetime import UTC, datetime

from rlaif.contracts.judging.comparisons import ComparisonRecord, Preference, soft_preference


def compared(straight: Preference, swapped: Preference) -> ComparisonRecord:
    """Answers on a pair: with its first segment shown first, and with its second shown first."""
    return ComparisonRecord(
        judge_config="config-1",
        judge="puzzle",
        first="a",
        second="b",
        first_score_sha256="0" * 64,
        second_score_sha256="0" * 64,
        first_shown_first=straight,
        second_shown_first=swapped,
        soft=soft_preference(straight, swapped),
        calls=(),
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
