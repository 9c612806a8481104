"""`rlaif demo`: the whole pipeline on this machine, until Ctrl-C.

Exit codes: 0 stopped on request or after the requested number of loops, 1 failure, 2 wrong option,
setting or ROM, or an unusable data directory, 3 the directory or the page's port is in use, 4 the
loop did not close in time.
"""

import argparse
import asyncio
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError
from rich.console import Console

from rlaif.bus.errors import BusUnavailableError
from rlaif.contracts.game.names import seed_and_size
from rlaif.files.failures import WRONG_INPUT, check_address_space, command, why
from rlaif.files.options import finite, whole
from rlaif.game.machine.cartridges import Cartridge, CartridgeError, load_cartridge
from rlaif.game.worlds.making import provide
from rlaif.local.child import ChildFailedError
from rlaif.local.display import Display
from rlaif.local.places import (
    DamagedSecretsError,
    DataDirectory,
    DataDirectoryBusyError,
    PortBusyError,
    Ports,
)
from rlaif.local.rewards import (
    REWARDS,
    OtherGameError,
    check_game,
    default_rewards,
    pipeline_runs,
)
from rlaif.local.stack import WORLDS, Options, Stack, plan
from rlaif.local.supervisor import LoopTimeoutError, Supervisor
from rlaif.network.addresses import is_http_url, without_credentials
from rlaif.storage.ports import StorageError

_ONCE_LOOPS = 2

_ADDRESS_SPACE = 2_000_000 << 10
"""Bytes of address space with which every service starts; nats-server does not with 1.2 GB."""


@command("rlaif demo")
def main(argv: Sequence[str] | None = None) -> int:
    """Run the stack; returns the exit code."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.timeout and not (arguments.once or arguments.loops):
        parser.error("argument --timeout: needs --once or --loops")
    check_address_space(_ADDRESS_SPACE)
    display = Display(Console(stderr=False))
    rom = _rom(arguments.rom)
    try:
        cartridge = _check_game(rom, display)
    except CartridgeError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    home = DataDirectory(arguments.data_dir.expanduser().absolute())
    try:
        with home.lock(), Ports() as ports:
            home.check_access()
            runs = pipeline_runs(home.root / "trainer")
            if not os.environ.get("TRAINER_WORLDS"):
                check_game(home.root, runs, cartridge.game)
            if seed_and_size(cartridge.game):  # judges and mock LLM read its records there
                provide(home.root / WORLDS / cartridge.game, cartridge.data)
            run_id, llm = os.environ.get("TRAINER_RUN_ID"), arguments.llm_base_url
            default = default_rewards(runs, run_id, rom, llm)
            options = Options(home.root, rom, arguments.hud_port, llm, arguments.rewards, default)
            return asyncio.run(_run(plan(options, ports), display, home, arguments))
    except (DataDirectoryBusyError, PortBusyError) as error:
        display.fail(str(error))
        return 3
    except (DamagedSecretsError, OtherGameError) as error:
        display.fail(str(error))
        return WRONG_INPUT
    except OSError as error:
        display.fail(
            f"cannot run in {home.root}: {why(error)}; correct that, or choose another data "
            "directory with --data-dir (make demo DATA_DIR=…)"
        )
        return WRONG_INPUT
    except ChildFailedError as error:
        display.fail(str(error))
        return WRONG_INPUT if error.code == WRONG_INPUT else 1
    except (BusUnavailableError, StorageError) as error:
        display.fail(str(error))
        return 1
    except LoopTimeoutError as error:
        display.fail(f"{error}\n  logs  {home.root / 'logs'}")
        return 4


def _rom(given: Path | None) -> Path | None:
    """The ROM of the services: the option, else their setting."""
    if given is None and os.environ.get("ROM_PATH"):
        given = Path(os.environ["ROM_PATH"])
    return given.absolute() if given is not None else None


def _check_game(rom: Path | None, display: Display) -> Cartridge:
    """Check that the game is a usable ROM and, for a user's ROM, that training can start.

    Raises:
        CartridgeError: The file is not a usable ROM, or the game does not reach a playable state.
    """
    cartridge = load_cartridge(rom)
    if rom is None:
        return cartridge
    display.note("starting the game once to check that training can start")
    # Imported late: a wrong file is reported without waiting for the trainer's imports.
    from rlaif.trainer.checks import WrongSettingsError, check_start
    from rlaif.trainer.settings import TrainerSettings

    try:
        check_start(TrainerSettings.model_validate({"rom_path": rom}))
    except ValidationError:
        pass  # the trainer reports its other settings
    except WrongSettingsError as error:
        raise CartridgeError(str(error)) from error
    return cartridge


async def _run(
    stack: Stack, display: Display, home: DataDirectory, arguments: argparse.Namespace
) -> int:
    began = time.monotonic()
    rom = _rom(arguments.rom)
    game = str(rom) if rom else "built-in cartridge"
    judges = arguments.llm_base_url or "mock judges"
    display.title(f"{game}, {judges} · Ctrl-C stops")
    supervisor = Supervisor(stack, display)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, supervisor.ask_to_stop)
    if stack.unused:
        display.note(f"not used, as the demo sets them itself: {', '.join(stack.unused)}")
    display.note(f"logs  {home.root / 'logs'}")
    loops = arguments.loops or (_ONCE_LOOPS if arguments.once else None)
    closed = await supervisor.run(loops=loops, seconds=arguments.timeout)
    display.note(
        f"stopped after {time.monotonic() - began:.0f} s, loops closed: {closed}; "
        f"the next start resumes from {home.root}"
    )
    return 0


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= 65535:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a port; use a number from 1 to 65535")


def _server(text: str) -> str:
    if is_http_url(text):
        return text
    shown = without_credentials(text)
    raise argparse.ArgumentTypeError(f"{shown!r} is not a URL; use one like http://host:8000/v1")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rlaif demo",
        description="Run NATS, the five services and, unless --llm-base-url is set, a mock "
        "LLM on this machine. Settings of the services are read from the environment, see "
        "docs/configuration.md.",
    )
    parser.add_argument(
        "--data-dir", type=Path, default=Path("var"), help="data directory (default: var)"
    )
    parser.add_argument(
        "--rom", type=Path, help="your own Oracle of Seasons (US) ROM (default: built-in cartridge)"
    )
    parser.add_argument(
        "--hud-port", type=_port, help="port of the page (default: 8086, or a free one)"
    )
    parser.add_argument(
        "--llm-base-url",
        type=_server,
        default=os.environ.get("LLM_BASE_URL") or None,
        help="an OpenAI-compatible server for the judges (default: LLM_BASE_URL, else a mock)",
    )
    parser.add_argument(
        "--rewards",
        choices=tuple(REWARDS),
        help="judges: the judges' reward model and a bonus for new places; game: hand-crafted "
        "rewards for items, events and new places, and the reward model's potential (default: "
        "those of the newest run in the data directory, else judges, or game if the mock LLM does "
        "not know the ROM)",
    )
    parser.add_argument("--once", action="store_true", help=f"the same as --loops {_ONCE_LOOPS}")
    parser.add_argument(
        "--loops", type=whole(1), help="stop after the trainer has loaded this many reward models"
    )
    parser.add_argument(
        "--timeout",
        type=finite(above_zero=True),
        help="timeout in seconds of --once or --loops (default: none)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
