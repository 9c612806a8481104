"""Health checks of containers never go through a proxy; for clients in Python ruff checks that."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MANIFESTS = sorted(
    [
        ROOT / "docker-compose.yml",
        *(ROOT / "deploy").rglob("*.yaml"),
        *(ROOT / "deploy").rglob("*.yml"),
    ]
)


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_health_check_of_a_container_asks_for_proxies(path):
    """Container engines and platforms hand their proxies on to every container."""
    for line in path.read_text().splitlines():
        assert "urlopen" not in line
        if re.search(r"(test: |command: ).*\bwget\b", line):
            assert re.search(r"wget(, -Y, 'off'| -Y off)", line), line
