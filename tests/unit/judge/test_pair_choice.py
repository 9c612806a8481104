"""The pairs that the reward model requests."""

from datetime import UTC, datetime
from typing import Any

import pytest

from rlaif.contracts.judging.comparisons import WantedComparisons, WantedPair
from rlaif.judge.pairs.choice import RequestedPairs
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore, StoreUnavailableError

CONFIG = "config-1"
PAIRS = (("a", "b"), ("a", "c"), ("b", "c"))


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def wanted(store: ObjectStore, clock: Clock) -> RequestedPairs:
    return RequestedPairs(store, store, CONFIG, clock=clock)


def _write(store: ObjectStore, *pairs: tuple[str, str], **changes: Any) -> None:
    made = [WantedPair(first=a, second=b, uncertainty=0.8) for a, b in pairs]
    fields = {"judge_config": CONFIG, "pairs": made, "created_at": datetime(2026, 1, 1, tzinfo=UTC)}
    wanted = WantedComparisons.model_validate(fields | changes)
    store.put(keys.WANTED_COMPARISONS, wanted.model_dump_json().encode())


def _take(wanted: RequestedPairs, segment_id: str = "seg-1") -> tuple[str, str] | None:
    pair = wanted.take(segment_id)
    return None if pair is None else (pair.first, pair.second)


def test_what_is_compared_already_is_passed_over(
    store: ObjectStore, wanted: RequestedPairs
) -> None:
    _write(store, *PAIRS)
    for pair in PAIRS[:2]:
        store.put(keys.comparison(CONFIG, *pair), b"{}")
    assert [_take(wanted), _take(wanted)] == [PAIRS[2], None]


def test_judges_that_scored_different_segments_begin_at_different_pairs(
    store: ObjectStore,
) -> None:
    _write(store, *((f"a-{at}", f"b-{at}") for at in range(20)))
    first = {_take(RequestedPairs(store, store, CONFIG), f"seg-{at}") for at in range(40)}
    # All near the head of the list, and not all the same.
    assert 4 <= len(first) <= 8
    assert first <= {(f"a-{at}", f"b-{at}") for at in range(8)}


def test_the_list_is_read_again_after_a_while_and_not_before(
    store: ObjectStore, wanted: RequestedPairs, clock: Clock
) -> None:
    assert _take(wanted) is None
    _write(store, ("a", "b"))
    clock.now = 29.0
    assert _take(wanted) is None
    clock.now = 30.0
    assert _take(wanted) == ("a", "b")
    clock.now = 60.0
    # Still wanted, and tried already: perhaps it is being compared now.
    assert _take(wanted) is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\x00garbage",
        b"[]",
        b'{"pairs": []}',
        b'{"judge_config": "config-1", "created_at": "2026-01-01T00:00:00Z", "pairs": [{"first": '
        b'"../x", "second": "b", "uncertainty": 1}]}',
        b'{"judge_config": "config-1", "created_at": "2026-01-01T00:00:00Z", "pairs": [{"first": '
        b'"a", "second": "b", "uncertainty": NaN}]}',
        b"x" * (256 * 1024 + 1),
    ],
    ids=["empty", "garbage", "a list", "fields missing", "an id that is a path", "NaN", "too long"],
)
def test_a_broken_list_is_no_list_and_a_whole_one_is_read_later(
    store: ObjectStore, wanted: RequestedPairs, clock: Clock, data: bytes
) -> None:
    store.put(keys.WANTED_COMPARISONS, data)
    assert _take(wanted) is None
    _write(store, ("a", "b"))
    clock.now = 31.0
    assert _take(wanted) == ("a", "b")


def test_the_list_of_another_judge_configuration_is_not_ours(
    store: ObjectStore, wanted: RequestedPairs
) -> None:
    _write(store, ("a", "b"), judge_config="config-2")
    assert _take(wanted) is None


@pytest.mark.parametrize(
    "pair",
    [
        WantedPair(first="b", second="a", uncertainty=1.0),
        WantedPair(first="a", second="a", uncertainty=1.0),
        WantedPair(first="a", second="b", uncertainty=1.0, why="ram_tie"),
    ],
    ids=["in the wrong order", "with itself", "for a reason that only a judge has"],
)
def test_a_pair_that_no_reward_model_wishes_is_left_out(
    store: ObjectStore, wanted: RequestedPairs, pair: WantedPair
) -> None:
    _write(store, pairs=[pair])
    assert _take(wanted) is None


def test_a_store_that_does_not_answer_is_no_list(store: ObjectStore, clock: Clock) -> None:
    class Down:
        def get(self, key: str) -> None:
            raise StoreUnavailableError("down")

    models: Any = Down()
    assert _take(RequestedPairs(models, store, CONFIG, clock=clock)) is None
