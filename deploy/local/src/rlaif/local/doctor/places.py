"""I8 and I9: permissions of secrets, and free space on disk and in streams."""

import stat
from collections.abc import Iterator
from pathlib import Path

from rlaif.bus.queues import Queues
from rlaif.contracts.catalog import STREAMS
from rlaif.local.doctor.findings import Finding
from rlaif.local.places import disk_report

_FULL = 0.95


def check_places(root: Path, queues: Queues) -> Iterator[Finding]:
    """Check secrets, disk and streams of a data directory."""
    secrets = root / "secrets.json"
    if stat.S_IMODE(secrets.stat().st_mode) & 0o077:
        text = (
            f"other users may read {secrets}: chmod 600 it, or, if they may have read it, stop and "
            "remove it; the next start makes new secrets"
        )
        yield Finding("I8", "secrets_readable", str(secrets), text)
    for text in disk_report(root).values():
        yield Finding("I9", "disk_low", str(root), text)
    for each in queues.streams:
        filled = each.bytes / each.max_bytes if each.max_bytes else 0.0
        if filled > _FULL and not STREAMS[each.name].drops_oldest:
            text = f"stream {each.name} is {filled:.0%} full: its consumers do not keep up"
            yield Finding("I9", "stream_full", each.name, text)
