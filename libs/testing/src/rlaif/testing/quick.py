"""The marker `quick`: tests that need no server, no torch and no Ray.

The setting `quick` of pytest lists their files as patterns; one that starts with `!` excludes. With
`-m quick` other files are not imported.
"""

from fnmatch import fnmatch
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the setting."""
    parser.addini("quick", "patterns of the files with quick tests", type="linelist")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", "quick: needs no server, no torch and no Ray")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `-m quick`, skip the files without quick tests."""
    if config.option.markexpr != "quick" or collection_path.is_dir():
        return None
    return None if _is_quick(collection_path, config) else True


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the quick tests."""
    if _is_quick(item.path, item.config):
        item.add_marker("quick")


def _is_quick(path: Path, config: pytest.Config) -> bool:
    patterns: list[str] = config.getini("quick")
    excluded = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    file = str(path)
    return any(fnmatch(file, f"*/{pattern}") for pattern in patterns) and not any(
        fnmatch(file, f"*/{pattern}") for pattern in excluded
    )
