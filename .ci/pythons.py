"""`python pythons.py oldest|newest`: the oldest or newest supported Python on this machine.

Prints its path. Looks along PATH and where pyenv and uv keep theirs, and counts what runs and can
make virtual environments.
"""

import glob
import os
import subprocess
import sys

_NAMES = ("python3.11", "python3.12", "python3.13", "python3.14")
_ASK = "import ensurepip, sys, venv; print('%03d%03d%03d' % sys.version_info[:3])"


def pythons() -> dict[str, str]:
    """Version → path of the first one that has it."""
    found: dict[str, str] = {}
    folders = os.environ["PATH"].split(os.pathsep)
    for pattern in ("~/.pyenv/versions/*/bin", "~/.local/share/uv/python/*/bin"):
        folders += sorted(glob.glob(os.path.expanduser(pattern)))
    for folder in folders:
        for name in _NAMES:
            path = os.path.join(folder, name)
            if os.access(path, os.X_OK):
                answer = subprocess.run(
                    [path, "-c", _ASK], capture_output=True, text=True, check=False
                )
                if answer.returncode == 0:
                    found.setdefault(answer.stdout.strip(), path)
    return found


def main() -> int:
    """Print the path; exit code 1 when there is none."""
    found = pythons()
    if not found:
        print(f"none of {', '.join(_NAMES)} with venv is on PATH", file=sys.stderr)
        return 1
    pick = min if sys.argv[1:] == ["oldest"] else max
    print(found[pick(found)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
