from datetime import timedelta

import pytest

from rlaif.contracts.telemetry.readings import JudgeCall
from rlaif.hud.read_model.llm import OUTAGE_CALLS, UNANSWERED, JudgeHealth
from rlaif.testing.data.events import NOON
from rlaif.testing.data.readings import judge_call_ended


def call(seconds: float, outcome: str, judge: str = "state") -> JudgeCall:
    return judge_call_ended(outcome, at=NOON + timedelta(seconds=seconds), judge=judge)


def test_an_outage_of_40_seconds_after_500_good_calls_is_seen() -> None:
    health = JudgeHealth()
    for number in range(500):
        health.add(call(number, "ok"))
    news = [health.add(call(600 + 10 * n, "timeout")) for n in range(4)]
    assert [each and each[1] for each in news] == [None, None, "warning", None]
    [failing] = health.failing
    assert (failing.judge, failing.calls, failing.outcome) == ("state", 4, "timeout")
    assert failing.since == NOON + timedelta(seconds=600)
    recovery = health.add(call(640, "ok"))
    assert recovery is not None
    assert recovery[1] == "info"
    assert "4 calls without one in 40 s" in recovery[0]
    assert health.failing == ()


@pytest.mark.parametrize("outcome", ["ok", "invalid"])
def test_an_answer_ends_the_count_even_a_wrong_one(outcome: str) -> None:
    health = JudgeHealth()
    for number in range(2 * OUTAGE_CALLS):
        health.add(call(number, outcome if number % OUTAGE_CALLS == 2 else "error"))
    assert health.failing == ()


def test_a_judge_that_answers_does_not_hide_one_that_does_not() -> None:
    health = JudgeHealth()
    for number in range(OUTAGE_CALLS):
        health.add(call(number, "error", "vision"))
        health.add(call(number, "ok", "state"))
    assert [each.judge for each in health.failing] == ["vision"]


def test_the_words_of_the_judge_are_all_known() -> None:
    described = str(JudgeCall.model_fields["outcome"].description)
    words = set(described.rstrip(".").replace(" or ", ", ").split(", "))
    assert words == UNANSWERED | {"ok", "invalid", "length"}
