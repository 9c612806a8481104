"""Findings of the doctor as text and JSON."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Finding:
    """A violation of an invariant.

    Attributes:
        invariant: Its number, such as `I1`.
        code: Stable reason code.
        subject: Segment, key or path.
        text: One sentence for users, with the fix if there is one.
    """

    invariant: str
    code: str
    subject: str
    text: str


@dataclass
class Report:
    """All findings, and further information about the pipeline.

    Attributes:
        counts: Numbers of stored items by name.
        in_progress: Segments whose next event is queued or being handled.
        dead_letters: Event id, reason and redrive command of each.
        repaired: Actions of `--repair`.
    """

    data_dir: str
    running: bool
    counts: dict[str, int] = field(default_factory=dict)
    in_progress: int = 0
    findings: list[Finding] = field(default_factory=list)
    dead_letters: list[dict[str, str]] = field(default_factory=list)
    repaired: list[str] = field(default_factory=list)

    @property
    def healthy(self) -> bool:
        return not self.findings

    def as_json(self) -> str:
        document: dict[str, Any] = {"healthy": self.healthy} | asdict(self)
        return json.dumps(document, indent=2)

    def lines(self) -> Iterator[str]:
        """The report as text."""
        state = "running" if self.running else "stopped"
        counts = ", ".join(f"{count:,} {name}" for name, count in self.counts.items())
        yield f"{self.data_dir} ({state}): {counts}, {self.in_progress:,} in progress"
        for each in self.findings:
            yield f"✗ {each.invariant} {each.code}: {each.text}"
        for letter in self.dead_letters:
            yield f"· dead letter {letter['event_id']}: {letter['reason']}"
        if self.dead_letters:
            yield f"  while it runs, after the cause is fixed: {self.dead_letters[0]['redrive']}"
        yield from (f"✓ {each}" for each in self.repaired)
        yield "healthy" if self.healthy else f"{len(self.findings)} findings"
