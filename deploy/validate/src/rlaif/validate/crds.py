"""The validators that lie beside the project: schemas of operators, and references between objects.

They hold other projects' definitions, so they are no part of this one. Where they are not there,
`make validate` reports it and checks the rest.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PLATFORMS: dict[str, tuple[str, ...]] = {
    "newest": (),
    "ocp-4.20 + rhoai-3.4": (
        "--variant", "ocp-4.20", "--variant", "rhoai-3.4", "--variant", "rhbk",
        "--kube-version", "1.33",
    ),
    "ocp-4.22 + rhoai-3.5": (
        "--variant", "ocp-4.22", "--variant", "rhoai-3.5", "--variant", "rhbk",
        "--kube-version", "1.35",
    ),
}  # fmt: skip
"""What a manifest is to be right for: the newest of each operator, and what Red Hat ships."""

_OUTSIDE = ("Secret/*",)
"""Objects that are in no stream: who deploys makes them, by hand or by an operator."""

_SECONDS = 300


class ValidatorError(Exception):
    """A validator broke down, or lacks a package."""


@dataclass(frozen=True)
class Verdict:
    """What a validator said of a stream, a line each."""

    errors: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class Validators:
    """The two programs in a folder."""

    def __init__(self, folder: Path) -> None:
        """Take the folder that holds validate.py and lint.py."""
        self._folder = folder

    @property
    def are_there(self) -> bool:
        """Whether the folder holds them."""
        return (self._folder / "validate.py").is_file() and (self._folder / "lint.py").is_file()

    def schemas(self, stream: str, platform: str) -> Verdict:
        """Every object against the schema that a platform has of its kind."""
        output = self._run("validate.py", ["--json", *PLATFORMS[platform]], stream)
        lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
        return _verdict([(line["level"], _sentence(line)) for line in lines])

    def references(self, streams: Sequence[str]) -> Verdict:
        """What no schema sees: references between the objects of all streams together."""
        together = "\n---\n".join(streams)
        output = self._run("lint.py", ["--external", ",".join(_OUTSIDE)], together)
        lines = [line.split(maxsplit=1) for line in output.splitlines() if line.strip()]
        return _verdict([(line[0], line[1]) for line in lines if line[0] in ("ERROR", "WARN")])

    def _run(self, program: str, options: Sequence[str], stream: str) -> str:
        done = subprocess.run(
            [sys.executable, str(self._folder / program), *options],
            input=stream, capture_output=True, text=True, timeout=_SECONDS, check=False,
        )  # fmt: skip
        if done.returncode not in (0, 1, 2) or done.stderr.strip():
            raise ValidatorError(f"{program}: {(done.stderr or done.stdout).strip()[-2000:]}")
        return done.stdout


def _sentence(line: dict[str, str]) -> str:
    return " ".join(filter(None, (line["object"], line["path"], line["message"])))


def _verdict(lines: Sequence[tuple[str, str]]) -> Verdict:
    def said(level: str) -> tuple[str, ...]:
        return tuple(text for found, text in lines if found == level)

    return Verdict(said("ERROR"), said("UNKNOWN"), said("WARN"))
