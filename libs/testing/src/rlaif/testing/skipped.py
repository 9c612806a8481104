"""The skipped tests of one or more runs of pytest as a table: how many, why, what to install.

A reason reads `what is missing: remedy`, for example
`promtool is not installed: on Debian, apt-get install prometheus`. Each run of pytest ends with its
table. With `--skipped-to FILE` it adds its skipped tests to the file instead, and
`python -m rlaif.testing.skipped FILE` prints one table for all of them.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

NO_REMEDY = "nothing to install"


def table(reasons: Iterable[str]) -> str:
    """The lines of the table, most frequent reason first; empty without reasons."""
    counted = Counter(reasons)
    rows = [("Tests", "Skipped because", "To run them")]
    for reason, number in counted.most_common():
        why, _, remedy = reason.partition(": ")
        rows.append((str(number), why, remedy or NO_REMEDY))
    if not counted:
        return ""
    first, second, _ = (max(map(len, column)) for column in zip(*rows, strict=True))
    lines = [f"{number:>{first}}  {why:<{second}}  {remedy}" for number, why, remedy in rows]
    return "\n".join([f"{counted.total()} tests were skipped", "", *lines])


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--skipped-to`."""
    parser.addoption(
        "--skipped-to",
        type=Path,
        metavar="FILE",
        help="add the skipped tests to FILE, print no table",
    )


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the table, or add to the file."""
    if hasattr(config, "workerinput"):  # of pytest-xdist: the controller has all reports
        return
    # A module that is skipped as a whole is reported once by each worker.
    skipped = {
        report.nodeid: _reason(report) for report in terminalreporter.stats.get("skipped", [])
    }
    path: Path | None = config.getoption("--skipped-to")
    if path is not None:
        with path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(reason) + "\n" for reason in skipped.values())
    elif skipped:
        terminalreporter.section("skipped tests")
        terminalreporter.write_line(table(skipped.values()))


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


def main(arguments: Sequence[str]) -> int:
    """Print the table of a file; a file that is missing has no skipped tests."""
    path = Path(arguments[0])
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    if lines:
        print(f"\n{table(map(json.loads, lines))}")  # noqa: T201  # a command
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
