from rlaif.llm.pace import RoutePace


def test_without_a_limit_every_call_goes_at_once() -> None:
    pace = RoutePace()
    assert [pace.claim(0.0) for _ in range(100)] == [0.0] * 100


def test_calls_above_the_burst_wait_for_their_turn() -> None:
    pace = RoutePace(per_second=2.0, burst=2)
    assert [pace.claim(0.0), pace.claim(0.0)] == [0.0, 0.0]
    wait = pace.claim(0.0)
    assert 0 < wait <= 0.5
    assert pace.claim(wait) == 0.0


def test_a_pause_that_the_server_wants_holds_all_calls_and_the_longest_one_counts() -> None:
    pace = RoutePace(per_second=1000.0)
    pace.hold(0.0, 3.0)
    pace.hold(1.0, 1.0)
    assert (pace.held(1.0), pace.claim(1.0)) == (2.0, 2.0)
    assert (pace.held(3.0), pace.claim(3.0)) == (0.0, 0.0)
