"""Environment variables that compose files and commands in documents set for our containers.

A container is ours if its image is; those of NATS, S3 or Grafana have other variables.
"""

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

OUR_IMAGES = "zelda-rlaif/"
"""Substring of the name of each of our images."""

_NAME = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")
_ASKED_FOR = re.compile(r"(?<!\$)\$\{(?P<name>[A-Za-z_]\w*)(?P<rest>:?[-?+][^{}]*)?\}")
_FENCE = re.compile(r"^ *```(?:bash|sh|)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
_SET_FOR_A_COMMAND = re.compile(
    r"(?<!--build-arg )(?<![\w=-])([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]{2,})=(?=\S)"
)
_ALONE = re.compile(
    r"""^\s*(?:export )?([A-Z][A-Z0-9_]*)=(?:"[^"]*"|'[^']*'|"?\$\(.*\)"?|\S+)\s*(?:\#.*)?$""",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Given:
    """One environment variable of one of our containers.

    Attributes:
        name: Name of the variable.
        value: Value in the file; empty if it is from a secret.
        where: File, and position in it.
    """

    name: str
    value: str
    where: str


# --- compose --------------------------------------------------------------------------------------


def compose(path: Path, values: Mapping[str, str] | None = None) -> Iterator[Given]:
    """Environment of our containers in a compose file.

    With `values`, those of `.env`, variables are substituted; a name without a value in the file is
    then included only if it is among them.
    """
    services = yaml.safe_load(path.read_text(encoding="utf-8"))["services"]
    for name, service in services.items():
        if "build" not in service and OUR_IMAGES not in service.get("image", ""):
            continue
        for variable, value in _environment(service).items():
            if values is None:
                yield Given(variable, value or "", f"{path.name} {name}")
            elif value is not None or variable in values:
                text = values[variable] if value is None else interpolate(value, values)
                yield Given(variable, text, f"{path.name} {name}")


def _environment(service: Mapping[str, Any]) -> dict[str, str | None]:
    """Name → value; None if the file leaves the value to `.env`."""
    given = service.get("environment") or {}
    if isinstance(given, list):
        pairs = [line.partition("=") for line in given]
        return {name: value if equals else None for name, equals, value in pairs}
    return {name: None if value is None else str(value) for name, value in given.items()}


def interpolate(text: str, values: Mapping[str, str]) -> str:
    """`${NAME}`, `${NAME:-default}`, `${NAME:?message}` and `${NAME:+other}` as compose does."""

    def filled(match: re.Match[str]) -> str:
        value, rest = values.get(match["name"]), match["rest"] or ""
        blank_counts = rest.startswith(":")
        is_set = value is not None and (value != "" or not blank_counts)
        operator, other = rest.removeprefix(":")[:1], rest.removeprefix(":")[1:]
        if operator == "+":
            return other if is_set else ""
        return (value or "") if is_set else other if operator == "-" else ""

    while (after := _ASKED_FOR.sub(filled, text)) != text:  # inside out: defaults may be nested
        text = after
    return text.replace("$$", "$")


def asked_for(path: Path) -> set[str]:
    """Names that a compose file reads from `.env` or the shell."""
    text = path.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    named = set(re.findall(r"(?<!\$)\$\{([A-Za-z_]\w*)", "\n".join(lines)))
    for service in yaml.safe_load(text)["services"].values():
        named |= {name for name, value in _environment(service).items() if value is None}
    return named


def dotenv(path: Path, *, examples: bool = False) -> dict[str, str]:
    """Name → value of a file of `NAME=value` lines; with `examples`, including commented ones."""
    mark = "#?" if examples else ""
    line = re.compile(rf"^{mark}({_NAME.pattern})=(.*)$", re.MULTILINE)
    found = line.finditer(path.read_text(encoding="utf-8"))
    return {each[1]: each.groups()[-1].strip() for each in found}


# --- pages ----------------------------------------------------------------------------------------


def names_in_commands(page: str) -> set[str]:
    """Variables that commands in a Markdown document set for a program.

    `NAME=value` alone on a line is a variable of the reader's shell and not counted, nor are
    the key of a Secret in `--from-literal=NAME=value` and an argument of a build.
    """
    found: set[str] = set()
    for block in _FENCE.findall(page):
        found |= set(_SET_FOR_A_COMMAND.findall(block)) - set(_ALONE.findall(block))
    return found


def blocks(page: str) -> list[str]:
    """Command blocks of a document, each as one script."""
    return [textwrap.dedent(block) for block in _FENCE.findall(page)]


def commands(page: str) -> list[str]:
    """Commands of a document's blocks, with continued lines joined and without comments."""
    lines = [
        line.strip()
        for block in _FENCE.findall(page)
        for line in block.replace("\\\n", " ").splitlines()
    ]
    return [line for line in lines if line and not line.startswith("#")]
