"""What was found out about a ROM: findings in, a table for people and one object for programs."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

Result = Literal["ok", "failed", "note"]
"""A note says what to know about the game; it does not fail the check."""


@dataclass(frozen=True)
class CheckResult:
    """The outcome of one check."""

    check: str
    result: Result
    detail: str  # figures, and for a failure the first difference


@dataclass(frozen=True)
class Report:
    """All findings about one ROM, in the order of the checks."""

    title: str  # in the ROM's header
    rom_sha256: str
    hardware: str  # colour or grey, mapper, cartridge RAM, clock
    findings: tuple[CheckResult, ...]
    seconds: float  # wall clock, for all checks

    @property
    def passed(self) -> bool:
        """Nothing failed: captures of this game can be trusted."""
        return all(finding.result != "failed" for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON-able values, with `passed`."""
        return asdict(self) | {"passed": self.passed}

    def table(self) -> str:
        """One line a finding, aligned, and the verdict below."""
        width = max(len(finding.check) for finding in self.findings)
        lines = [f"{self.title or 'no title'} ({self.rom_sha256[:12]}), {self.hardware}"]
        lines += [f"  {f.check:<{width}}  {f.result:<6}  {f.detail}" for f in self.findings]
        failed = sum(finding.result == "failed" for finding in self.findings)
        verdict = "replays are proved" if self.passed else f"{failed} of the checks failed"
        lines.append(f"  {verdict}, {self.seconds:.0f} s")
        return "\n".join(lines)
