from collections.abc import Callable
from typing import Any

import pytest

from rlaif.judge.evidence.ram_verdicts import known_rise, ram_levels, ram_verdicts
from rlaif.judge.evidence.summary import summarise
from rlaif.judge.panel.panel import in_share, judges_needed
from rlaif.judge.rubric.judges import JUDGES
from rlaif.judge.rubric.votes import COMPUTED, NoVote
from rlaif.judge.trust.canaries import Canary, canaries

Make = Callable[..., Any]
NOT_SEEN = NoVote.INSUFFICIENT


def _evidence(records: Make, state: Make, **end: Any) -> Any:
    states = [*(state(step) for step in range(74)), state(74, **end)]
    return summarise(records(states))


def test_a_walk_without_dialog_or_puzzle_needs_a_judge_for_progress_only(
    records: Make, state: Make
) -> None:
    decided = ram_verdicts(_evidence(records, state), COMPUTED)
    assert decided == {"novelty": 0, "efficiency": 2, "dialog": NOT_SEEN, "puzzle": NOT_SEEN}
    asked = judges_needed(JUDGES, decided, audit=False)
    assert [(judge.name, [c.name for c in judge.criteria]) for judge in asked] == [
        ("state", ["progress", "dialog"])
    ]


@pytest.mark.parametrize(("rooms", "level"), [(4, 0), (5, 1), (6, 2), (9, 2)])
def test_novelty_counts_rooms_never_entered_before(
    records: Make, state: Make, rooms: int, level: int
) -> None:
    assert ram_verdicts(_evidence(records, state, rooms_visited=rooms), {"novelty"}) == {
        "novelty": level
    }


@pytest.mark.parametrize(
    "end", [{"items": ["sword", "map"]}, {"essences": 1}, {"deaths": 1}, {"rupees": 30}]
)
def test_the_memory_knows_of_the_quest_only_that_nothing_changed(
    records: Make, state: Make, end: dict[str, Any]
) -> None:
    evidence = _evidence(records, state, **end)
    assert known_rise(evidence) is None
    assert known_rise(summarise(records([state(0)] * 75))) == 1
    # A judge who has read the guide says how far the player came all the same.
    assert "progress" not in ram_verdicts(evidence, COMPUTED)


def test_standing_still_is_no_efficiency_and_no_control_is_none_to_judge(
    records: Make, state: Make
) -> None:
    still = summarise(records([state(0)] * 75))
    assert ram_verdicts(still, {"efficiency"}) == {"efficiency": 0}
    helpless = summarise(records([state(0, flags={"control": False})] * 75))
    assert ram_verdicts(helpless, {"efficiency"}) == {"efficiency": NOT_SEEN}


def test_what_the_memory_does_not_show_is_left_to_the_judges(records: Make) -> None:
    unknown = summarise(records([{}, {}]))
    assert ram_verdicts(unknown, COMPUTED) == {}
    assert ram_levels(unknown) == {}
    assert judges_needed(JUDGES, {}, audit=False) == JUDGES


def test_an_audit_asks_the_judges_of_known_levels(records: Make, state: Make) -> None:
    state_judge, puzzle, vision = JUDGES
    walk = ram_verdicts(_evidence(records, state), COMPUTED)
    # No puzzle was there: nothing to hold the puzzle judge against.
    assert walk["puzzle"] is NOT_SEEN
    assert judges_needed(JUDGES, walk, audit=True) == (state_judge, vision)
    assert judges_needed(JUDGES, walk | {"puzzle": 2}, audit=True) == (state_judge, puzzle, vision)
    assert judges_needed(JUDGES, {}, audit=True) == JUDGES


def test_a_judge_that_must_answer_one_whole_criterion_is_asked_for_all(
    records: Make, state: Make
) -> None:
    decided = ram_verdicts(_evidence(records, state), COMPUTED)
    del decided["efficiency"]
    assert judges_needed(JUDGES, decided, audit=False) == (JUDGES[0],)


def test_the_audited_share_depends_on_the_segment_alone() -> None:
    names = [f"seg-{at}" for at in range(2000)]
    audited = [name for name in names if in_share("audit", name, 0.2)]
    assert 300 < len(audited) < 500
    assert audited == [name for name in names if in_share("audit", name, 0.2)]
    assert not any(in_share("audit", name, 0.0) for name in names)
    assert all(in_share("audit", name, 1.0) for name in names)


@pytest.mark.parametrize("canary", canaries(), ids=lambda canary: canary.name)
def test_the_known_levels_of_the_canaries_fit_the_memory(canary: Canary) -> None:
    known = ram_levels(canary.evidence)
    for name, right in canary.levels.items():
        assert known.get(name, right[0]) in right, name
    assert known
    rise = known_rise(canary.evidence)
    assert None in (rise, canary.rise) or rise == canary.rise


def test_the_vocabulary_of_the_evidence_has_every_word_of_the_game() -> None:
    from rlaif.contracts.game.items import NAMED_ITEMS
    from rlaif.game.description.describe import GROUP_NAMES
    from rlaif.game.machine.actions import ACTION_NAMES
    from rlaif.game.memory.state import SEASONS
    from rlaif.judge.evidence.described import VOCABULARY

    words = {*ACTION_NAMES, *GROUP_NAMES, *SEASONS, *NAMED_ITEMS}
    assert words <= VOCABULARY
