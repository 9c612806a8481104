from rlaif.judge.breaker import Breaker


def test_a_route_rests_after_failures_in_a_row() -> None:
    breaker = Breaker(limit=3, pause=10)
    for now in (0.0, 1.0):
        breaker.failed(now)
    assert breaker.wait(1.0) == 0
    breaker.failed(2.0)
    assert breaker.wait(2.0) == 10
    assert breaker.wait(11.5) == 0.5
    assert breaker.wait(12.0) == 0


def test_a_success_in_between_starts_the_count_again() -> None:
    breaker = Breaker(limit=2, pause=10)
    breaker.failed(0.0)
    breaker.succeeded()
    breaker.failed(1.0)
    assert breaker.wait(1.0) == 0


def test_one_failure_after_the_rest_is_enough_to_rest_again() -> None:
    breaker = Breaker(limit=2, pause=10)
    breaker.failed(0.0)
    breaker.failed(0.0)
    assert breaker.wait(10.0) == 0
    breaker.failed(10.0)
    assert breaker.wait(10.0) == 10
    breaker.succeeded()
    assert breaker.wait(10.0) == 0


def test_a_server_that_asks_for_a_longer_rest_gets_it() -> None:
    breaker = Breaker(limit=1, pause=10)
    breaker.failed(0.0, retry_after=60)
    assert breaker.wait(0.0) == 60
