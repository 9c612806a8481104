"""A reading goes out at once when it says something new, and now and then when it does not."""

from datetime import UTC, datetime, timedelta

from rlaif.contracts.telemetry.readings import ServiceHealth
from rlaif.service.announcer import REPEAT_SECONDS, Repeated

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def health(second: float, detail: str | None = None) -> ServiceHealth:
    return ServiceHealth(
        at=NOON + timedelta(seconds=second),
        service="tester",
        instance="t-1",
        status="ready" if detail is None else "not ready",
        checks={"store": detail},
    )


def test_a_change_is_due_at_once_and_a_newer_date_is_none():
    repeated = Repeated()
    said = [
        repeated.due(health(0.0), 0.0),
        repeated.due(health(0.5), 0.5),
        repeated.due(health(1.0, "away"), 1.0),
        repeated.due(health(1.5, "away"), 1.5),
    ]
    assert said == [True, False, True, False]


def test_what_does_not_change_is_due_again_counted_from_the_last_time():
    repeated = Repeated()
    repeated.due(health(0.0, "away"), 0.0)
    repeated.due(health(1.0), 1.0)
    assert not repeated.due(health(2.0), 2.0)
    assert repeated.due(health(3.0), 1.0 + REPEAT_SECONDS)
