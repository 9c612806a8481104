"""`rlaif COMMAND`: the command-line interface of the project.

A subcommand is imported when it is called: the help needs neither PyTorch nor Ray, and an image
has the subcommands of its distributions. Services are started as `python -m rlaif.hud`.
"""

import pkgutil
import platform
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib.metadata import distributions, version

from rlaif.command.table import GROUPS, SUBCOMMANDS
from rlaif.files.failures import WRONG_INPUT, command

INTERRUPTED = 130
"""Exit code after Ctrl-C, as in shells."""

_LEARNING = frozenset({"gymnasium", "numpy", "pyboy", "ray", "torch"})
"""Packages whose versions affect the results of training."""


@command("rlaif")
def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    name, *words = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    if name in ("--help", "-h", "help"):
        sys.stdout.write(help_text())
        return 0
    if "--version" in (name, *words[:1]):
        sys.stdout.write(f"rlaif {version('rlaif-common')}\n")
        return 0
    if name not in SUBCOMMANDS:
        close = get_close_matches(name, SUBCOMMANDS, n=1)
        meant = f"; did you mean {close[0]}?" if close else ";"
        return _refuse(f"no command {name!r}{meant} rlaif --help lists all")
    found = SUBCOMMANDS[name]
    try:
        run = pkgutil.resolve_name(found.target)
        sys.argv = [f"rlaif {name}", *words]
        code: int = run()
    except KeyboardInterrupt:
        return INTERRUPTED
    except ModuleNotFoundError as error:
        needs = f"{found.distribution} and its dependencies: {error.name} is missing"
        return _refuse(f"{name} needs {needs}; pip install {found.distribution}")
    except ImportError as error:
        return _refuse(f"{name} cannot be loaded: {error}; is memory limited (ulimit -v)?")
    return code


def help_text() -> str:
    """All commands, by group."""
    lines = ["usage: rlaif COMMAND [OPTION ...]", ""]
    lines += ["Reinforcement learning from AI feedback on Game Boy games.", ""]
    for title, group in GROUPS.items():
        lines += [title, *(f"  {name:<16}{each.summary}" for name, each in group.items()), ""]
    return "\n".join([*lines, "rlaif COMMAND --help lists the options of a command.", ""])


def show_versions() -> int:
    """`rlaif version`: a line for each package."""
    found = {each.name: each.version for each in distributions()}
    ours = sorted(name for name in found if name.startswith("rlaif-"))
    for name in [*ours, *sorted(_LEARNING & found.keys())]:
        sys.stdout.write(f"{name:<20}{found[name]}\n")
    sys.stdout.write(f"{'python':<20}{platform.python_version()}\n")
    return 0


def _refuse(message: str) -> int:
    sys.stderr.write(f"rlaif: error: {message}\n")
    return WRONG_INPUT


if __name__ == "__main__":
    sys.exit(main())
