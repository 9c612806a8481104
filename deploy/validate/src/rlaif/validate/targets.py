"""Render targets in deploy/: everything that is applied, and each component alone on the base."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlaif.validate.manifests import read
from rlaif.validate.rendering import render, render_together

NEEDS = "zelda-rlaif/needs"
"""Annotation of a component's kustomization: components that it changes, separated by blanks."""

_PINS = "components/image-pins"


@dataclass(frozen=True)
class Target:
    """One thing that is rendered.

    Attributes:
        name: Its path below deploy/.
        on_base: Components to lay on the base; empty for targets applied as they are.
    """

    name: str
    on_base: tuple[str, ...] = ()

    def render(self, deploy: Path) -> str:
        if self.on_base:
            return render_together(deploy / "base", [deploy / each for each in self.on_base])
        return render(deploy / self.name)

    @property
    def folder(self) -> str:
        """The first part of its name: base, components, overlays, jobs and so on."""
        return self.name.partition("/")[0]


def targets(deploy: Path) -> Iterator[Target]:
    """Everything that is rendered, in the order of its paths."""
    yield Target("base", (_PINS,))
    base = deploy / "base"
    for file in sorted(deploy.rglob("kustomization.yaml")):
        folder = file.parent
        if folder == base or base in folder.parents:
            continue
        name = str(folder.relative_to(deploy))
        content = read(file.read_text())[0]
        if name.startswith("components/"):
            if folder.parent == deploy / "components" and name != _PINS:
                yield Target(name, (*_needed(content), name, _PINS))
        elif content.get("kind") != "Component" and "base" not in folder.parts:
            yield Target(name)


def _needed(content: dict[str, Any]) -> Iterator[str]:
    annotations = (content.get("metadata") or {}).get("annotations") or {}
    for name in str(annotations.get(NEEDS, "")).split():
        yield f"components/{name}"
