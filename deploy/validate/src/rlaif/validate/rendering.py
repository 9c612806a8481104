"""Kustomize: a folder in, a stream of manifests out."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

_SECONDS = 120


class NoKustomizeError(Exception):
    """Neither kubectl nor kustomize was found."""


class RenderError(Exception):
    """Kustomize refused a folder, or rendered it differently the second time."""


def find_kustomize() -> list[str]:
    """The command that renders a folder: a program on PATH, or the environment's kubectl."""
    beside = Path(sys.executable).parent / "kubectl"
    if program := shutil.which("kubectl"):
        return [program, "kustomize"]
    if program := shutil.which("kustomize"):
        return [program, "build"]
    if program := shutil.which(str(beside)):
        return [program, "kustomize"]
    raise NoKustomizeError(
        "neither kubectl nor kustomize is on PATH; make setup-dev installs kubectl into .venv"
    )


def render(folder: Path) -> str:
    """Render a folder twice; what differs is nothing that GitOps could keep in step."""
    command = [*find_kustomize(), str(folder)]
    first, second = _run(command), _run(command)
    if first != second:
        raise RenderError("two renderings differ")
    return first


def render_together(base: Path, components: Sequence[Path]) -> str:
    """Render components on a base, as an overlay would, in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        # Kustomize takes no absolute paths, and follows links before it looks at relative ones.
        home = Path(folder).resolve()
        lines = [
            "apiVersion: kustomize.config.k8s.io/v1beta1",
            "kind: Kustomization",
            "namespace: zelda-rlaif",
            "resources:",
            f"  - {_relative(base, home)}",
            "components:",
            *(f"  - {_relative(component, home)}" for component in components),
        ]
        (home / "kustomization.yaml").write_text("\n".join(lines) + "\n")
        return render(home)


def _relative(path: Path, home: Path) -> str:
    return os.path.relpath(path.resolve(), home)


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode:
        raise RenderError(done.stderr.strip())
    # A warning is about something that is to go, such as a deprecated field.
    if done.stderr.strip():
        raise RenderError(f"kustomize warns: {done.stderr.strip()}")
    return done.stdout
