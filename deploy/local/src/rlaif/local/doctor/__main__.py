"""`rlaif doctor`: check the data of the local stack, running or stopped.

Exit codes: 0 healthy, 1 an invariant is violated or a server does not answer, 2 a wrong option, or
no pipeline has run in the directory.
"""

import argparse
import asyncio
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from rlaif.bus.errors import BusError
from rlaif.files.failures import CommandError, command
from rlaif.local.child import ChildFailedError
from rlaif.local.doctor.champion import check_champion
from rlaif.local.doctor.facts import Facts, read_facts
from rlaif.local.doctor.findings import Finding, Report
from rlaif.local.doctor.objects import scrub_episodes, scrub_models
from rlaif.local.doctor.opening import Opened, opened
from rlaif.local.doctor.places import check_places
from rlaif.local.doctor.repair import repair
from rlaif.local.doctor.segments import check_segments
from rlaif.local.places import DamagedSecretsError, DataDirectory
from rlaif.storage.ports import StorageError

_REDRIVE = (
    "curl -X POST {hud}/api/v1/dead-letters/redrive -H 'Content-Type: application/json' -d {body} "
    '-H "Authorization: Bearer $('
    "python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[\"api_token\"])' {secrets}"
    ')"'
)
"""Reads the token when it runs: a report may be shown to others."""


@command("rlaif doctor", DamagedSecretsError)
def main(argv: Sequence[str] | None = None) -> int:
    """Print the report; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="rlaif doctor",
        description="Check that every captured segment ends in a score or a dead letter, the "
        "digests of all objects, the champion, and free space. The servers of a stopped pipeline "
        "are started for the check.",
    )
    add = parser.add_argument
    add("--data-dir", type=Path, default=Path("var"), help="data directory (default: var)")
    add("--json", action="store_true", help="print JSON")
    add("--quick", action="store_true", help="do not read the objects to compare their digests")
    add("--repair", action="store_true", help="announce orphans again, rebuild a lost champion")
    options = parser.parse_args(argv)
    home = DataDirectory(options.data_dir.expanduser().absolute())
    try:
        report = asyncio.run(_examine(home, scrub=not options.quick, repairs=options.repair))
    except (ChildFailedError, BusError, StorageError) as error:
        raise CommandError(str(error), 1) from error
    text = report.as_json() if options.json else "\n".join(report.lines())
    sys.stdout.write(f"{text}\n")
    return 0 if report.healthy else 1


async def _examine(home: DataDirectory, *, scrub: bool, repairs: bool) -> Report:
    async with opened(home) as system:
        return await examine(system, home.root, scrub=scrub, repairs=repairs)


async def examine(system: Opened, root: Path, *, scrub: bool, repairs: bool) -> Report:
    """Check all invariants; with `repairs`, repair first and report the remaining findings."""
    report = Report(str(root), system.running)
    facts = await _check_loop(system, report)
    damaged: list[Finding] = []
    if scrub:
        damaged += await asyncio.to_thread(lambda: [*scrub_episodes(system.episodes)])
        damaged += await asyncio.to_thread(lambda: [*scrub_models(system.models)])
    if repairs:
        report.repaired = await repair(system, facts, [*report.findings, *damaged])
        facts = await _check_loop(system, report)
    report.findings += damaged
    report.findings += check_places(root, await system.bus.queues())
    for letter in facts.letters:
        dead = letter.data
        line = {"event_id": dead.event_id, "reason": dead.reason, "detail": dead.detail}
        body, secrets = json.dumps({"event_id": dead.event_id}), str(root / "secrets.json")
        quoted = {"body": shlex.quote(body), "secrets": shlex.quote(secrets)}
        report.dead_letters.append(line | {"redrive": _REDRIVE.format(hud=system.hud, **quoted)})
    return report


async def _check_loop(system: Opened, report: Report) -> Facts:
    facts = await read_facts(system.bus, system.episodes)
    champion = await asyncio.to_thread(lambda: [*check_champion(system.models)])
    report.counts, report.in_progress = facts.counts(), len(facts.pending)
    report.findings = [*check_segments(facts), *champion]
    return facts


if __name__ == "__main__":
    sys.exit(main())
