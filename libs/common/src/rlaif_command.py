"""Starts the command `rlaif`, also where another package of that name comes first.

It lies outside the namespace `rlaif`, which a foreign `rlaif/__init__.py` would hide as a whole.
"""

import os
import sys
from pathlib import Path

_PYTHONPATH = "PYTHONPATH"


def main() -> int:
    """Run `rlaif`; returns its exit code, or 2 if a package hides it that cannot be ignored."""
    given = os.environ.get(_PYTHONPATH, "").split(os.pathsep)
    ignored = [folder for folder in given if folder and _hides(folder)]
    if ignored:
        sys.stderr.write(
            f"rlaif: ignores {', '.join(ignored)} of PYTHONPATH, with another package rlaif\n"
        )
        # Also for child processes.
        os.environ[_PYTHONPATH] = os.pathsep.join(each for each in given if each not in ignored)
        places = {os.path.abspath(folder) for folder in ignored}
        sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) not in places]
    if hiding := next(filter(_hides, sys.path), None):
        sys.stderr.write(
            f"rlaif: error: {hiding} has another package rlaif: uninstall or move it\n"
        )
        return 2
    from rlaif.command.__main__ import main as run

    return run()


def _hides(folder: str) -> bool:
    """Whether a folder of the search path has a module `rlaif` that is no namespace."""
    return any((Path(folder) / name).is_file() for name in ("rlaif/__init__.py", "rlaif.py"))
