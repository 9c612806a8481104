"""The doctor's checks of an idle pipeline, which may have nothing in progress."""

from dataclasses import dataclass, field, replace

from rlaif.bus.connection import Bus
from rlaif.contracts.events import SegmentCaptured, SegmentExported, SegmentScored
from rlaif.local.doctor.facts import read_facts
from rlaif.local.doctor.segments import check_segments
from rlaif.storage.ports import ObjectStore


@dataclass
class PipelineFindings:
    """Counts, and a message for each violation."""

    captured: int = 0
    exported: int = 0
    scored: int = 0
    dead: int = 0
    wrong: list[str] = field(default_factory=list)


async def check(bus: Bus, episodes: ObjectStore) -> PipelineFindings:
    """Check a pipeline in which nothing is in progress."""
    facts = replace(await read_facts(bus, episodes), pending=frozenset())
    return PipelineFindings(
        captured=len(facts.captured),
        exported=len(facts.manifests),
        scored=len(facts.scored),
        dead=len(facts.letters),
        wrong=[f"{each.invariant} {each.text}" for each in check_segments(facts)],
    )


async def under_way(bus: Bus) -> int:
    """Number of unfinished events between trainer and reward model."""
    return (
        await bus.backlog(SegmentCaptured, "exporter")
        + await bus.backlog(SegmentExported, "judge")
        + await bus.backlog(SegmentScored, "reward-model")
    )
