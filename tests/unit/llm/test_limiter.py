from rlaif.llm.limiter import Limiter


def test_one_failure_after_the_pause_is_enough_to_pause_again() -> None:
    limiter = Limiter(failures=2, pause_seconds=10)
    limiter.failed(0.0)
    limiter.failed(0.0)
    assert limiter.resting(10.0) == 0
    limiter.failed(10.0)
    assert limiter.resting(10.0) == 10
    limiter.succeeded()
    assert limiter.resting(10.0) == 0


def test_a_try_that_was_cancelled_lets_the_next_one_go() -> None:
    limiter = Limiter(failures=1, pause_seconds=10)
    limiter.failed(0.0)
    limiter.enter(10.0)
    limiter.leave()
    assert limiter.resting(10.0) == 0
    assert limiter.open


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
