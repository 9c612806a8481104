from rlaif.llm.breaker import Breaker
from rlaif.llm.settings import BreakerSettings


def test_a_route_rests_after_failures_in_a_row() -> None:
    breaker = Breaker(BreakerSettings(failures=3, pause_seconds=10))
    for now in (0.0, 1.0):
        breaker.failed(now)
    assert breaker.wait(1.0) == 0
    breaker.failed(2.0)
    assert breaker.wait(2.0) == 10
    assert breaker.wait(11.5) == 0.5
    assert breaker.wait(12.0) == 0


def test_a_success_in_between_starts_the_count_again() -> None:
    breaker = Breaker(BreakerSettings(failures=2, pause_seconds=10))
    breaker.failed(0.0)
    breaker.succeeded()
    breaker.failed(1.0)
    assert breaker.wait(1.0) == 0


def test_one_failure_after_the_rest_is_enough_to_rest_again() -> None:
    breaker = Breaker(BreakerSettings(failures=2, pause_seconds=10))
    breaker.failed(0.0)
    breaker.failed(0.0)
    assert breaker.wait(10.0) == 0
    breaker.failed(10.0)
    assert breaker.wait(10.0) == 10
    breaker.succeeded()
    assert breaker.wait(10.0) == 0


def test_after_a_rest_one_call_tries_the_route_while_the_others_wait() -> None:
    breaker = Breaker(BreakerSettings(failures=1, pause_seconds=10))
    breaker.failed(0.0)
    assert breaker.wait(10.0) == 0
    breaker.enter()
    assert breaker.wait(10.0) > 0
    breaker.succeeded()
    assert breaker.wait(10.0) == 0
    assert not breaker.open


def test_a_server_that_wants_a_rest_gets_it_and_is_tried_by_one_call() -> None:
    breaker = Breaker(BreakerSettings(failures=5, pause_seconds=10))
    breaker.rest(0.0, 2.0)
    breaker.rest(0.0, 1.0)
    assert breaker.wait(0.5) == 1.5
    assert breaker.wait(2.0) == 0
    breaker.enter()
    assert breaker.wait(2.0) > 0
    breaker.succeeded()
    assert not breaker.open


def test_a_try_that_was_cancelled_lets_the_next_one_go() -> None:
    breaker = Breaker(BreakerSettings(failures=1, pause_seconds=10))
    breaker.failed(0.0)
    breaker.enter()
    breaker.abandoned()
    assert breaker.wait(10.0) == 0
    assert breaker.open
