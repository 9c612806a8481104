"""Checks that fail, as news: told when they last, and when they are over."""

from rlaif.local.troubles import ReadinessWatch

BROKEN = {"judge": {"llm vision": "answers 400 to the model name"}}
WELL: dict[str, dict[str, str]] = {"judge": {}}


def told(troubles, now, reports):
    return [(news.text, news.good) for news in troubles.look(now, reports)]


def test_a_check_that_goes_on_failing_is_told_once():
    troubles = ReadinessWatch()
    assert told(troubles, 0, BROKEN) == []
    text = "judge is not ready: llm vision: answers 400 to the model name"
    assert told(troubles, 5, BROKEN) == [(text, False)]
    assert told(troubles, 6, BROKEN) == []


def test_its_end_is_told_with_how_long_it_lasted():
    troubles = ReadinessWatch()
    for now in (0, 5):
        troubles.look(now, BROKEN)
    assert told(troubles, 43, WELL) == [("judge is well again: llm vision, after 43 s", True)]
    assert told(troubles, 44, WELL) == []


def test_what_fails_for_a_moment_is_not_told():
    troubles = ReadinessWatch()
    for now in range(0, 40, 4):
        assert told(troubles, now, BROKEN) == []
        assert told(troubles, now + 1, WELL) == []


def test_a_service_that_does_not_answer_is_told_later_and_keeps_what_it_said():
    troubles = ReadinessWatch()
    for now in (0, 5):
        troubles.look(now, BROKEN)
    silent = {"judge": None}
    assert told(troubles, 6, silent) == told(troubles, 20, silent) == []
    assert told(troubles, 21, silent) == [("judge does not answer", False)]
    assert told(troubles, 30, WELL) == [
        ("judge is well again: llm vision, after 30 s", True),
        ("judge answers again, after 24 s", True),
    ]


def test_each_service_has_its_own_troubles():
    troubles = ReadinessWatch(patience=0)
    troubles.look(0, BROKEN)
    assert told(troubles, 1, {"trainer": {}}) == []
    assert told(troubles, 1, {"trainer": {"run": "failed"}}) == [
        ("trainer is not ready: run: failed", False)
    ]
