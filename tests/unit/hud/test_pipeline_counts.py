"""Counts of segments by run and stage, over any number of segments in bounded memory."""

import pytest

from rlaif.hud.read_model.pipeline import STAGES, Flags, PipelineCounts
from rlaif.testing.data.events import NOON


@pytest.mark.parametrize("order", [STAGES, STAGES[::-1]])
def test_each_segment_counts_once_at_its_stages_and_those_before(order) -> None:
    counts = PipelineCounts()
    for stage in order:
        assert counts.count(stage, "run-1", "seg-1", NOON)
        assert not counts.count(stage, "run-1", "seg-1", NOON), "reported again"
    assert counts.count("exported", "run-1", "seg-2", NOON)
    assert counts.of("run-1").counts == {"captured": 2, "exported": 2, "scored": 1}


def test_counts_continue_while_old_segments_are_forgotten() -> None:
    flags = Flags(10)
    for number in range(1000):
        assert flags.add(f"seg-{number}", 1) == 1
        assert len(flags) <= 20
        assert flags.add(f"seg-{max(0, number - 4)}", 1) == 0, "used a moment ago"
    assert flags.add("seg-0", 1) == 1, "forgotten"
