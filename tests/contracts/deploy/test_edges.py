"""Who may call whom: the policies of the rendered overlay are the table of deploy/README.md."""

import re
import shutil
from pathlib import Path

import pytest

validate = pytest.importorskip("rlaif.validate.edges", reason="deploy/validate is not installed")

DEPLOY = Path(__file__).parents[3] / "deploy"
ROW = re.compile(r"^\| ([a-z][\w, -]*) \| ([a-z][\w, -]*) \| ([\w, ]+) \|$", re.MULTILINE)


def of_the_page() -> set[tuple[str, str, str]]:
    section = (DEPLOY / "README.md").read_text(encoding="utf-8").partition("## Who calls whom")[2]
    return {
        (source, target, port)
        for sources, targets, ports in ROW.findall(section.partition("\n## ")[0])
        for source in sources.split(", ")
        for target in targets.split(", ")
        for port in ports.split(", ")
    }


def of_the_policies() -> set[tuple[str, str, str]]:
    from rlaif.validate.manifests import read
    from rlaif.validate.rendering import render

    if not (shutil.which("kubectl") or shutil.which("kustomize")):
        pytest.skip("neither kubectl nor kustomize is here")
    found = validate.edges(read(render(DEPLOY / "overlays/dev")))
    assert found.half == frozenset(), "one policy lets it out, and none lets it in, or the reverse"
    return {(each.source, each.target, each.port) for each in found.open}


def test_the_page_tells_every_call_that_the_policies_let_through_and_no_other() -> None:
    assert of_the_page() == of_the_policies()
