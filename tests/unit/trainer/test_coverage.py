"""Coverage maps: counts, merging, files, JSON."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.trainer.play.exploration.coverage import (
    CoverageFileError,
    CoverageMap,
    RunCoverage,
    load_directory,
)
from rlaif.trainer.rewards.game import facts as places

HERE = places.square_index(0, 0x65, 80, 64)
THERE = places.square_index(5, 0x10, 17, 160)

squares = st.integers(0, places.SQUARES - 1)
counters = st.dictionaries(squares, st.integers(1, 2**31), max_size=6)


@st.composite
def coverages(draw: st.DrawFn) -> RunCoverage:
    """Counts of some process in a run with environments a, b and c."""
    account = RunCoverage()
    for name in draw(st.sets(st.sampled_from("abc"))):
        found = account.of(name)
        found.visits.update(draw(counters))
        found.episodes.update({square: 1 for square in found.visits})
    return account


def walked(*path: int) -> CoverageMap:
    found = CoverageMap()
    for square in path:
        found.enter(square)
    return found


def test_each_entry_counts_and_an_episode_counts_once():
    found = walked(HERE, THERE, HERE)
    assert found.visits == {HERE: 2, THERE: 1}
    assert found.episodes == {}, "it still runs"
    assert found.end_episode() == {HERE, THERE}
    assert found.episodes == {HERE: 1, THERE: 1}
    assert found.end_episode() == frozenset()


@settings(max_examples=100, deadline=None)
@given(coverages(), coverages(), coverages())
def test_merging_is_commutative_associative_and_idempotent(
    a: RunCoverage, b: RunCoverage, c: RunCoverage
):
    assert a.merge(b) == b.merge(a)
    assert a.merge(b).merge(c) == a.merge(b.merge(c))
    assert a.merge(a) == a
    assert a.merge(RunCoverage()) == a


def test_merging_older_counts_changes_nothing():
    old = RunCoverage({"1-0": walked(HERE)})
    new = RunCoverage({"1-0": walked(HERE, THERE, HERE)})
    assert old.merge(new) == new
    assert new.merge(old) == new


def test_the_union_is_the_sum_over_the_environments():
    account = RunCoverage({"1-0": walked(HERE), "2-0": walked(HERE, THERE)})
    assert account.union().visits == {HERE: 2, THERE: 1}
    assert account.union().rooms == 2


@settings(max_examples=30, deadline=None)
@given(account=coverages())
def test_coverage_survives_a_save(account: RunCoverage, tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.mktemp("coverage") / "runner-1.npz"
    account.save(path)
    assert RunCoverage.load(path) == account
    assert [p.name for p in path.parent.iterdir()] == ["runner-1.npz"], "nothing half-done"


def test_the_files_of_a_run_are_merged_without_damaged_ones(tmp_path: Path):
    RunCoverage({"1-0": walked(HERE)}).save(tmp_path / "runner-1.npz")
    RunCoverage({"2-0": walked(THERE)}).save(tmp_path / "runner-2.npz")
    (tmp_path / "runner-3.npz").write_bytes(b"PK\x03\x04 cut")
    assert set(load_directory(tmp_path).maps) == {"1-0", "2-0"}
    assert set(load_directory(tmp_path, without="runner-1.npz").maps) == {"2-0"}


def test_an_invalid_file_is_rejected(tmp_path: Path):
    path = tmp_path / "runner-1.npz"
    account = RunCoverage({"1-0": walked(HERE)})
    for change in ({"version": np.array(99)}, {"square": np.array([-1])}, {"square": np.array([])}):
        arrays: dict[str, Any] = {**account.arrays(), **change}
        np.savez(path, **arrays)
        with pytest.raises(CoverageFileError, match="delete it"):
            RunCoverage.load(path)
    path.write_bytes(b"")
    with pytest.raises(CoverageFileError, match="delete it"):
        RunCoverage.load(path)
