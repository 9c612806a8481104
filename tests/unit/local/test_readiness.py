"""Failing checks are reported when they persist, and when they recover."""

from rlaif.local.readiness import ReadinessWatch, disk_report

BROKEN = {"judge": {"llm vision": "answers 400 to the model name"}}
WELL: dict[str, dict[str, str]] = {"judge": {}}


def messages(watch, now, reports):
    return [(news.text, news.good) for news in watch.update(now, reports)]


def test_a_check_that_goes_on_failing_is_told_once():
    watch = ReadinessWatch()
    assert messages(watch, 0, BROKEN) == []
    text = "judge is not ready: llm vision: answers 400 to the model name"
    assert messages(watch, 5, BROKEN) == [(text, False)]
    assert messages(watch, 6, BROKEN) == []


def test_a_recovery_is_reported_with_its_duration():
    watch = ReadinessWatch()
    for now in (0, 5):
        watch.update(now, BROKEN)
    assert messages(watch, 43, WELL) == [("judge recovered: llm vision, after 43 s", True)]
    assert messages(watch, 44, WELL) == []


def test_what_fails_for_a_moment_is_not_messages():
    watch = ReadinessWatch()
    for now in range(0, 40, 4):
        assert messages(watch, now, BROKEN) == []
        assert messages(watch, now + 1, WELL) == []


def test_a_silent_service_is_reported_later_and_keeps_its_last_report():
    watch = ReadinessWatch()
    for now in (0, 5):
        watch.update(now, BROKEN)
    silent = {"judge": None}
    assert messages(watch, 6, silent) == messages(watch, 20, silent) == []
    assert messages(watch, 21, silent) == [("judge does not respond", False)]
    assert messages(watch, 30, WELL) == [
        ("judge recovered: llm vision, after 30 s", True),
        ("judge responds again, after 24 s", True),
    ]


def test_a_disk_that_is_almost_full_is_reported_and_one_with_room_is_not(tmp_path):
    assert disk_report(tmp_path, least_free_bytes=0) == {}
    assert str(tmp_path) in disk_report(tmp_path, least_free_bytes=2**63)["disk"]
