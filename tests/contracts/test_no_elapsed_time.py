"""No test asserts that something was fast: on a busy machine that says nothing about the code."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from rlaif.testing.waiting import PATIENCE_SECONDS

TESTS = Path(__file__).parents[1]
FILES = sorted(TESTS.rglob("*.py"))
CLOCKS = {"monotonic", "perf_counter", "process_time", "time"}
WAITS = {"eventually": "seconds", "wait_for": "timeout", "timeout": "delay", "says": "seconds"}
"""Function → its keyword, or last positional argument, for the longest wait."""


def _name(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _reads_clock(node: ast.AST, elapsed: set[str]) -> bool:
    return any(
        (isinstance(each, ast.Call) and not each.args and _name(each) in CLOCKS)
        or (isinstance(each, ast.Name) and each.id in elapsed)
        for each in ast.walk(node)
    )


def _elapsed(tree: ast.AST) -> set[str]:
    """Names whose values are differences of clock readings."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and any(
            isinstance(each, ast.BinOp)
            and isinstance(each.op, ast.Sub)
            and _reads_clock(each, found)
            for each in ast.walk(node.value)
        ):
            found |= {each.id for target in node.targets for each in ast.walk(target)
                      if isinstance(each, ast.Name)}  # fmt: skip
    return found


def _upper_bounds(tree: ast.AST) -> Iterator[int]:
    """Lines of assertions that a time is less than something."""
    elapsed = _elapsed(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assert):
            continue
        for each in ast.walk(node.test):
            if not isinstance(each, ast.Compare):
                continue
            sides = [each.left, *each.comparators]
            for operator, left, right in zip(each.ops, sides, sides[1:], strict=False):
                small = {ast.Lt: left, ast.LtE: left, ast.Gt: right, ast.GtE: right}.get(
                    type(operator)
                )
                if small is not None and _reads_clock(small, elapsed):
                    yield node.lineno


def _short_waits(tree: ast.AST) -> Iterator[int]:
    """Lines of waits that fail after less than the usual patience."""
    expected = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.With)
        and any("raises" in ast.dump(item.context_expr) for item in node.items)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node) in WAITS and id(node) not in expected:
            given = [each.value for each in node.keywords if each.arg == WAITS[_name(node)]]
            limit = next(iter(given or node.args[-1:]), None)
            if (
                isinstance(limit, ast.Constant)
                and isinstance(limit.value, int | float)
                and limit.value < PATIENCE_SECONDS
            ):
                yield node.lineno


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(TESTS)))
def test_a_test_asserts_on_events_and_not_on_elapsed_time(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert sorted({*_upper_bounds(tree), *_short_waits(tree)}) == []


@pytest.mark.parametrize(
    "line",
    [
        "assert time.monotonic() - began < 5",
        "took = time.perf_counter() - began; assert took <= 5",
        "longest = max(longest, clock.time() - began); assert 1 > longest",
        "eventually(ready, 'ready', seconds=5)",
        "asyncio.wait_for(first, 5)",
        "async_timeout = asyncio.timeout(3)",
    ],
)
def test_limits_of_time_are_found(line: str) -> None:
    tree = ast.parse(line)
    assert [*_upper_bounds(tree), *_short_waits(tree)] == [1]


@pytest.mark.parametrize(
    "line",
    [
        "assert time.monotonic() - began >= 0.4",
        "assert calls <= 2 * (time.monotonic() - began)",
        "assert sent_at < received_at",
        "with pytest.raises(TimeoutError): asyncio.wait_for(first, 0.1)",
        "eventually(ready, 'ready', seconds=240)",
    ],
)
def test_least_times_and_rates_are_no_limits(line: str) -> None:
    tree = ast.parse(line)
    assert [*_upper_bounds(tree), *_short_waits(tree)] == []
