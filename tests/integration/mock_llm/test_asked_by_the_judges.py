"""The judges ask, the expert answers, and the judges read it: over the whole story, as in the demo.

What the expert knows comes through the evidence alone: the game's own description of its states,
boiled down by the judge's summary, as JSON in the judge's prompt.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from rlaif.contracts.game.segments import StateRecord
from rlaif.contracts.judging.evidence import Evidence
from rlaif.contracts.judging.quest import level_of_rise
from rlaif.judge.evidence.described import described
from rlaif.judge.evidence.ram_verdicts import known_rise
from rlaif.judge.evidence.summary import summarise
from rlaif.judge.pairs.pair_judge import comparison_messages, comparison_schema, read_comparison
from rlaif.judge.panel import prompts
from rlaif.judge.panel.schema import Verdict, answer_schema, read_answer
from rlaif.judge.rubric.judges import JUDGES, Judge, briefed
from rlaif.mock_llm.answering import answer
from rlaif.mock_llm.chat import ChatRequest
from rlaif.mock_llm.settings import Behaviour

SEGMENT = 75
"""Decision steps of a segment."""

Ask = Callable[[Evidence], Verdict]


@pytest.fixture(scope="module")
def segments(walkthrough: list[Any]) -> list[Evidence]:
    """The evidence of the story's segments, in order."""
    starts = range(0, len(walkthrough) - SEGMENT, SEGMENT)
    return [_summary([look.described for look in walkthrough[at : at + SEGMENT]]) for at in starts]


@pytest.fixture(scope="module")
def backwards(walkthrough: list[Any]) -> list[Evidence]:
    """The same segments with their states in the opposite order."""
    starts = range(0, len(walkthrough) - SEGMENT, SEGMENT)
    return [
        _summary([look.described for look in walkthrough[at : at + SEGMENT][::-1]]) for at in starts
    ]


def _summary(states: Sequence[dict[str, Any]]) -> Evidence:
    return summarise(
        described(
            [
                StateRecord(step=at, frame=4 * at + 4, action="NOP", state=state)
                for at, state in enumerate(states)
            ]
        )
    )


def _asked(messages: Sequence[dict[str, Any]], schema: dict[str, Any], **behaviour: Any) -> str:
    chat = ChatRequest(
        model="any",
        messages=list(messages),
        temperature=0.7,
        response_format={"type": "json_schema", "json_schema": {"schema": schema}},
    )
    return answer(chat, Behaviour(**({"noise": 0} | behaviour)))


def _verdict(evidence: Evidence, judge: Judge, **behaviour: Any) -> Verdict:
    judge = briefed(judge, evidence.start.game)
    messages = prompts.messages(judge, evidence, None, variant=0)
    return read_answer(judge, _asked(messages, answer_schema(judge), **behaviour))


def _rise(evidence: Evidence, **behaviour: Any) -> float | None:
    quest = _verdict(evidence, JUDGES[0], **behaviour).quest
    return None if quest is None else quest.end.position - quest.start.position


def test_every_answer_is_valid_and_says_where_the_player_stands(segments: list[Evidence]) -> None:
    for judge in JUDGES:
        for evidence in segments:
            _verdict(evidence, judge, noise=0.5)
    rises = [_rise(evidence) for evidence in segments]
    assert None not in rises


def test_the_story_rises_and_backwards_it_falls(
    segments: list[Evidence], backwards: list[Evidence]
) -> None:
    there = np.array([_rise(evidence) for evidence in segments], dtype=float)
    back = np.array([_rise(evidence) for evidence in backwards], dtype=float)
    assert np.mean(there > 0) >= 0.7
    assert np.mean(there < 0) <= 0.1
    moved = np.abs(there) > 0
    assert np.mean(there[moved] > back[moved]) >= 0.9


def test_where_the_memory_knows_the_rise_the_expert_agrees(walkthrough: list[Any]) -> None:
    """Also where an optional item was found, which brings no objective closer."""
    states = [look.described for look in walkthrough]
    played = [states[at : at + 10] for at in range(0, len(states) - 10, 10)]
    known = [each for each in map(_summary, played) if known_rise(each) is not None]
    assert len(known) >= 20
    assert all(level_of_rise(_rise(each) or 0.0) == known_rise(each) for each in known)


def test_useful_texts_are_distinguished_from_others(segments: list[Evidence]) -> None:
    levels = [_verdict(evidence, JUDGES[0]).levels["dialog"] for evidence in segments]
    assert {None, 1, 2} <= set(levels)
    silent = [evidence.dialog.steps == 0 for evidence in segments]
    assert all(level is None for level, none in zip(levels, silent, strict=True) if none)


def test_it_prefers_the_story_to_the_story_backwards_in_both_orders(
    segments: list[Evidence], backwards: list[Evidence]
) -> None:
    right = []
    for there, back in zip(segments, backwards, strict=True):
        if not _rise(there):
            continue
        judge = briefed(JUDGES[0], there.start.game)
        for first, second, better in ((there, back, "first"), (back, there, "second")):
            messages = comparison_messages(judge, first, second)
            said, _ = read_comparison(_asked(messages, comparison_schema()))
            right.append(said == better)
    assert np.mean(right) >= 0.9
