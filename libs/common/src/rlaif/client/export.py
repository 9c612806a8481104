"""`rlaif export`: the curves of a run as CSV.

Exit codes: 0 written, 2 there is no such run.
"""

import argparse
import sys
from pathlib import Path

from rlaif.client.rest import DEFAULT_HUD, ClientError
from rlaif.client.run import Run
from rlaif.files.failures import command
from rlaif.files.tables import csv_of
from rlaif.files.whole import write_whole


@command("rlaif export", ClientError)
def main() -> int:
    """Write the file; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="rlaif export",
        description="Write the curves of a run as CSV: one row per iteration if read from its "
        "folder, one row per chart point if read from the page.",
    )
    add = parser.add_argument
    add(
        "run",
        nargs="?",
        default="current",
        help="folder or id of the run (default: the current run of the page)",
    )
    add("--url", default=DEFAULT_HUD, help="address of the page (default: %(default)s)")
    add("--out", type=Path, help="file to write (default: standard output)")
    options = parser.parse_args()
    text = csv_of(Run(options.run, options.url).rows())
    if options.out is None:
        sys.stdout.write(text)
    else:
        write_whole(options.out, text.encode())
    return 0
