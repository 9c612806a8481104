"""Provenance of a run, for its record: settings, sources, packages and machine."""

import json
import os
import platform
import shlex
import subprocess
from collections.abc import Collection
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import SecretStr, TypeAdapter

from rlaif.contracts.run_origin import RunProvenance
from rlaif.service.settings import PER_SERVICE, describe, flat_values
from rlaif.trainer.settings import TrainerSettings

CREDENTIALS = frozenset(
    {"nats_url", "s3_access_key", "s3_secret_key", "api_token", "planner_api_key"}
)
"""Settings that are omitted from records and from the environment of jobs."""

_PACKAGES = (
    "rlaif-trainer", "torch", "ray", "numpy", "numba", "gymnasium", "pyboy", "safetensors",
)  # fmt: skip
_COMMAND = "rlaif train"
_PLAIN: TypeAdapter[Any] = TypeAdapter(Any)


def provenance_of(settings: TrainerSettings, game: str | None) -> RunProvenance:
    """Return the provenance of a run that starts now with these settings."""
    mine = frozenset(
        each.name for each in describe(TrainerSettings) if each.scope == PER_SERVICE["scope"]
    )
    changed = variables(settings, without=mine, changed=True)
    parts = [f"{name}={shlex.quote(value)}" for name, value in changed.items()]
    return RunProvenance(
        seed=settings.seed,
        game=game,
        settings=variables(settings, without=mine),
        command=" ".join([*parts, _COMMAND]),
        commit=_commit(),
        packages=_packages(),
        host=f"{platform.node()}, {platform.platform(terse=True)}, {os.cpu_count()} cores",
    )


def variables(
    settings: TrainerSettings, *, without: Collection[str] = (), changed: bool = False
) -> dict[str, str]:
    """Variable → its value as text, without credentials; with `changed`, without defaults."""
    values, implied, found = flat_values(settings), settings.implied, {}
    for setting in describe(TrainerSettings):
        name, value = setting.name, values[setting.name]
        if name in CREDENTIALS or name in without:
            continue
        if value is None or (changed and value == implied.get(name, setting.default)):
            continue
        assert not isinstance(value, SecretStr), f"{name} is a credential"
        as_json = isinstance(value, dict | list | tuple)
        plain = _PLAIN.dump_python(value, mode="json")
        found[setting.environment] = json.dumps(plain) if as_json else str(plain)
    return found


@cache
def _commit() -> str | None:
    git = ("git", "-C", str(Path(__file__).parent), "describe", "--always", "--abbrev=40")
    try:
        found = subprocess.run(
            (*git, "--exclude=*", "--dirty"), capture_output=True, text=True, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() or None if found.returncode == 0 else None


@cache
def _packages() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
