"""Which codes a pipeline gets for what became of its segments."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from rlaif.contracts.catalog import envelop
from rlaif.contracts.events import CloudEvent, DeadLetter
from rlaif.local.doctor.facts import Facts
from rlaif.local.doctor.segments import check_segments
from rlaif.testing.data.events import dead_letter_of

WHOLE = Facts(
    captures={"s1": "captures/e/s1.capture"},
    manifests={"s1": "e/s1/manifest.json"},
    scores={("j", "s1"): "d1"},
    captured=frozenset({"s1"}),
    announced={("j", "s1"): Counter({"d1": 1})},
    all_announced=True,
    letters=(),
    pending=frozenset(),
)
"""One segment, from its capture to the event of its score."""


def letter(segment: str, reason: str = "corrupt_capture") -> CloudEvent[DeadLetter]:
    original = {"data": {"segment_id": segment}}
    dead = dead_letter_of(f"captured:{segment}", reason=reason, original=original)
    return envelop(dead, source="exporter", time=dead.dead_at)


def test_a_segment_that_came_to_its_score_is_well():
    assert check_segments(WHOLE) == []


NOTHING: dict[str, Any] = {"manifests": {}, "scores": {}, "announced": {}}


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        (NOTHING, ["capture_orphaned"]),
        (NOTHING | {"captures": {}}, ["capture_orphaned"]),
        (NOTHING | {"captured": frozenset()}, ["capture_orphaned"]),
        (NOTHING | {"letters": (letter("s1"),)}, []),
        ({"manifests": {}}, []),  # deleted after EXPORTER_KEEP_DAYS
        (NOTHING | {"letters": (letter("s2"),)}, ["capture_orphaned"]),
        (NOTHING | {"pending": frozenset({"s1"})}, []),
        ({"scores": {}, "announced": {}}, ["segment_orphaned"]),
        ({"scores": {}, "announced": {}, "pending": frozenset({"s1"})}, []),
        ({"scores": {}, "announced": {}, "letters": (letter("s1"),)}, []),
        ({"letters": (letter("s1"),)}, ["scored_and_dead"]),
        ({"letters": (letter("s1"),), "pending": frozenset({"s1"})}, []),
        ({"scores": {("j", "s1"): "other"}}, ["score_changed"]),
        ({"scores": {}, "pending": frozenset({"s1"})}, ["score_missing"]),
        ({"announced": {("j", "s1"): Counter({"d1": 2})}}, ["score_announced_twice"]),
        ({"announced": {}}, ["score_unannounced"]),
        ({"announced": {}, "all_announced": False}, []),
    ],
)
def test_each_violation_has_its_code(changes: dict[str, Any], codes: list[str]):
    assert [each.code for each in check_segments(replace(WHOLE, **changes))] == codes


def test_a_dead_letter_says_why():
    facts = replace(WHOLE, letters=(letter("s2", reason="corrupt_capture"),))
    assert check_segments(facts) == []
    silent = letter("s2").model_copy(
        update={"data": letter("s2").data.model_copy(update={"reason": ""})}
    )
    found = check_segments(replace(WHOLE, letters=(silent,)))
    assert [(each.invariant, each.code) for each in found] == [("I3", "letter_without_reason")]
