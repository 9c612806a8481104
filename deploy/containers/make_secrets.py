"""Writes .env from .env.example, with a random value for every secret that is empty.

    python deploy/containers/make_secrets.py [FILE]     FILE is .env unless given

What FILE already says stays as it is: it can be run again.
Needs Python 3.7 and the standard library alone.
"""

from __future__ import annotations

import os
import secrets
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / ".env.example"
END_OF_SECRETS = "# ----"


def filled(example: str, known: str = "") -> tuple[str, list[str]]:
    """The file's new text, and the names of the secrets that were made.

    `known` is what the file says now; empty when there is none.
    """
    if known:
        lines = known.splitlines()
        present = {line.partition("=")[0] for line in lines}
        lines += [f"{name}=" for name in _secret_names(example) if name not in present]
    else:
        lines = example.splitlines()
    names = _secret_names(example)
    made = []
    for number, line in enumerate(lines):
        name, equals, value = line.partition("=")
        if equals and name in names and not value.strip():
            lines[number] = f"{name}={secrets.token_hex(20)}"
            made.append(name)
    return "\n".join(lines) + "\n", made


def _secret_names(example: str) -> list[str]:
    top = example.partition(END_OF_SECRETS)[0]
    return [
        line.partition("=")[0]
        for line in top.splitlines()
        if "=" in line and not line.startswith("#")
    ]


def main() -> int:
    """Run from the command line."""
    target = Path(sys.argv[1] if len(sys.argv) > 1 else EXAMPLE.with_name(".env"))
    known = target.read_text() if target.exists() else ""
    text, made = filled(EXAMPLE.read_text(), known)
    if made:
        new = target.with_name(f"{target.name}.new")
        # Readable by the owner only, from its first byte on.
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            file.write(text)
        new.replace(target)
    sys.stdout.write(f"{target}: {'made ' + ', '.join(made) if made else 'nothing was missing'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
