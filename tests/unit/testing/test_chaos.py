"""The pure parts of the fault runs: the plan, and the verdict on the segments."""

from collections import Counter
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from rlaif.contracts.catalog import envelop
from rlaif.contracts.events import CloudEvent, DeadLetter
from rlaif.local.doctor.facts import Facts
from rlaif.testing.chaos.plan import PROCESSES, fault_plan
from rlaif.testing.chaos.verdict import verdict
from rlaif.testing.data.events import dead_letter_of

NONE: dict[str, Any] = {"scores": {}, "announced": {}}
WHOLE = Facts(
    captures={}, manifests={}, captured=frozenset({"s1"}), all_announced=True, letters=(),
    scores={("j", "s1"): "d1"}, announced={("j", "s1"): Counter({"d1": 1})}, pending=frozenset(),
)  # fmt: skip


def letter(segment: str) -> CloudEvent[DeadLetter]:
    dead = dead_letter_of(f"captured:{segment}", original={"data": {"segment_id": segment}})
    return envelop(dead, source="exporter", time=dead.dead_at)


def test_a_plan_is_a_function_of_the_seed_and_hits_every_process_in_every_way():
    plan, again, another = (list(islice(fault_plan(seed), 400)) for seed in (3, 3, 4))
    assert plan == again
    assert plan != another
    for kind in ("kill", "stop"):
        assert {each.target for each in plan if each.kind == kind} == set(PROCESSES)
    kinds = Counter(each.kind for each in plan)
    assert set(kinds) == {"kill", "stop", "kill child", "link", "llm", "object", "garbage"}


@pytest.mark.parametrize(
    ("changes", "damaged", "wrong"),
    [
        ({}, (), {}),
        (NONE, (), {"lost", "unscored"}),
        (NONE | {"pending": frozenset({"s1"})}, (), {"lost", "unscored"}),
        (NONE | {"letters": (letter("s1"),)}, (), {"dead_healthy", "unscored"}),
        (NONE | {"letters": (letter("s1"),)}, ("s1",), {"unscored"}),
        ({"letters": (letter("s1"),)}, (), {"dead_healthy", "duplicates"}),
        ({"letters": (letter("s1"),)}, ("s1",), set()),
        ({"letters": (letter("of another"),)}, (), set()),
        ({"announced": {("j", "s1"): Counter({"d1": 2})}}, (), {"duplicates"}),
        ({"announced": {("j", "s1"): Counter({"d1": 1, "d2": 1})}}, ("s1",), {"duplicates"}),
        ({"scores": {("j", "s1"): "d1", ("other", "s1"): "d2"}}, (), {"duplicates"}),
    ],
)
def test_a_segment_has_exactly_one_outcome(
    changes: dict[str, Any], damaged: tuple[str, ...], wrong: set[str]
):
    found = verdict(replace(WHOLE, **changes), ["s1"], damaged)
    assert {name for name, segments in vars(found).items() if segments} == set(wrong)
