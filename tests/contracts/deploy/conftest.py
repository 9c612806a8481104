"""What the folders of deploy/ render to."""

import shutil
from pathlib import Path

import pytest

from rlaif.validate.manifests import Manifest, read
from rlaif.validate.targets import targets

DEPLOY = Path(__file__).parents[3] / "deploy"


class _Rendered(dict[str, list[Manifest]]):
    def __missing__(self, name: str) -> list[Manifest]:
        target = next(each for each in targets(DEPLOY) if each.name == name)
        self[name] = read(target.render(DEPLOY))
        return self[name]


@pytest.fixture(scope="session")
def rendered() -> dict[str, list[Manifest]]:
    """Manifests of each target by its path below deploy/; a target is rendered at first use."""
    if not (shutil.which("kubectl") or shutil.which("kustomize")):
        pytest.skip("kubectl is not installed: make setup-dev installs it into .venv")
    return _Rendered()
