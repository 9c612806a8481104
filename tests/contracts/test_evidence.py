import json
from typing import Any

import pytest

from rlaif.contracts.judging.evidence import Changes, Evidence, EvidencePair, Moment, Movement, Span


def _read(section: str, facts: dict[str, Any]) -> Any:
    return getattr(Evidence.model_validate_json(json.dumps({section: facts})), section)


@pytest.mark.parametrize("odd", [True, "3", [], {}, float("nan"), float("inf"), 2.5])
def test_an_odd_fact_is_unknown_and_the_others_stay(odd: Any) -> None:
    changes = _read("changes", {"rupees": odd, "keys": 1})
    assert (changes.rupees, changes.keys) == (None, 1)


@pytest.mark.parametrize("odd", [None, 3, "rooms", [], [1]])
def test_an_odd_section_knows_nothing(odd: Any) -> None:
    assert Evidence.model_validate({"rooms": odd}) == Evidence()


def test_a_puzzle_part_without_its_three_readings_is_odd() -> None:
    assert _read("puzzle", {"parts": {"torches_lit": [1, 1]}, "events_done": 1}).parts is None


def test_unknown_facts_are_no_evidence() -> None:
    evidence = Evidence()
    assert not evidence.died
    assert evidence.changes.treasures == 0
    assert evidence.movement.straightness is None
    assert evidence.share(3) is None


def test_whole_numbers_and_others_keep_their_form_in_json() -> None:
    text = '{"end":{"hearts":3.0,"max_hearts":3}}'
    assert '"hearts":3.0,"max_hearts":3,' in Evidence.model_validate_json(text).model_dump_json()


def test_evidence_reads_back_as_it_was_written() -> None:
    evidence = Evidence(
        segment=Span(seconds=5.0, steps=75, inputs={"RIGHT": 0.6, "DOWN": 0.4}),
        end=Moment(room="0/182", at=(24, 64), hearts=2.5),
        movement=Movement(pixels=60, path=((0, 0), (20, 10))),
        changes=Changes(keys=1, items_gained=("feather",)),
    )
    again = Evidence.model_validate_json(evidence.model_dump_json())
    assert again == evidence
    assert again.sha256() == evidence.sha256() != Evidence().sha256()
    assert again.movement.straightness == 0.5
    assert again.share(15) == 0.2


def test_a_pair_lacks_what_was_not_shown() -> None:
    pair = EvidencePair.model_validate({"segment_1": {}})
    assert (pair.segment_1, pair.segment_2) == (Evidence(), None)
