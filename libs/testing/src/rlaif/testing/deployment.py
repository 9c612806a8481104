"""What compose files, manifests and pages set in the environment of our containers, as names.

Read from the files as they lie there: no engine and no cluster is asked, and nothing is rendered.
A container is ours when its image is; those of NATS, S3 or Grafana have names of their own.
"""

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

OUR_IMAGES = "zelda-rlaif/"
"""Part of the name of each of our images."""

_WORKLOADS = {
    "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "RayCluster", "RayJob",
}  # fmt: skip
_SOURCES = {"ConfigMap", "Secret", "ExternalSecret", "SealedSecret"}
_KUSTOMIZE = {"Kustomization", "Component"}
_PYTHON_FOLDERS = {"local", "servers", "mock-llm"}

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
    """One name in the environment of one of our containers.

    Attributes:
        name: Of the variable.
        value: As it stands there; empty where it comes from a secret.
        where: File, and what in it.
    """

    name: str
    value: str
    where: str


# --- compose --------------------------------------------------------------------------------------


def compose(path: Path, values: Mapping[str, str] | None = None) -> Iterator[Given]:
    """Environment of our containers in a compose file.

    With `values`, those of `.env`, what they fill in; a name without a value in the file is then
    given only where they have one.
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
    """Name → value, None where the file names it and leaves the value to `.env`."""
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

    while (after := _ASKED_FOR.sub(filled, text)) != text:  # inside out: defaults may hold more
        text = after
    return text.replace("$$", "$")


def asked_for(path: Path) -> set[str]:
    """The names that a compose file takes from `.env` or from the shell."""
    text = path.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    named = set(re.findall(r"(?<!\$)\$\{([A-Za-z_]\w*)", "\n".join(lines)))
    for service in yaml.safe_load(text)["services"].values():
        named |= {name for name, value in _environment(service).items() if value is None}
    return named


def dotenv(path: Path, *, examples: bool = False) -> dict[str, str]:
    """Name → value of a file of `NAME=value` lines; with `examples` also those behind a `#`."""
    mark = "#?" if examples else ""
    line = re.compile(rf"^{mark}({_NAME.pattern})=(.*)$", re.MULTILINE)
    found = line.finditer(path.read_text(encoding="utf-8"))
    return {each[1]: each.groups()[-1].strip() for each in found}


# --- manifests ------------------------------------------------------------------------------------


def cluster(deploy: Path) -> Iterator[Given]:
    """Environment of our containers in everything below `deploy`, secrets included."""
    found = [
        (path, each)
        for path in sorted(deploy.rglob("*.yaml"))
        if path.relative_to(deploy).parts[0] not in _PYTHON_FOLDERS
        for each in yaml.safe_load_all(path.read_text(encoding="utf-8"))
    ]
    tree = [each for _, each in found]
    foreign = {name for name, image in _containers(tree) if OUR_IMAGES not in image}
    sources = set(_read_whole(tree, foreign))
    for path, each in found:
        where = str(path.relative_to(deploy.parent))
        yield from _of_object(each, path.parent, where, foreign, sources)


def _containers(node: Any) -> Iterator[tuple[str, str]]:
    """Name and image of everything that has both."""
    if isinstance(node, dict) and isinstance(node.get("image"), str) and "name" in node:
        yield str(node["name"]), node["image"]
    for value in _inside(node):
        yield from _containers(value)


def _read_whole(node: Any, foreign: set[str]) -> Iterator[str]:
    """The ConfigMaps and Secrets whose keys become variables of one of our containers."""
    if isinstance(node, dict) and _is_ours(node, foreign):
        for each in node.get("envFrom") or ():
            yield from (source["name"] for source in each.values() if isinstance(source, dict))
    for value in _inside(node):
        yield from _read_whole(value, foreign)


def _inside(node: Any) -> Iterator[Any]:
    if isinstance(node, dict):
        yield from node.values()
    elif isinstance(node, list):
        yield from node


def _is_ours(node: dict[str, Any], foreign: set[str]) -> bool:
    """Whether a mapping belongs to one of our containers, or to no container at all."""
    image = node.get("image")
    return OUR_IMAGES in image if isinstance(image, str) else node.get("name") not in foreign


def _of_object(
    node: Any, folder: Path, where: str, foreign: set[str], sources: set[str]
) -> Iterator[Given]:
    """A manifest, a Kustomize file or a patch."""
    kind = node.get("kind") if isinstance(node, dict) else None
    if kind in _SOURCES:
        yield from _of_source(node, where, sources)
    elif kind in _KUSTOMIZE:
        yield from _of_generators(node, folder, where, sources)
        for patch in node.get("patches") or ():
            for each in yaml.safe_load_all(patch.get("patch", "")):
                yield from _of_object(each, folder, where, foreign, sources)
    elif kind in _WORKLOADS or isinstance(node, list):
        yield from _in_containers(node, where, foreign)


def _of_source(node: dict[str, Any], where: str, sources: set[str]) -> Iterator[Given]:
    spec = node.get("spec") or {}
    target = spec.get("target") or {}
    if (target.get("name") or node["metadata"].get("name")) not in sources:
        return
    # Where a template makes the keys, what was fetched only goes into it.
    made = (target.get("template") or {}).get("data")
    keys: dict[str, Any] = {
        **(node.get("data") or {}),
        **(node.get("stringData") or {}),
        **(spec.get("encryptedData") or {}),
        **(made or {each["secretKey"]: "" for each in spec.get("data") or ()}),
    }
    for name, value in keys.items():
        yield Given(name, str(value) if node["kind"] == "ConfigMap" else "", where)


def _of_generators(
    node: dict[str, Any], folder: Path, where: str, sources: set[str]
) -> Iterator[Given]:
    generators = [*(node.get("configMapGenerator") or ()), *(node.get("secretGenerator") or ())]
    for generator in generators:
        if generator["name"] not in sources:
            continue
        for line in generator.get("literals") or ():
            name, _, value = line.partition("=")
            yield Given(name, value.strip("'\""), where)
        for file in generator.get("envs") or ():
            given = dotenv(folder / file)
            yield from (Given(name, value, f"{where}: {file}") for name, value in given.items())


def _in_containers(node: Any, where: str, foreign: set[str]) -> Iterator[Given]:
    if isinstance(node, list):
        for value in node:
            yield from _in_containers(value, where, foreign)
        return
    if not isinstance(node, dict):
        return
    if not _is_ours(node, foreign):
        return
    if _NAME.fullmatch(str(node.get("name", ""))) and node.keys() & {"value", "valueFrom"}:
        yield Given(node["name"], str(node.get("value", "")), where)
    for key, value in node.items():
        if key == "runtimeEnvYAML":
            given = (yaml.safe_load(value) or {}).get("env_vars", {})
            yield from (Given(name, str(each), where) for name, each in given.items())
        else:
            yield from _in_containers(value, where, foreign)


# --- pages ----------------------------------------------------------------------------------------


def names_in_commands(page: str) -> set[str]:
    """The variables that commands on a page of Markdown set for a program.

    `NAME=value` alone on a line is a variable of the reader's shell and not counted, nor are
    the key of a Secret in `--from-literal=NAME=value` and an argument of a build.
    """
    found: set[str] = set()
    for block in _FENCE.findall(page):
        found |= set(_SET_FOR_A_COMMAND.findall(block)) - set(_ALONE.findall(block))
    return found


def blocks(page: str) -> list[str]:
    """The blocks of commands on a page, each as one script."""
    return [textwrap.dedent(block) for block in _FENCE.findall(page)]


def commands(page: str) -> list[str]:
    """The commands of a page's blocks, lines that end in a backslash joined, comments left out."""
    lines = [
        line.strip()
        for block in _FENCE.findall(page)
        for line in block.replace("\\\n", " ").splitlines()
    ]
    return [line for line in lines if line and not line.startswith("#")]
