from rlaif.llm.limiter import Limiter


def test_a_route_rests_after_failures_in_a_row() -> None:
    limiter = Limiter(failures=3, pause_seconds=10)
    for now in (0.0, 1.0):
        limiter.failed(now)
    assert limiter.resting(1.0) == 0
    limiter.failed(2.0)
    assert limiter.resting(2.0) == 10
    assert limiter.resting(11.5) == 0.5
    assert limiter.resting(12.0) == 0


def test_a_success_in_between_starts_the_count_again() -> None:
    limiter = Limiter(failures=2, pause_seconds=10)
    limiter.failed(0.0)
    limiter.succeeded()
    limiter.failed(1.0)
    assert limiter.resting(1.0) == 0


def test_one_failure_after_the_rest_is_enough_to_rest_again() -> None:
    limiter = Limiter(failures=2, pause_seconds=10)
    limiter.failed(0.0)
    limiter.failed(0.0)
    assert limiter.resting(10.0) == 0
    limiter.failed(10.0)
    assert limiter.resting(10.0) == 10
    limiter.succeeded()
    assert limiter.resting(10.0) == 0


def test_after_a_rest_one_call_tries_the_route_while_the_others_wait() -> None:
    limiter = Limiter(failures=1, pause_seconds=10)
    limiter.failed(0.0)
    assert limiter.resting(10.0) == 0
    limiter.enter(10.0)
    assert limiter.resting(10.0) > 0
    limiter.succeeded()
    assert limiter.resting(10.0) == 0
    assert not limiter.open


def test_a_server_that_wants_a_rest_gets_it_and_is_tried_by_one_call() -> None:
    limiter = Limiter(failures=5, pause_seconds=10)
    limiter.rest(0.0, 2.0)
    limiter.rest(0.0, 1.0)
    assert limiter.resting(0.5) == 1.5
    assert limiter.resting(2.0) == 0
    limiter.enter(10.0)
    assert limiter.resting(2.0) > 0
    limiter.succeeded()
    assert not limiter.open


def test_a_try_that_was_cancelled_lets_the_next_one_go() -> None:
    limiter = Limiter(failures=1, pause_seconds=10)
    limiter.failed(0.0)
    limiter.enter(10.0)
    limiter.leave()
    assert limiter.resting(10.0) == 0
    assert limiter.open


def test_without_a_limit_every_call_begins_at_once() -> None:
    limiter = Limiter()
    assert [limiter.enter(0.0) for _ in range(100)] == [None] * 100


def test_calls_above_the_burst_wait_for_their_turn() -> None:
    limiter = Limiter(per_second=2.0, burst=2)
    assert [limiter.enter(0.0), limiter.enter(0.0)] == [None, None]
    held = limiter.enter(0.0)
    assert held is not None
    assert (held.reason, held.seconds) == ("paced", 0.5)
    assert limiter.enter(held.seconds) is None


def test_routes_share_the_limits_of_a_common_limiter_and_not_its_failures() -> None:
    shared = Limiter(max_in_flight=3)
    one, other = (Limiter(max_in_flight=2, failures=1, shared=shared) for _ in range(2))
    assert [one.enter(0.0), one.enter(0.0), other.enter(0.0)] == [None] * 3
    assert other.held(0.0) == one.held(0.0)
    one.leave()
    one.failed(0.0)
    assert other.enter(0.0) is None
    other.leave()
    assert getattr(one.held(0.0), "reason", None) == "resting"
