"""What compose files, manifests and pages set in the environment of our containers, as names.

Read from the files as they lie there: no engine and no cluster is asked, and nothing is rendered.
A container is ours when its image is; those of NATS, S3 or Grafana have names of their own.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

OUR_IMAGES = "zelda-rlaif/"
"""What the image of a container of ours is called by, everywhere."""

_WORKLOADS = {
    "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "RayCluster", "RayJob",
}  # fmt: skip
_SOURCES = {"ConfigMap", "Secret", "ExternalSecret", "SealedSecret"}
_KUSTOMIZE = {"Kustomization", "Component"}
_PYTHON_FOLDERS = {"local", "servers", "mock-llm"}

_NAME = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")
_ASKED_FOR = re.compile(r"(?<!\$)\$\{(?P<name>[A-Za-z_]\w*)(?P<rest>:?[-?+][^{}]*)?\}")
_FENCE = re.compile(r"^```(?:bash|sh|)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SET_FOR_A_COMMAND = re.compile(r"(?<![\w-])([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[A-Z]{2,})=(?=\S)")
_ALONE = re.compile(
    r"""^\s*(?:export )?([A-Z][A-Z0-9_]*)=(?:"[^"]*"|'[^']*'|"?\$\(.*\)"?|\S+)\s*(?:\#.*)?$""",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Given:
    """One name in the environment of a container of ours.

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
    """What a compose file gives the containers of ours; `values` as `.env` would."""
    services = yaml.safe_load(path.read_text(encoding="utf-8"))["services"]
    for name, service in services.items():
        if "build" not in service and OUR_IMAGES not in service.get("image", ""):
            continue
        given = service.get("environment") or {}
        if isinstance(given, list):
            given = dict(line.partition("=")[::2] for line in given)
        for variable, value in given.items():
            text = "" if value is None else str(value)
            if values is not None:
                text = interpolate(text, values)
            yield Given(variable, text, f"{path.name} {name}")


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


def asked_for(text: str) -> set[str]:
    """The names that a compose file takes from `.env` or from the shell."""
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    return set(re.findall(r"(?<!\$)\$\{([A-Za-z_]\w*)", "\n".join(lines)))


def dotenv(path: Path) -> dict[str, str]:
    """Name → value of a file of `NAME=value` lines."""
    lines = path.read_text(encoding="utf-8").splitlines()
    pairs = [line.partition("=") for line in lines if "=" in line and not line.startswith("#")]
    return {name.strip(): value.strip() for name, _, value in pairs}


# --- manifests ------------------------------------------------------------------------------------


def cluster(deploy: Path) -> Iterator[Given]:
    """What everything below `deploy` gives the containers of ours, secrets included."""
    files = [path for path in sorted(deploy.rglob("*")) if _is_manifest(path.relative_to(deploy))]
    objects = {
        path: [each for each in yaml.safe_load_all(path.read_text(encoding="utf-8")) if each]
        for path in files
        if path.suffix in (".yaml", ".yml")
    }
    foreign = {
        str(name)
        for found in objects.values()
        for each in found
        for name, image in _containers(each)
        if OUR_IMAGES not in image
    }
    for path, found in objects.items():
        where = str(path.relative_to(deploy.parent))
        for each in found:
            yield from _of_object(each, where, foreign)
    for path in files:
        if path.suffix == ".env":
            where = str(path.relative_to(deploy.parent))
            yield from (Given(name, value, where) for name, value in dotenv(path).items())


def _is_manifest(path: Path) -> bool:
    return path.parts[0] not in _PYTHON_FOLDERS and path.suffix in (".yaml", ".yml", ".env")


def _containers(node: Any) -> Iterator[tuple[str, str]]:
    if isinstance(node, dict):
        if isinstance(node.get("image"), str) and "name" in node:
            yield node["name"], node["image"]
        for value in node.values():
            yield from _containers(value)
    elif isinstance(node, list):
        for value in node:
            yield from _containers(value)


def _of_object(node: Any, where: str, foreign: set[str]) -> Iterator[Given]:
    """A manifest, a Kustomize file or a patch."""
    kind = node.get("kind") if isinstance(node, dict) else None
    if kind in _SOURCES:
        yield from _of_source(node, where)
    elif kind in _KUSTOMIZE:
        yield from _of_generators(node, where)
        for patch in node.get("patches") or ():
            for each in yaml.safe_load_all(patch.get("patch", "")):
                yield from _of_object(each, where, foreign)
    elif kind in _WORKLOADS or isinstance(node, list):
        yield from _in_containers(node, where, foreign)


def _of_source(node: dict[str, Any], where: str) -> Iterator[Given]:
    """Of ConfigMaps and Secrets whose keys become variables: those called `rlaif-…`."""
    spec = node.get("spec") or {}
    target = (spec.get("target") or {}).get("name") or node["metadata"].get("name", "")
    if not target.startswith("rlaif-"):
        return
    keys: dict[str, Any] = {
        **(node.get("data") or {}),
        **(node.get("stringData") or {}),
        **(spec.get("encryptedData") or {}),
        **{each["secretKey"]: "" for each in spec.get("data") or ()},
    }
    for name, value in keys.items():
        if _NAME.fullmatch(name):
            yield Given(name, str(value) if node["kind"] == "ConfigMap" else "", where)


def _of_generators(node: dict[str, Any], where: str) -> Iterator[Given]:
    for generator in [
        *(node.get("configMapGenerator") or ()),
        *(node.get("secretGenerator") or ()),
    ]:
        for line in generator.get("literals") or ():
            name, _, value = line.partition("=")
            if _NAME.fullmatch(name):
                yield Given(name, value.strip("'\""), where)


def _in_containers(node: Any, where: str, foreign: set[str]) -> Iterator[Given]:
    if isinstance(node, list):
        for value in node:
            yield from _in_containers(value, where, foreign)
        return
    if not isinstance(node, dict):
        return
    if OUR_IMAGES not in node.get("image", OUR_IMAGES) or (
        "image" not in node and node.get("name") in foreign
    ):
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

    `NAME=value` alone on a line is a variable of the reader's shell and not counted.
    """
    found: set[str] = set()
    for block in _FENCE.findall(page):
        found |= set(_SET_FOR_A_COMMAND.findall(block)) - set(_ALONE.findall(block))
    return found
