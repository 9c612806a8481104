from datetime import datetime, timedelta

from rlaif.contracts.telemetry.readings import ServiceHealth
from rlaif.hud.read_model.health import (
    FORGET,
    NEVER,
    REQUIRED,
    SILENCE,
    ServiceReports,
    findings_of,
)
from rlaif.testing.data.events import NOON

SECOND = timedelta(seconds=1)


def reported(
    service: str = "judge", instance: str = "a", status: str = "ready", **checks: str | None
) -> ServiceHealth:
    return ServiceHealth.model_validate(
        {"at": NOON, "service": service, "instance": instance, "status": status, "checks": checks}
    )


def state(
    ring: ServiceReports, now: datetime, service: str = "judge", *, connected: bool = True
) -> str:
    return next(view.state for view in ring.views(now, connected=connected) if view.name == service)


def findings(ring: ServiceReports, now: datetime) -> list[tuple[str, str]]:
    return [
        (each.service, each.description)
        for each in findings_of(ring.views(now, connected=True), ring.missing(now))
    ]


def test_a_service_that_never_reported_is_unknown_and_not_silent() -> None:
    ring = ServiceReports(NOON)
    assert {view.state for view in ring.views(NOON + 2 * NEVER, connected=True)} == {"unknown"}
    assert findings(ring, NOON + 2 * NEVER) == [], "no ring is no broken ring"


def test_a_service_without_reports_is_missing_while_others_report() -> None:
    ring = ServiceReports(NOON)
    now = NOON + NEVER
    for name in REQUIRED[:3]:
        ring.add(reported(name), now)
    assert findings(ring, now - SECOND) == []
    assert [who for who, _ in findings(ring, now)] == ["reward-model"]


def test_a_service_that_speaks_no_more_is_silent_after_four_words_missed() -> None:
    ring = ServiceReports(NOON)
    ring.add(reported(), NOON)
    assert state(ring, NOON + SILENCE - SECOND) == "ready"
    assert state(ring, NOON + SILENCE) == "silent"
    assert "no heartbeat" in findings(ring, NOON + SILENCE)[0][1]


def test_one_replica_that_cannot_work_makes_its_service_not_ready() -> None:
    ring = ServiceReports(NOON)
    ring.add(reported(instance="a", store=None), NOON)
    ring.add(reported(instance="b", status="not ready", store="refused"), NOON)
    ring.add(reported(instance="c", store=None), NOON)
    [judge] = [view for view in ring.views(NOON, connected=True) if view.name == "judge"]
    assert (judge.state, judge.instances) == ("not ready", 3)
    assert judge.checks["store"].detail == "refused"


def test_a_process_that_was_replaced_is_not_missed() -> None:
    ring = ServiceReports(NOON)
    ring.add(reported(instance="old", status="not ready", run="broken"), NOON)
    ring.add(reported(instance="new"), NOON + SILENCE)
    assert state(ring, NOON + SILENCE) == "ready"
    assert findings(ring, NOON + SILENCE) == []


def test_a_service_that_was_asked_to_stop_has_stopped_and_is_not_silent() -> None:
    ring = ServiceReports(NOON)
    ring.add(reported(status="stopping", worker="is being stopped"), NOON)
    assert state(ring, NOON) == "stopping"
    assert findings(ring, NOON) == []
    assert state(ring, NOON + SILENCE) == "stopped"
    assert findings(ring, NOON + SILENCE) == [("judge", "was stopped")]


def test_a_hud_that_connected_nothing_says_nothing_of_others() -> None:
    ring = ServiceReports(NOON)
    ring.add(reported(), NOON)
    later = NOON + 10 * SILENCE
    assert state(ring, later, connected=False) == "unknown"
    ring.ignore_silence_until(later)
    assert state(ring, later + SILENCE - SECOND) == "ready", "it had no time to speak yet"
    assert state(ring, later + SILENCE) == "silent"


def test_an_optional_service_is_shown_while_it_runs() -> None:
    ring = ServiceReports(NOON)
    ring.add(reported("gate"), NOON)
    assert [view.name for view in ring.views(NOON, connected=True)] == [*REQUIRED, "gate"]
    assert [view.name for view in ring.views(NOON + FORGET, connected=True)] == [*REQUIRED]


def test_a_route_that_is_down_leads_to_the_page_of_the_routes() -> None:
    ring = ServiceReports(NOON)
    ring.add(
        reported("judge", "a", "not ready", **{"route:state": "connection refused", "bus": "away"}),
        NOON,
    )
    pages = {
        each.key: each.page for each in findings_of(ring.views(NOON, connected=True), frozenset())
    }
    assert pages == {"judge: route:state": "/llm", "judge: bus": None}
