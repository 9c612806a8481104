"""A store of files, and the making of segments for it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rlaif.judge.evidence.described import DescribedState, described
from rlaif.storage.file import FileStore
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.judging import segments as made
from rlaif.testing.data.judging.segments import described_state, state_records


@pytest.fixture
def state() -> Callable[..., dict[str, Any]]:
    return described_state


@pytest.fixture
def records() -> Callable[..., list[DescribedState]]:
    """Given states, or of a walk to the right of `steps` steps."""

    def make(
        states: Sequence[dict[str, Any]] | None = None, *, steps: int = 75
    ) -> list[DescribedState]:
        made = state_records(states or [described_state(step) for step in range(steps)])
        return list(described(made))

    return make


@pytest.fixture
def png() -> Callable[..., bytes]:
    return made.screen_png


@pytest.fixture
def segments() -> Any:
    return made


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return FileStore(tmp_path / "store")
