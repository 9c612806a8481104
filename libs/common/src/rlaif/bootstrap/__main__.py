"""Creates streams, consumers and buckets, or drops handled events of full streams.

Exit codes: 0 done, 1 NATS or S3 was not ready in time, 2 a setting or option is wrong.
"""

import argparse
import asyncio
import signal
import sys
from collections.abc import Sequence

from rlaif.bootstrap.preparing import NotReachedError, make_room, prepare
from rlaif.bootstrap.settings import BootstrapSettings
from rlaif.files.failures import CommandError, command
from rlaif.service.cli import (
    PRECEDENCE,
    InvalidSettingsError,
    Options,
    masked_json,
)
from rlaif.service.logging import configure_logging
from rlaif.storage.ports import StorageError


@command("bootstrap", InvalidSettingsError, StorageError)
def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="bootstrap",
        usage="%(prog)s [OPTION ...]",
        description=BootstrapSettings.__doc__,
        epilog=PRECEDENCE,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--make-room",
        action="store_true",
        help="Only drop events that every consumer has handled from nearly full streams.",
    )
    parser.add_argument(
        "--print-settings",
        action="store_true",
        help="Print the settings as JSON, secrets masked, and exit.",
    )
    options = Options(parser, BootstrapSettings)
    arguments = parser.parse_args(argv)
    # The kernel ignores SIGTERM for the first process of a container unless it has a handler.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        settings = options.load(arguments)
        if arguments.print_settings:
            sys.stdout.write(masked_json(settings) + "\n")
            return 0
        configure_logging("bootstrap", settings.log_level, settings.log_format)
        lines = asyncio.run((make_room if arguments.make_room else prepare)(settings))
    except NotReachedError as error:
        raise CommandError(str(error), 1) from error
    except KeyboardInterrupt:
        raise CommandError("interrupted before completion; run it again", 1) from None
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
